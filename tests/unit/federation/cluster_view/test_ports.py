"""A gateway's port for north, over copies that a placement has really made: what is read there, and what is written."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hive_metastore import ttypes
from thrift.Thrift import TApplicationException

from tests.support.hive.thrift_memory_metastore import SpokenMetastore
from tests.support.hive.thrift_server import serving
from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.wire_messages import request
from tests.support.wire.wire_metastore import client_of
from tests.support.worlds.copies_world import COPIES_ROOT, CopiesWorld
from tests.support.worlds.kept_marks import a_mark, put_mark, put_move
from tests.unit.federation.placement.test_copies import CHANGES, a_world
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.thrift_objects import fresh_partition
from twinhive.core.model.tjson import from_text, to_text
from twinhive.federation.cluster_view.cluster_port import ClusterPort, DefaultPort, Port
from twinhive.federation.cluster_view.request_admission import Asks, Entrance, PortCall, Refusal
from twinhive.federation.cluster_view.visibility_rules import Sight
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.routing.freshness import Freshness
from twinhive.federation.routing.move_mark import PrimaryMove
from twinhive.federation.routing.nested_directories import directory_states
from twinhive.hive.adapters.hive.thrift_json import struct_of

ROOTS = {"east": "hdfs://east", "north": "hdfs://north"}
ABSENT = "absent-on-north.run-on-east-or-see-twinhive-copies:"
NORTH = Sight("north", ROOTS, "east", (f"{COPIES_ROOT}/near",))


def the_port(world: CopiesWorld, sight: Sight = NORTH) -> ClusterPort:
    return ClusterPort(world.metastore, sight, lambda: Freshness(world.metastore, world.look))


@contextmanager
def clients(world: CopiesWorld, port: Port, **more: Any) -> Iterator[tuple[Any, SpokenMetastore]]:
    spoken = SpokenMetastore(world.metastore)
    with ExitStack() as stack:
        server = stack.enter_context(serving(spoken))
        gateway = RunningGateway(server.address[1], seen=port, **more)
        stack.callback(gateway.stop)
        yield stack.enter_context(client_of(gateway.port)), spoken


def table_at(client: Any, name: str) -> Any:
    return client.get_table_req(ttypes.GetTableRequest("sales", name)).table


def places(client: Any, table: str = "orders") -> dict[str, str]:
    return {one.values[0]: one.sd.location for one in client.get_partitions("sales", table, -1)}


def a_settled_world() -> CopiesWorld:
    world = a_world()
    world.settle()
    return world


def test_fresh_copies_are_shown_in_the_place_of_their_objects() -> None:
    world = a_settled_world()
    marks = world.fresh()
    with clients(world, the_port(world)) as (client, _):
        plain = table_at(client, "plain")
        assert plain.sd.location == marks["plain"].location
        shown = places(client)
        assert shown["1"] == marks["orders day=1"].location
        assert len(shown) == 3
        assert all(place.startswith(f"{COPIES_ROOT}/near/") for place in shown.values())
        assert table_at(client, "orders").sd.location == f"{ABSENT}//east/warehouse/managed/sales.db/orders"
        assert table_at(client, "recent").sd.location is None


def test_a_table_of_spark_has_its_second_place_there_too() -> None:
    world = a_settled_world()
    table = world.users.table("plain")
    tree = from_text(table.thrift)
    tree["7"]["rec"]["7"]["rec"]["3"] = {"map": ["str", "str", 1, {"path": str(table.location)}]}
    world.metastore._tables[table.name] = replace(table, thrift=to_text(tree))
    with clients(world, the_port(world)) as (client, _):
        sd = table_at(client, "plain").sd
        assert sd.serdeInfo.parameters["path"] == sd.location == world.fresh()["plain"].location
        tree["7"]["rec"]["7"]["rec"]["3"] = {"map": ["str", "str", 1, {"path": "hdfs://east/its/rows"}]}
        world.metastore._tables[table.name] = replace(table, thrift=to_text(tree))
        rows = table_at(client, "plain").sd.serdeInfo.parameters["path"]
        assert rows == f"{ABSENT}//east/its/rows", "Spark reads there, and not at the table's place"
        world.users.set_parameters("plain", {"metadata_location": "hdfs://east/meta/1.json"})
        shown = table_at(client, "plain")
        assert shown.parameters["metadata_location"] == f"{ABSENT}//east/meta/1.json"
        assert shown.sd.location.startswith(ABSENT)


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_changed_is_absent_at_once_and_never_shown_as_its_copy(name: str) -> None:
    world = a_settled_world()
    world.files.make_directories(world.users.location("orders", ("3",)) + "x")
    with clients(world, the_port(world)) as (client, _):
        places(client)  # whatever a port might remember
        CHANGES[name](world.users)
        fresh = world.fresh()
        for table in world.tables():
            if world.users.table(table).location is None:
                continue
            shown = {
                f"{table} {partition_name(('day',), (value,))}": place for value, place in places(client, table).items()
            }
            for what, place in (shown or {table: table_at(client, table).sd.location}).items():
                assert place == fresh[what].location if what in fresh else place.startswith(ABSENT), what


@pytest.mark.parametrize("remote", (False, True))
def test_what_is_not_there_is_absent_or_at_its_primarys_place(remote: bool) -> None:
    world = a_world()
    with clients(world, the_port(world, replace(NORTH, remote=remote))) as (client, _):
        place = table_at(client, "plain").sd.location
        assert place == (
            "hdfs://east/warehouse/managed/sales.db/plain"
            if remote
            else f"{ABSENT}//east/warehouse/managed/sales.db/plain"
        )
        assert client.get_database("sales").locationUri.startswith("hdfs://east" if remote else ABSENT)


def test_a_log_that_cannot_be_read_is_an_error_and_no_place() -> None:
    world = a_settled_world()

    def gone() -> str:
        raise Unreachable("east does not answer")

    with clients(world, the_port(world)) as (client, _):
        world.metastore.log_id = gone  # type: ignore[method-assign]
        with pytest.raises(ttypes.MetaException, match=r"cannot be told: .*east does not"):
            table_at(client, "plain")


def _refused(call: Callable[[], Any], *words: str) -> None:
    with pytest.raises((ttypes.MetaException, TApplicationException)) as raised:
        call()
    for word in words:
        assert word in raised.value.message, raised.value.message


def test_what_belongs_elsewhere_is_only_read() -> None:
    world = a_settled_world()
    with clients(world, the_port(world)) as (client, spoken):
        plain = table_at(client, "plain")
        words = ("sales.plain belongs to cluster east", "USE CLUSTER east")
        _refused(lambda: client.alter_table("sales", "plain", plain), *words)
        _refused(lambda: client.drop_table("sales", "plain", True), *words)
        _refused(lambda: client.create_table(plain), *words)
        _refused(lambda: client.add_partitions(client.get_partitions("sales", "orders", -1)), "belongs to cluster east")
        _refused(lambda: client.drop_database("sales", True, True), "drop the tables first")
        _refused(lambda: client.drop_database("sales", True, False), "sales belongs to cluster east")
        _refused(lambda: client.get_partitions_pspec("sales", "orders", -1), "ask for them one by one")
        _refused(
            lambda: client.get_next_notification(ttypes.NotificationEventRequest(0)), "ask at the gateway's own port"
        )
        assert spoken.asked == []


def test_a_copys_place_never_gets_into_the_metastore() -> None:
    world = a_settled_world()
    mine = world.fresh()["plain"].location
    default = DefaultPort(world.metastore, replace(NORTH, cluster="east"))
    with clients(world, the_port(world)) as (north, _):
        table = table_at(north, "plain")
        table.tableName = "other"
        _refused(lambda: north.create_table(table), "a directory of copies")
        table.sd.location = f"hdfs://north/x/../{mine.partition('north/')[2]}"
        _refused(lambda: north.create_table(table), "a component")
        table.sd.location = "hdfs://east/warehouse/other"
        _refused(lambda: north.create_table(table), "is not on hdfs://north")
        table.sd.location = table_at(north, "orders").sd.location
        _refused(lambda: north.create_table(table), "it stands for what is absent")
        read = table_at(north, "plain")
    with clients(world, default) as (east, spoken):
        _refused(lambda: east.alter_table("sales", "plain", read), "a directory of copies")
        _refused(lambda: east.create_table(table), "it stands for what is absent")
        assert spoken.asked == []
        assert table_at(east, "plain").sd.location == "hdfs://east/warehouse/managed/sales.db/plain"
        table.sd.location = "hdfs://east/warehouse/other"
        east.create_table(table)
        assert spoken.asked == ["create_table"]


def test_new_tables_are_placed_where_their_database_says_and_belong_to_the_cluster() -> None:
    world = a_settled_world()
    with clients(world, the_port(world)) as (client, _):
        table = table_at(client, "plain")
        table.tableName, table.sd.location = "Fresh one", None
        _refused(lambda: client.create_table(table), "no place for tables on north", "twinhive.root.north")
        world.users.alter_database_parameters({"twinhive.root.north": "hdfs://north/sales"})
        assert client.get_database("sales").locationUri == "hdfs://north/sales"
        client.create_table(table)
        found = world.metastore.table(TableName("sales", "fresh one"))
        assert found is not None
        assert found.location == "hdfs://north/sales/fresh-32-one"
        assert found.parameters["twinhive.cluster"] == "north"
        # What was read there is written back as it is, and the cluster's name cannot be lost.
        seen = table_at(client, "fresh one")
        assert seen.sd.location == found.location
        seen.parameters = {"comment": "mine"}
        client.alter_table("sales", "fresh one", seen)
        after = world.metastore.table(TableName("sales", "fresh one"))
        assert after is not None
        assert (after.location, after.parameters["twinhive.cluster"]) == (found.location, "north")
        seen.parameters = {"twinhive.cluster": "east"}
        _refused(lambda: client.alter_table("sales", "fresh one", seen), "would belong to cluster east")
        client.drop_table("sales", "fresh one", False)
        assert world.metastore.table(TableName("sales", "fresh one")) is None


def test_a_database_of_north_keeps_its_own_place_with_the_default_cluster() -> None:
    world = a_world()
    with clients(world, the_port(world)) as (client, _):
        client.create_database(ttypes.Database("near", "", "hdfs://north/near", {}))
        found = world.metastore.database("near")
        assert found is not None
        assert dict(found.parameters) == {"twinhive.cluster": "north", "twinhive.root.north": "hdfs://north/near"}
        assert not found.location or not found.location.startswith("hdfs://north")
        seen = client.get_database("near")
        seen.parameters["more"] = "x"
        client.alter_database("near", seen)
        after = world.metastore.database("near")
        assert after is not None
        assert (after.location, after.parameters["more"]) == (found.location, "x")
        _refused(
            lambda: client.create_database(ttypes.Database("far", "", "hdfs://east/far", {})), "not on hdfs://north"
        )
        _refused(lambda: client.alter_database("sales", client.get_database("sales")), "sales belongs to cluster east")


def test_a_client_that_says_its_cluster_is_told_when_it_is_at_another_ones_port() -> None:
    world = a_settled_world()
    known = {"east": "the gateway's own port 9093", "north": "thrift://gate:9193"}
    sight = replace(NORTH, roots={**ROOTS, "south": "hdfs://south"}, ports=known)
    with clients(world, the_port(world, sight)) as (client, _):
        assert client.getMetaConf("twinhive.cluster") == "north"
        client.setMetaConf("twinhive.cluster", "north")
        for said, refusal in (
            ("east", "connect to the gateway's own port 9093"),
            ("", "connect to the gateway's own port 9093"),
            ("south", "south has none"),
            ("west", "expected one of east, north, south"),
        ):
            _refused(lambda said=said: client.setMetaConf("twinhive.cluster", said), refusal)
        assert client.getMetaConf("twinhive.cluster") == "north"
        assert table_at(client, "plain").sd.location == world.fresh()["plain"].location
    with clients(world, DefaultPort(world.metastore, replace(sight, cluster="east"))) as (client, _):
        assert client.getMetaConf("twinhive.cluster") == "east"
        client.setMetaConf("twinhive.cluster", "east")
        client.get_database("sales")  # small reads go the quick way from then on
        assert [client.getMetaConf("twinhive.cluster") for _ in range(2)] == ["east", "east"]
        client.setMetaConf("twinhive.cluster", "")
        _refused(lambda: client.setMetaConf("twinhive.cluster", "north"), "connect to thrift://gate:9193")


def test_long_answers_are_shown_as_they_come_in() -> None:
    world = a_world()
    world.users.create_table("many", ("n",))
    world.users.add_partitions("many", {(f"{number:04}",): {"f": b"x"} for number in range(60)})
    world.change(copies=replace(world.placement.copies, newest=20))
    world.settle()
    limits = RemoteLimits(connect=0.5, call=0.5, wait=0.2, probe_every=0.3, buffered=1 << 12)
    with clients(world, the_port(world), limits=limits) as (client, _):
        shown = places(client, "many")
    marks = world.fresh()
    assert len(shown) == 60
    for value, place in shown.items():
        mark = marks.get(f"many n={value}")
        assert place == mark.location if mark else place.startswith(ABSENT)
    assert sum(place.startswith(COPIES_ROOT) for place in shown.values()) == 20


@pytest.mark.parametrize("buffered", [1 << 20, 1 << 12], ids=["held", "as it comes in"])
def test_what_hive_asks_to_prune_partitions_is_answered_with_whole_ones(buffered: int) -> None:
    world = a_world()
    world.users.create_table("many", ("n",))
    world.users.add_partitions("many", {(f"{number:04}",): {"f": b"x"} for number in range(60)})
    world.change(copies=replace(world.placement.copies, newest=20))
    world.settle()
    limits = RemoteLimits(connect=0.5, call=0.5, wait=0.2, probe_every=0.3, buffered=buffered)
    with clients(world, the_port(world), limits=limits) as (client, _):
        for table in ("many", "empty"):
            asked = ttypes.PartitionsByExprRequest(dbName="sales", tblName=table, expr=b"")
            found = client.get_partitions_spec_by_expr(asked)
            [of_table] = found.partitionsSpec
            assert found.hasUnknownPartitions
            assert (of_table.dbName, of_table.tableName, of_table.rootPath) == ("sales", table, None)
            assert of_table.partitionList.partitions == client.get_partitions("sales", table, -1)
        asked.expr = b"broken"
        with pytest.raises(ttypes.MetaException, match="no expression"):
            client.get_partitions_spec_by_expr(asked)
        with pytest.raises(ttypes.MetaException, match="ask for them one by one"):
            client.get_partitions_pspec("sales", "many", -1)


def test_a_table_that_was_moved_is_at_home_where_its_copies_were() -> None:
    world = a_settled_world()
    mark = world.fresh()["plain"]
    table = world.users.table("plain")
    parameters = {**table.parameters, "twinhive.cluster": "north"}
    world.metastore._tables[table.name] = table.at(table.name, mark.location).with_parameters(parameters)
    for port in (the_port(world), DefaultPort(world.metastore, replace(NORTH, cluster="east"))):
        with clients(world, port) as (client, spoken):
            seen = table_at(client, "plain")
            assert seen.sd.location == mark.location
            client.alter_table("sales", "plain", seen)
            assert spoken.asked == ["alter_table"]
            seen.sd.location = world.fresh().get("empty", mark).location + "x"
            _refused(lambda client=client, seen=seen: client.alter_table("sales", "plain", seen), "directory of copies")
    with clients(world, the_port(world, replace(NORTH, cluster="east"))) as (east, _):
        place = table_at(east, "plain").sd.location
        assert place.startswith("absent-on-east.run-on-north-or-see-twinhive-copies://north/")


def test_a_partition_that_was_moved_is_altered_where_it_is_and_no_other_is_put_there() -> None:
    world = a_settled_world()
    mark = world.fresh()["orders day=1"]
    world.users.set_parameters("orders", {"twinhive.cluster": "north"})
    one = world.users.partition("orders", ("1",))
    world.metastore.alter_partitions([one.at(one.table, mark.location)])
    entrance = Entrance(world.metastore, NORTH)
    struct = struct_of(ttypes.Partition, fresh_partition(world.users.partition("orders", ("1",))))

    def asked() -> PortCall:
        message = request("alter_partitions", db_name="sales", tbl_name="orders", new_parts=[struct])
        return PortCall(message, Asks.CHANGE, (("sales", "orders"),))

    entrance.admitted(asked())
    struct.values = ["3"]
    with pytest.raises(Refusal, match="a directory of copies"):
        entrance.admitted(asked())


def test_while_a_table_is_moved_nobody_writes_it_and_both_sides_read_what_they_have() -> None:
    world = a_settled_world()
    one, mark = world.users.partition("orders", ("1",)), world.fresh()["orders day=1"]
    old, state = str(one.location), directory_states(world.north, [mark.location])[mark.location]
    world.metastore.alter_partitions([one.at(one.table, mark.location)])
    moved, was = world.users.partition("orders", ("1",)), directory_states(world.files, [old])[old]
    put_mark(world.metastore, moved, "east", a_mark(world.metastore, moved, old, directory=state, copy=was))
    put_mark(
        world.metastore, moved, "north", a_mark(world.metastore, moved, mark.location, directory=state, copy=state)
    )
    put_move(world.metastore, world.users.table("orders"), PrimaryMove("east", "north"))

    for cluster, place in (("east", old), ("north", mark.location)):
        port = ClusterPort(
            world.metastore, replace(NORTH, cluster=cluster), lambda: Freshness(world.metastore, world.look)
        )
        with clients(world, port) as (client, spoken):
            assert places(client)["1"] == place
            table = table_at(client, "orders")
            _refused(lambda client=client, table=table: client.alter_table("sales", "orders", table), "is being moved")
            assert spoken.asked == []
