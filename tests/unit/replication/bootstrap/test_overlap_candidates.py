"""Partitions that overlap are always suspected; who is suspected without reason is not refused."""

import random
import tracemalloc
from contextlib import suppress

import pytest

from tests.support.builders import a_partition, a_table
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.core.model.errors import ActNow
from twinhive.core.model.objects import Partition
from twinhive.replication.bootstrap import list_objects
from twinhive.replication.bootstrap.directory_overlaps import DistinctPlaces
from twinhive.replication.bootstrap.overlap_candidates import OverlapSuspects
from twinhive.runtime.pipeline.runner import run_bootstrap

TABLE = a_table("sales.wide", partition_keys=("p", "q"))
ROOT = TABLE.location
PLACES = [
    *(f"{ROOT}/p=1/q={number}" for number in range(4)),
    *(f"{ROOT}/p=1", f"{ROOT}/p=1/q=2/below", f"{ROOT}/p=1/q=2x", f"{ROOT}/x/y", str(ROOT), "hdfs://east/warehouse"),
    *("hdfs://east/x", "hdfs://east/x/y", "hdfs://east/x y", f"{ROOT}s/p=1/q=2"),
]


def overlap(partitions: list[Partition]) -> bool:
    places = DistinctPlaces()
    with suppress(ActNow):
        places.check_partitions(TABLE, partitions)
        places.check_nesting()
        return False
    return True


def is_suspected(partitions: list[Partition], bits: int = 64) -> bool:
    suspects = OverlapSuspects(lambda path: hash(path) % 2**bits)
    for partition in partitions:
        suspects.look_at(TABLE, [partition])
    return bool(suspects.tables)


@pytest.mark.parametrize("bits", [2, 64])
def test_whatever_overlaps_is_suspected(bits: int) -> None:
    chance = random.Random(7)
    overlapping = 0
    for _ in range(1_500):
        partitions = [
            a_partition(TABLE, "1", str(number), location=chance.choice([*PLACES, None, None, None, None]))
            for number in range(chance.randint(1, 3))
        ]
        if overlap(partitions):
            overlapping += 1
            assert is_suspected(partitions, bits), [one.location for one in partitions]
    assert 200 < overlapping < 1_300


def test_a_table_with_its_partitions_in_places_of_their_own_is_not_suspected() -> None:
    partitions = [a_partition(TABLE, str(number % 9), str(number)) for number in range(900)]
    assert not is_suspected([*partitions, a_partition(TABLE, "x", "y", location="hdfs://east/elsewhere/y")])


def test_a_suspect_that_is_innocent_is_dumped(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    monkeypatch.setattr(list_objects, "OverlapSuspects", lambda: OverlapSuspects(lambda path: 1))
    run_bootstrap(tuned(batch_objects=2), world.ports(), {}, lambda line: None)
    assert_twin(world)


@pytest.mark.parametrize("inside", ["p=a b/inside", "p=a b"])
def test_partitions_of_different_batches_that_overlap_are_refused(inside: str) -> None:
    world: World = a_world()
    table = world.source.tables("sales", ["orders"])[0]
    world.source.add_partitions([a_partition(table, "z", location=f"{table.location}/{inside}")])
    with pytest.raises(ActNow, match="overlap"):
        run_bootstrap(tuned(batch_objects=1), world.ports(), {}, lambda line: None)


@pytest.mark.thorough
def test_places_take_few_bytes_for_each_partition() -> None:
    def peak(partitions: int) -> int:
        tracemalloc.start()
        try:
            OverlapSuspects().look_at(TABLE, (a_partition(TABLE, "1", str(number)) for number in range(partitions)))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert (peak(10_000) - peak(1_000)) / 9_000 < 128
