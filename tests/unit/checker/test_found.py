"""Keep what random histories have found, each as small as it gets."""

import pytest

from tests.support.builders import a_policy
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import Killed, KillSwitch, World, a_world, killable, tuned
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import TryAgain
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import columns_of_partition
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.replication.dump.dump_layout import DumpLayout
from twinhive.replication.dump.dump_store import current_dump
from twinhive.replication.dump.publishing import begin_attempt, finish_publishing, publish_dump
from twinhive.runtime.pipeline.phases import BOOTSTRAP, INCREMENTAL, WINDOW
from twinhive.runtime.pipeline.runner import run_phase, run_rounds

POLICY = a_policy()
HOLDER = {"run": "r"}


def silent(line: str) -> None:
    """Say nothing."""


def listed() -> World:
    """Return a world whose source is listed and copied, and not loaded yet."""
    world = a_world()
    run_phase(BOOTSTRAP, POLICY, world.ports(), HOLDER, silent)
    return world


def rounds(world: World, ports: WritePorts | None = None) -> None:
    run_rounds(POLICY, ports or world.ports(), HOLDER, silent)


def columns_on_replica(world: World, table: str) -> list[list[str]]:
    name = TableName("sales", table)
    partitions = world.replica.partitions(name, world.replica.partition_names(name))
    return [[column for column, _ in columns_of_partition(partition)] for partition in partitions]


def test_partitions_follow_a_cascade_that_another_change_without_it_comes_after() -> None:
    followed = Followed()
    followed.users.add_columns("orders", [("x", "int")], cascade=True)
    followed.users.add_columns("orders", [("y", "int")], cascade=False)
    followed.follow()
    assert columns_on_replica(followed.world, "orders") == [["id", "x"]] * 3


def test_partitions_follow_a_cascade_when_the_next_change_is_in_a_later_window() -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.add_columns("orders", [("x", "int")], cascade=True)
    followed.users.add_columns("orders", [("y", "int")], cascade=False)
    followed.follow()
    followed.follow()
    assert columns_on_replica(followed.world, "orders") == [["id", "x"]] * 3


def test_partitions_follow_a_cascade_on_a_table_that_is_renamed_then() -> None:
    followed = Followed()
    followed.users.add_columns("orders", [("x", "int")], cascade=True)
    followed.users.rename_table("orders", "sold")
    followed.follow()
    assert columns_on_replica(followed.world, "sold") == [["id", "x"]] * 3


def test_a_partition_with_columns_of_its_own_does_not_keep_the_others_from_following() -> None:
    followed = Followed()
    followed.users.add_columns("orders", [("x", "int")], cascade=True)
    followed.users.add_partitions("orders", {("odd",): []})
    followed.follow()
    columns = columns_on_replica(followed.world, "orders")
    assert sorted(columns) == [["id"], ["id", "x"], ["id", "x"], ["id", "x"]]


def test_a_file_that_moves_between_planning_and_copying_is_followed() -> None:
    followed = Followed(tuned(spark_above_files=0))
    followed.users.create_table("made", files=[b"rows"])
    cut = WINDOW(Work(followed.policy, holder=HOLDER)).run(followed.world.ports())
    followed.users.rename_table("made", "between")
    followed.users.rename_table("between", "made2")
    (batch,) = cut.batches
    copied = CopyBatch(Work(followed.policy, batch.name, cut.dump, HOLDER)).run(followed.world.ports())
    assert copied.copied_files == 1
    followed.follow()
    followed.follow()
    followed.assert_twin()


def test_an_attempt_that_another_run_has_removed_is_not_published() -> None:
    world = listed()
    dump = current_dump(world.source_files, POLICY)
    attempt = begin_attempt(world.source_files, POLICY, "1" * 32)
    world.source_files.delete(attempt.directory)
    with pytest.raises(TryAgain, match="not published"):
        publish_dump(world.source_files, attempt, dump.layout, dump.manifest)
    assert current_dump(world.source_files, POLICY) == dump


def test_a_dump_whose_writer_died_before_it_had_its_name_gets_it() -> None:
    world = listed()
    dump = current_dump(world.source_files, POLICY)
    attempt = DumpLayout.attempt(POLICY.dumps, "1" * 32)
    world.source_files.rename(dump.layout.directory, attempt.directory)
    finish_publishing(world.source_files, POLICY)
    assert current_dump(world.source_files, POLICY) == dump


def load_killed_at(at: int) -> World | None:
    """Kill rounds at one of the metastore's changes; None when they came to their end before."""
    world = listed()
    SourceWriter(world.source, world.source_files, "sales").create_function("f", [])
    killed = killable(world.ports(), KillSwitch(at, after_effect=True))
    ports = WritePorts(**{**vars(world.ports()), "replica": killed.replica})
    try:
        rounds(world, ports)
    except Killed:
        return world
    return None


def test_rounds_after_a_killed_load_copy_what_that_load_has_moved_away() -> None:
    at = 0
    while world := load_killed_at(at := at + 1):
        rounds(world)
        assert_twin(world)
    assert at > 8


def test_functions_of_a_killed_load_do_not_outlive_their_source() -> None:
    at = 0
    while world := load_killed_at(at := at + 1):
        if world.replica.database("sales").parameters["twinhive.phase"] == "following":
            break
        SourceWriter(world.source, world.source_files, "sales").drop_function("f")
        rounds(world)
        assert world.replica.functions("sales") == []
    assert at > 8


@pytest.mark.thorough
def test_database_parameters_do_not_go_back_in_a_replay() -> None:
    for at in range(1, 40):
        followed = Followed()
        for value in "123":
            followed.users.alter_database_parameters({"k": value})
            followed.users.insert("plain", None, [value.encode()])
        ports = killable(followed.world.ports(), KillSwitch(at, after_effect=True))
        seen: list[str] = []
        try:
            run_phase(INCREMENTAL, followed.policy, ports, HOLDER, silent)
        except Killed:
            watch(followed, seen)
            followed.follow()
        assert seen == sorted(seen)
        followed.follow()
        followed.assert_twin()


def watch(followed: Followed, seen: list[str]) -> None:
    """Note the parameter `k` of the replica's database whenever parameters are written."""
    metastore = followed.world.replica
    write = metastore.set_database_parameters

    def noted(name: str, parameters) -> None:
        seen.append(metastore.database("sales").parameters.get("k", ""))
        write(name, parameters)
        seen.append(parameters.get("k", ""))

    metastore.set_database_parameters = noted
