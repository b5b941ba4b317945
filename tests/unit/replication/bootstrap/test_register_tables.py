"""What is registered is read back: nothing of somebody else's is taken for ours, and nothing that is lost for there."""

from collections.abc import Sequence

import pytest

from tests.support.builders import a_partition, a_policy, a_table
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.errors import ActNow, Foreign
from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.objects import Database, Partition
from twinhive.replication.bootstrap.register_tables import register_partitions, register_table
from twinhive.replication.replica.replica_locations import TablePlacement

SOURCE = a_table("sales.made", partition_keys=("p",))
PLACEMENT = TablePlacement.plan(
    SOURCE, a_policy(), "hdfs://west/w/sales.db", "hdfs://west/s/tables", STAMPED := Stamp("l", 1)
)


@pytest.fixture
def world() -> World:
    world = a_world()
    world.replica.create_database(Database("sales", None, "hdfs://west/w/sales.db", {}, thrift="{}"))
    return world


def test_a_table_of_another_stamp_is_somebody_elses(world: World) -> None:
    made = PLACEMENT.replica
    theirs = made.with_parameters({**made.parameters, STAMP: str(Stamp("l", 2))})
    world.replica.create_table(theirs)
    with pytest.raises(Foreign, match="is not of this dump"):
        register_table(world.replica, made)
    assert world.replica.table(made.name).parameters[STAMP] == theirs.parameters[STAMP]


def test_a_partition_that_is_not_there_after_it_was_added_stops_the_load(world: World) -> None:
    register_table(world.replica, PLACEMENT.replica)
    add = world.replica.add_partitions

    def losing(partitions: Sequence[Partition]) -> None:
        add(partitions[1:])

    world.replica.add_partitions = losing  # type: ignore[method-assign]
    some = [a_partition(SOURCE, "1"), a_partition(SOURCE, "2")]
    with pytest.raises(ActNow, match=r"partition p=1 of sales\.made is not where it was put") as raised:
        register_partitions(world.replica, PLACEMENT, some, STAMPED, is_new=True)
    assert raised.value.found == "no such partition"
