"""An old primary whose locations were written before it had a nameservice becomes a replica as any other."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.hdfs.files_by_another_name import FilesByAnotherName
from tests.support.worlds.fake_world import World, a_world
from tests.support.worlds.old_names import NAMENODE, ONE, call_by_namenode
from tests.unit.operations.failover.test_failback import BACK, HOLDER, Switched, kept
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.core.ports import WritePorts
from twinhive.hive.events.one_file_system import OneNamedMetastore
from twinhive.operations.failover.failback import Failback

ORDERS, PLAIN = TableName("sales", "orders"), TableName("sales", "plain")


class OldWorld(World):
    """A source whose metastore, and whose users, call its HDFS by the address of a NameNode."""

    def ports(self) -> WritePorts:
        return replace(super().ports(), source=OneNamedMetastore(self.source, ONE, "sales"))


def an_old_world() -> World:
    world = OldWorld()
    world.__dict__ |= a_world().__dict__
    call_by_namenode(world.source, world.source_files)
    return world


class OldSwitched(Switched):
    """`knows`: the reverse policy knows that both names are one."""

    knows = True

    def __init__(self, *, loses: bool = False) -> None:
        followed = Followed(world=an_old_world())
        followed.users.files = FilesByAnotherName(followed.world.source_files, NAMENODE)
        super().__init__(followed=followed, loses=loses)

    def ports(self) -> WritePorts:
        ports = super().ports()
        if not self.knows:
            return ports
        return replace(ports, replica=OneNamedMetastore(self.world.source, ONE, "sales"))


def locations(switched: OldSwitched, table: TableName) -> set[str]:
    east = switched.world.source
    return {east.table(table).location, *(one.location for one in east.partitions(table, east.partition_names(table)))}


def by_namenode(switched: OldSwitched, table: TableName) -> bool:
    return all(place.startswith(f"{NAMENODE}/") for place in locations(switched, table))


def test_the_old_primary_calls_itself_otherwise() -> None:
    switched = OldSwitched()
    assert by_namenode(switched, ORDERS) and by_namenode(switched, PLAIN)
    switched.west.insert("plain", None, [b"west's rows"])
    switched.knows = False
    with pytest.raises((TwinhiveError, AssertionError)):
        switched.fail_back()


def every_change(switched: OldSwitched) -> None:
    west = switched.west
    west.insert("plain", None, [b"west's rows"])
    west.overwrite("orders", ("a b",), {"f": b"others"})
    west.add_partitions("orders", {("later",): [b"l"]})
    west.drop_partitions("orders", [("no files",)])
    west.create_table("new", files=[b"n"])
    west.drop_table("empty")


def renamed(switched: OldSwitched) -> None:
    switched.west.rename_table("orders", "sold")
    switched.west.insert("sold", ("a b",), [b"after"])


def renamed_within_a_table(switched: OldSwitched) -> None:
    switched.west.rename_partition("orders", ("a b",), ("c d",))


def nothing(switched: OldSwitched) -> None:
    """West's users have only read."""


@pytest.mark.parametrize("loses", [False, True])
@pytest.mark.parametrize("change", [every_change, renamed, renamed_within_a_table, nothing])
def test_it_becomes_an_equal_replica(change: Callable[[OldSwitched], None], loses: bool) -> None:
    switched = OldSwitched(loses=loses)
    change(switched)
    switched.fail_back()  # which proves both sides equal
    switched.west.insert("plain", None, [b"later"])
    switched.go_on(BACK, switched.ports)


def test_stamps_leave_what_people_wrote_as_it_is() -> None:
    switched = OldSwitched()
    before = {table: locations(switched, table) for table in (ORDERS, PLAIN)}
    Failback(BACK, HOLDER).run(switched.ports())
    assert switched.world.source.table(ORDERS).parameters[STAMP].startswith("log-west")
    assert {table: locations(switched, table) for table in (ORDERS, PLAIN)} == before
    assert by_namenode(switched, ORDERS)


def test_what_only_it_has_is_kept() -> None:
    switched = OldSwitched()
    switched.east.add_partitions("orders", {("mine",): [b"m"]})
    switched.east.create_table("made", files=[b"one"])
    told = "\n".join(Failback(BACK, HOLDER).plan(switched.ports()))
    assert "only east/sales has: orders" in told and "only east/sales has: made" in told
    switched.fail_back()
    assert kept(switched) == {("orders", "p=mine"): [b"m"], ("made", ""): [b"one"]}
