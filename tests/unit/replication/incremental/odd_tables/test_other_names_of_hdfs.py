"""Tables whose locations call the source's file system by a NameNode's address are replicated as any others."""

from dataclasses import replace

import pytest

from tests.support.builders import a_policy
from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import REPLICA_ADDRESS, World, a_world
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.incremental.test_incremental import HISTORIES, Followed
from tests.unit.replication.scan.test_scan import put, same, scan
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import ActNow
from twinhive.core.model.file_system_names import OneFileSystem
from twinhive.core.model.names import TableName
from twinhive.core.ports import MetastoreReader, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.hive.events.one_file_system import OneNamedMetastore
from twinhive.operations.actions.resync import Resync
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.runtime.pipeline.runner import run_bootstrap

NAMENODE = "hdfs://nn1.east:8020"
AS_WRITTEN = OneFileSystem(NAMENODE, ("hdfs://east",))
ONE = OneFileSystem("hdfs://east", ("hdfs://nn1.east", NAMENODE))
ORDERS = TableName("sales", "orders")


class OldWorld(World):
    """A source all of whose locations were written before it had a nameservice."""

    knows_names = True

    def ports(self) -> WritePorts:
        ports = super().ports()
        written = OneNamedMetastore(self.source, AS_WRITTEN, "sales")
        return replace(ports, source=OneNamedMetastore(written, ONE, "sales") if self.knows_names else written)


def an_old_world(*, knows_names: bool = True) -> World:
    world = OldWorld()
    world.__dict__ |= {**a_world().__dict__, "knows_names": knows_names}
    return world


def test_the_metastore_says_the_other_name_everywhere() -> None:
    world = an_old_world(knows_names=False)
    source = world.ports().source
    table = source.table(ORDERS)
    assert table.location.startswith(f"{NAMENODE}/") and "hdfs://east" not in table.thrift
    assert all(place.startswith(f"{NAMENODE}/") for _, place in source.partition_locations(table))
    assert all("hdfs://east" not in row.message for row in source.events_after(0, 100) if row.table == "orders")
    with pytest.raises(ActNow, match=r"sales\.plain lies on another file system(.|\n)*file_system\.also"):
        Followed(world=world)


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_what_happens_is_followed(history) -> None:
    followed = Followed(world=an_old_world())
    history(followed.users)
    followed.follow()
    followed.assert_twin()
    there = followed.world.replica.tables("sales", followed.world.replica.table_names("sales"))
    assert all(NAMENODE not in table.thrift for table in there)


def test_an_event_is_known_again_by_what_the_log_has() -> None:
    world = an_old_world()
    known, raw = world.ports().source, OneNamedMetastore(world.source, AS_WRITTEN, "sales")
    positions = [row.position for row in known.events_after(0, 100)]
    assert positions == [row.position for row in raw.events_after(0, 100)]
    assert positions == [row.position for row in world.source.events_after(0, 100)]


def test_scan_verify_and_resync_know_the_name_too() -> None:
    followed = Followed(world=an_old_world())
    put(followed, "plain", "silent", b"no event tells of it")
    put(followed, "orders", "silent", b"nor of this", ("a b",))
    assert not Verifying(followed).verify(deep=True).is_equal
    scan(followed)
    assert same(followed)
    assert Verifying(followed).verify(deep=True).is_equal
    Resync(followed.policy, "orders", {"by": "test"}).run(followed.world.ports())
    followed.follow()
    assert same(followed)


def test_external_tables_are_copied_below_the_base() -> None:
    followed = FollowedExternals.from_the_beginning(world=an_old_world())
    followed.users.create_external("made", ("p",), "hdfs://east/data/made")
    followed.users.add_external("made", ("1",))
    followed.settle()
    followed.assert_twin()
    assert followed.on_replica("made").location == "hdfs://west/ext/data/made"


def test_a_replicas_warehouse_may_be_called_by_its_namenode() -> None:
    west = OneFileSystem("hdfs://west", ("hdfs://nn1.west:8020",))
    world = a_world()
    warehouse = {"metastore.warehouse.dir": "hdfs://nn1.west:8020/warehouse/managed"}
    world.replica.configurations[REPLICA_ADDRESS] |= warehouse
    unknown = Preflight(Work(a_policy())).problems(world.ports())
    assert any("another file system" in str(problem) for problem in unknown)
    known = replace(world.ports(), replica=OneNamedMetastore(world.replica, west, "sales"))
    assert Preflight(Work(a_policy())).problems(known) == []
    run_bootstrap(a_policy(), known, {"run": "b"}, lambda line: None)
    assert_twin(world)


def test_whatever_a_reader_tells_of_places_has_the_one_name() -> None:
    """A new call of readers that returns places has to be named here too: `__getattr__` would pass it on as it is."""
    tells = {"Database", "Table", "Partition", "Function", "EventRow", "tuple[str, str]"}
    calls = {
        name: str(call.__annotations__.get("return")) for name, call in vars(MetastoreReader).items() if callable(call)
    }
    placed = {name for name, said in calls.items() if any(f"{one}" in said for one in tells) and name[0] != "_"}
    assert "tables" in placed and "partition_locations" in placed
    assert placed - set(vars(OneNamedMetastore)) == set()
