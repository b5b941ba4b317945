"""A load registers a wide table in pieces, and reads no more of the dump than its threads work on."""

import threading
import time
from collections.abc import Sequence

import pytest

from tests.support.builders import a_table
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.step.step_base import Work
from twinhive.runtime.pipeline.phases import LOAD
from twinhive.runtime.pipeline.runner import run_bootstrap

PARTITIONS = 80
PER_CALL = 3
THREADS = 4
POLICY = tuned(batch_objects=4, partitions_per_call=PER_CALL)


def wide_world() -> World:
    world = a_world()
    world.add_table(
        a_table("sales.wide", partition_keys=("p",)), *(((f"{day:03d}",), {"f": b"1"}) for day in range(PARTITIONS))
    )
    return world


def bootstrap(world: World) -> None:
    run_bootstrap(POLICY, world.ports(), {}, lambda line: None)


def test_no_more_batches_are_read_than_threads_work_on(monkeypatch: pytest.MonkeyPatch) -> None:
    world = wide_world()
    add, create = world.replica.add_partitions, world.replica.create_table
    one_at_a_time, reads, sizes = threading.Lock(), {}, []

    def create_wide(table: Table) -> None:
        reads[f"when {table.name.table} is made"] = world.source_files.calls["read"]
        create(table)

    def add_late(partitions: Sequence[Partition]) -> None:
        with one_at_a_time:
            if partitions[0].table.table == "wide" and not sizes:
                time.sleep(0.3)  # time enough to read on
                reads["when partitions are added"] = world.source_files.calls["read"]
            sizes.append(len(partitions))
        add(partitions)

    monkeypatch.setattr(world.replica, "create_table", create_wide)
    monkeypatch.setattr(world.replica, "add_partitions", add_late)
    bootstrap(world)
    assert reads["when partitions are added"] - reads["when wide is made"] <= THREADS
    assert max(sizes) == PER_CALL
    assert_twin(world)


def test_a_load_that_was_cut_off_asks_only_for_the_partitions_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    world = wide_world()
    monkeypatch.setattr(world.replica, "add_partitions", _cut_off(world, after=10))
    with pytest.raises(KeyboardInterrupt):
        bootstrap(world)
    monkeypatch.undo()
    there = len(world.replica.partition_names(TableName("sales", "wide")))
    assert 0 < there < PARTITIONS
    asked: list[int] = []
    partitions = world.replica.partitions

    def count(table: TableName, names: Sequence[str]) -> list[Partition]:
        asked.append(len(names))
        return partitions(table, names)

    monkeypatch.setattr(world.replica, "partitions", count)
    monkeypatch.setattr(world.replica, "partition_names", None)
    LOAD(Work(POLICY, holder={"run": "again"})).run(world.ports())
    monkeypatch.undo()
    assert sum(asked) > PARTITIONS
    assert max(asked) <= PER_CALL
    assert_twin(world)


def _cut_off(world: World, after: int):
    add, calls = world.replica.add_partitions, []

    def cut_off(partitions: Sequence[Partition]) -> None:
        calls.append(partitions)
        if len(calls) > after:
            raise KeyboardInterrupt
        add(partitions)

    return cut_off
