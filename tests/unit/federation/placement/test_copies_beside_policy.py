"""A policy of a database whose tables have copies on other clusters: a replica has no copies, and no file moves."""

from dataclasses import replace

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.worlds.copies_world import a_placement
from tests.unit.federation.placement.test_move_primary import of_table
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.names import TableName
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.federation.placement.move_primary import MovePrimary
from twinhive.runtime.pipeline.phases import COPIES
from twinhive.runtime.pipeline.runner import run_phase


def settled(followed: Followed) -> None:
    while not followed.follow()["window"].idle:
        pass


@pytest.mark.parametrize("table", ["plain", "orders"])
def test_a_table_that_was_moved_waits_and_the_policy_goes_on_also_without_it(table: str) -> None:
    followed = Followed()
    settled(followed)
    world, north = followed.world, InMemoryFiles("hdfs://north")
    ports = replace(world.ports(), replica=world.source, replica_files=north, dump_files=north)
    replica = world.replica.tables("sales", [table])[0]
    MovePrimary(of_table(table), TableName("sales", table), {"run": "m"}).run(ports)
    other = "orders" if table == "plain" else "plain"
    settled(followed)
    [why] = frozen_tables(world.replica.database("sales").parameters).values()
    assert "where its files cannot be listed" in str(why)
    assert f"exclude {table} in the policy file" in str(why)
    assert world.replica.tables("sales", [table])[0] == replica, "the replica is as it was before the move"
    followed.policy = replace(followed.policy, exclude=(table,))
    followed.users.set_parameters(other, {"later": "yes"})
    settled(followed)
    assert world.replica.tables("sales", [other])[0].parameters["later"] == "yes"


def test_marks_of_copies_move_no_file_and_do_not_reach_the_replica() -> None:
    followed = Followed()
    settled(followed)
    world, north = followed.world, InMemoryFiles("hdfs://north")
    ports = replace(world.ports(), replica=world.source, replica_files=north, dump_files=north)
    assert run_phase(COPIES, a_placement(), ports, {"run": "c"}, lambda line: None)["publish"].published
    opened, places = world.source_files.calls["open"], world.replica_files.paths()
    settled(followed)
    followed.assert_twin()
    assert (
        world.source_files.calls["open"],
        [path for path in world.replica_files.paths() if "/managed/" in path],
    ) == (
        opened,
        [path for path in places if "/managed/" in path],
    )
    assert COPY_MARKS.name in world.source.table_names("sales")
    assert COPY_MARKS.name not in world.replica.table_names("sales")
