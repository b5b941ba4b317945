"""Clients of a gateway see the local metastore, and remotes under local names; what a remote does harms no other."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hive_metastore import ttypes
from thrift.Thrift import TApplicationException
from thrift.transport.TTransport import TTransportException

from tests.support.servers.breaking_server import BreakingServer
from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.scripted_metastore import whole_message
from tests.support.wire.wire_messages import request
from tests.support.wire.wire_metastore import Contents, WireMetastore, client_of
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway import remote_calls
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.hive.wire.renamed_chunks import renamed_pieces
from twinhive.hive.wire.thrift_message import WireError

LIMITS = RemoteLimits(connect=0.5, call=0.5, wait=0.2, probe_every=0.3)


class World:
    """A local metastore, one elsewhere, and the gateway."""

    def __init__(self, buffered: int = 1 << 20, limits: RemoteLimits = LIMITS, age: float = 60.0) -> None:
        self.here, self.there = Contents("here"), Contents("there")
        self.here.add("shop", "orders")
        self.here.add("shop", "remote_orders")
        self.here.partitions["shop", "remote_orders"] = []
        self.here.databases.append("far")
        self.there.add("sales", "orders", comment="sales", partitions=("day=1", "day=2"))
        self.there.add("other", "hidden")
        self.local, self.remote = WireMetastore(self.here), WireMetastore(self.there)
        self.gateway = RunningGateway(self.local.port, limits=replace(limits, buffered=buffered), definitions_age=age)
        self.define(self.remote.port)

    def define(self, port: int, **more: str) -> None:
        """Say where both remotes are."""
        to = {"port": str(port), **more}
        table = RemoteTable(TableName("shop", "remote_orders"), TableName("sales", "orders"), properties=to)
        self.gateway.definitions = Definitions(
            {table.local: table}, {"far": RemoteDatabase("far", "sales", properties=to)}
        )

    def close(self) -> None:
        """End everything."""
        self.here.gate.set()
        self.there.gate.set()
        self.gateway.stop()
        self.local.close()
        self.remote.close()


@pytest.fixture(
    params=[(1 << 20, 60.0), (1 << 20, 0.0), (200, 0.0)],
    ids=["small reads are quick", "answers are held", "answers are handed on in pieces"],
)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    buffered, age = request.param
    made = World(buffered, age=age)
    yield made
    made.close()


@pytest.fixture
def client(world: World) -> Iterator[Any]:
    with client_of(world.gateway.port) as made:
        yield made


def _table(client: Any, database: str, table: str) -> Any:
    return client.get_table_req(ttypes.GetTableRequest(dbName=database, tblName=table)).table


def test_a_local_table_is_the_local_metastores(client: Any) -> None:
    assert _table(client, "shop", "orders").owner == "here"
    assert client.get_all_databases() == ["default", "shop", "far"]


@pytest.mark.parametrize("name", [("far", "orders"), ("@hive#FAR", "Orders"), ("shop", "remote_orders")])
def test_a_remote_is_answered_by_its_owner_under_its_local_name(client: Any, name: tuple[str, str]) -> None:
    found = _table(client, *name)
    assert found.owner == "there"
    assert (f"@hive#{found.dbName}".upper(), found.tableName) != ("", "")
    local = ("far", "orders") if "far" in name[0].lower() else ("shop", "remote_orders")
    assert (found.dbName, found.tableName) == local
    assert found.sd.location == "hdfs://there/sales/orders"
    assert found.parameters["comment"] == "sales", "a value that equals the name stays"
    assert found.parameters["twinhive_remote"] in ("sales", "sales.orders")


def test_partitions_of_a_remote_are_its_owners(client: Any, world: World) -> None:
    assert client.get_partition_names("shop", "remote_orders", -1) == ["day=1", "day=2"]
    assert client.get_partition_names("far", "orders", -1) == ["day=1", "day=2"]
    assert client.get_all_tables("far") == ["orders"]
    assert world.here.asked["get_partition_names"] == 0


def test_a_missing_table_of_a_remote_is_missing_in_the_remotes_words_and_they_are_said_to_be_so(
    client: Any, world: World
) -> None:
    there = f"127.0.0.1:{world.remote.port}"
    told = f"remote far is sales at {there}, which says under its own names: sales.nothing table not found"
    for _ in "ab":
        with pytest.raises(ttypes.NoSuchObjectException) as error:
            _table(client, "far", "nothing")
        assert error.value.message == told
    del world.there.tables["sales", "orders"]
    with pytest.raises(ttypes.NoSuchObjectException) as error:
        _table(client, "shop", "remote_orders")
    assert error.value.message.startswith(f"remote shop.remote_orders is sales.orders at {there}, ")
    with pytest.raises(TApplicationException, match=r"remote far is sales at .*own names: Internal error"):
        client.get_partitions("far", "orders", -1)


def test_an_error_of_a_remote_that_is_called_alike_is_handed_on_as_it_came(world: World) -> None:
    to = {"port": str(world.remote.port)}
    world.gateway.definitions = Definitions({}, {"sales": RemoteDatabase("sales", "sales", properties=to)})
    with client_of(world.gateway.port) as client, pytest.raises(ttypes.NoSuchObjectException) as error:
        _table(client, "sales", "nothing")
    assert error.value.message == "sales.nothing table not found"


@pytest.mark.parametrize("name", ["far.orders", "shop.remote_orders"])
def test_a_remote_is_read_only_and_nothing_is_sent(client: Any, world: World, name: str) -> None:
    database, table = name.split(".")
    with pytest.raises(ttypes.MetaException, match=f"remote {name} is read only.*nothing was sent"):
        client.alter_table(database, table, _table(client, database, table))
    with pytest.raises(ttypes.MetaException, match="read only"):
        client.create_table(ttypes.Table(dbName="far", tableName="new"))
    for contents in (world.here, world.there):
        assert contents.asked.keys().isdisjoint({"alter_table", "create_table"})


def test_a_remote_tables_definition_may_be_dropped_and_a_table_in_a_remote_database_not(
    client: Any, world: World
) -> None:
    client.drop_table("shop", "remote_orders", False)
    assert ("shop", "remote_orders") not in world.here.tables
    with pytest.raises(ttypes.MetaException, match="read only"):
        client.drop_table("far", "orders", True)
    assert ("sales", "orders") in world.there.tables


def test_a_request_that_names_several_owners_is_refused(client: Any) -> None:
    request = ttypes.ForeignKeysRequest("shop", "orders", "far", "orders")
    with pytest.raises(ttypes.MetaException, match="several metastores"):
        client.get_foreign_keys(request)


def test_lists_over_several_owners_are_one(client: Any) -> None:
    rows = [(row.dbName, row.tableName) for row in client.get_table_meta("*", "*", [])]
    assert rows == [("shop", "orders"), ("shop", "remote_orders"), ("far", "orders")]
    assert [row.dbName for row in client.get_table_meta("fa*|nothing", "*", [])] == ["far"]
    request = ttypes.GetTablesRequest(dbName="shop", tblNames=["orders", "remote_orders", "nothing"])
    found = client.get_table_objects_by_name_req(request).tables
    assert {(one.tableName, one.owner) for one in found} == {("orders", "here"), ("remote_orders", "there")}


def test_write_ids_come_from_the_owner_without_the_transactions_of_here(client: Any, world: World) -> None:
    names = ["shop.orders", "far.orders", "shop.remote_orders"]
    found = client.get_valid_write_ids(ttypes.GetValidWriteIdsRequest(names, "9:9::")).tblValidWriteIds
    assert {one.fullTableName for one in found} == set(names)
    assert world.here.last.validTxnList == "9:9::"
    assert (world.there.last.fullTableNames, world.there.last.validTxnList) == (["sales.orders"], None)


def test_the_client_is_introduced_to_each_remote_with_what_it_said_last(world: World, client: Any) -> None:
    client.set_ugi("ann", ["staff"])
    client.setMetaConf("hive.a", "1")
    client.get_all_tables("far")
    assert (world.there.users, world.there.last) == (["ann"], ("hive.a", "1"))
    client.set_ugi("bob", [])
    client.get_all_tables("far")
    assert world.there.users[-1] == "bob"
    world.define(world.remote.port, user="reader")
    with client_of(world.gateway.port) as another:
        another.set_ugi("eve", [])
        another.get_all_tables("far")
    assert "eve" in world.here.users
    assert world.there.users[-1] == "reader" and "eve" not in world.there.users


def test_a_connection_that_the_remote_has_closed_is_opened_again(client: Any, world: World) -> None:
    assert client.get_all_tables("far") == ["orders"]
    world.remote.hang_up()
    assert client.get_all_tables("far") == ["orders"]
    world.local.hang_up()
    assert client.get_all_tables("shop") == ["orders", "remote_orders"]


def test_a_write_without_an_answer_is_not_sent_twice(client: Any, world: World) -> None:
    client.get_all_databases()
    world.here.gate.clear()

    def cut() -> None:
        while not world.here.asked["create_table"]:
            time.sleep(0.01)
        world.local.hang_up()

    cutting = threading.Thread(target=cut)
    cutting.start()
    with pytest.raises(ttypes.MetaException, match="may or may not have happened"):
        client.create_table(ttypes.Table(dbName="shop", tableName="new"))
    cutting.join()
    assert world.here.asked["create_table"] == 1


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_a_dead_remote_is_not_there_for_now_and_comes_back_by_itself(world: World, client: Any) -> None:
    port = _free_port()
    world.define(port)
    for _ in range(3):
        with pytest.raises(ttypes.MetaException, match="does not answer"):
            client.get_all_tables("far")
    with pytest.raises(ttypes.MetaException, match=r"not there for now since .* UTC.*nothing was sent"):
        client.get_all_tables("far")
    assert client.get_all_tables("shop") == ["orders", "remote_orders"]
    back = WireMetastore(world.there, port)
    try:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                assert client.get_all_tables("far") == ["orders"]
                break
            except ttypes.MetaException:
                time.sleep(0.05)
        else:
            raise AssertionError("never asked again")
    finally:
        back.close()


def test_a_silent_remote_delays_nobody_else(world: World) -> None:
    world.there.gate.clear()
    with client_of(world.gateway.port) as slow, client_of(world.gateway.port) as other:
        failed: list[str] = []

        def wait() -> None:
            try:
                slow.get_all_tables("far")
            except ttypes.MetaException as error:
                failed.append(error.message)

        waiting = threading.Thread(target=wait)
        waiting.start()
        assert [other.get_all_tables("shop") for _ in range(20)] == [["orders", "remote_orders"]] * 20
        waiting.join(20)
        assert "within 0.5 s" in failed[0]
        assert [(row.dbName) for row in other.get_table_meta("*", "*", [])] == ["shop", "shop"]


def test_an_answer_that_breaks_off_in_the_middle_is_asked_again_elsewhere_or_an_error(world: World) -> None:
    cutting = BreakingServer(lambda data: [b"\x80\x01\x00\x02\x00\x00", None])
    world.define(cutting.port)
    with client_of(world.gateway.port) as client, pytest.raises(ttypes.MetaException, match="does not answer"):
        client.get_all_tables("far")
    cutting.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x00\x00\x10\x80\x01\x00\x01",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02",
        b"\x01\x00\x00\x00",
        b"\xff" * 64,
    ],
)
def test_another_protocol_is_hung_up_on_and_counted(world: World, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", world.gateway.port), timeout=10) as raw:
        raw.sendall(sent)
        assert raw.recv(100) == b""
    assert world.gateway.counts.foreign == 1
    with client_of(world.gateway.port) as client:
        assert client.get_all_databases()


def test_gateways_in_a_circle_are_an_error(world: World) -> None:
    world.define(world.gateway.port)
    with client_of(world.gateway.port) as client, pytest.raises(ttypes.MetaException, match="circle of gateways"):
        client.get_all_tables("far")


def test_a_gateway_may_ask_another_one(world: World) -> None:
    front_contents = Contents("front")
    front_metastore = WireMetastore(front_contents)
    front = RunningGateway(front_metastore.port, gateway_id="front")
    to = {"port": str(world.gateway.port)}
    front.definitions = Definitions({}, {"front_far": RemoteDatabase("front_far", "far", properties=to)})
    try:
        with client_of(front.port) as client:
            found = _table(client, "front_far", "orders")
            assert (found.dbName, found.owner) == ("front_far", "there")
    finally:
        front.stop()
        front_metastore.close()


def test_a_definition_that_somebody_else_has_just_made_is_seen_in_its_table(world: World) -> None:
    slow = RunningGateway(world.local.port, definitions_age=60.0)
    try:
        with client_of(slow.port) as client:
            assert _table(client, "shop", "orders").owner == "here"
            world.here.tables["shop", "remote_orders"].parameters["twinhive_remote"] = "sales.orders"
            slow.definitions = world.gateway.definitions
            assert _table(client, "shop", "remote_orders").owner == "there"
            assert client.get_partition_names("shop", "remote_orders", -1) == ["day=1", "day=2"]
    finally:
        slow.stop()


def test_a_stop_lets_a_call_under_way_end_and_hangs_up_on_idle_clients(world: World) -> None:
    with client_of(world.gateway.port) as idle, client_of(world.gateway.port) as busy:
        idle.get_all_databases()
        busy.get_all_databases()
        world.here.gate.clear()
        answers: list[Any] = []
        asking = threading.Thread(target=lambda: answers.append(busy.get_all_tables("shop")))
        asking.start()
        while not world.here.asked["get_all_tables"]:
            time.sleep(0.01)
        threading.Timer(0.2, world.here.gate.set).start()
        world.gateway.stop()
        asking.join(10)
        assert answers == [["orders", "remote_orders"]]


def test_a_long_answer_is_handed_on_whole_and_the_next_call_is_answered(world: World, client: Any) -> None:
    days = [f"day={day:06}" for day in range(100_000)]
    world.there.partitions["sales", "orders"] = days
    world.here.partitions["shop", "orders"] = days
    for database, table in (("far", "orders"), ("shop", "remote_orders"), ("shop", "orders")):
        assert client.get_partition_names(database, table, -1) == days
        assert client.get_all_tables("far") == ["orders"]


_REPLY = b"\x80\x01\x00\x02\x00\x00\x00"


def test_a_long_answer_that_breaks_off_ends_the_clients_connection_and_frees_the_remote(world: World) -> None:
    body = b"\x0f\x00\x00\x0b" + (10**5).to_bytes(4, "big") + (b"\x00\x00\x00\x01x" * 20_000)

    def answers(data: bytes) -> list[bytes | None]:
        greeted: list[bytes | None] = [_REPLY + b"\x10get_config_value\0\0\0\0\x0b\0\0\0\0\0\0\0"]
        begun: list[bytes | None] = [_REPLY + b"\x0eget_all_tables\0\0\0\0" + body, None]
        return greeted * (b"get_config_value" in data) + begun * (b"get_all_tables" in data)

    breaking = BreakingServer(answers)
    world.define(breaking.port)
    for _ in range(20):
        with client_of(world.gateway.port) as asking, pytest.raises((Exception,)):
            asking.get_all_tables("far")
    breaking.close()
    world.define(world.remote.port)
    with client_of(world.gateway.port) as asking:
        assert asking.get_all_tables("far") == ["orders"]


@pytest.mark.parametrize("then", [None, b""], ids=["breaks off", "is silent"])
def test_a_remote_that_never_ends_its_lists_of_partitions_is_not_there_for_now(then: bytes | None) -> None:
    """They are handed on while they come; who begins to answer and does not end has not answered."""
    world = World(32 << 20)
    body = b"\x0f\x00\x00\x0b" + (10**6).to_bytes(4, "big") + (b"\x00\x00\x00\x01x" * 200_000)

    def answers(data: bytes) -> list[bytes | None]:
        greeted: list[bytes | None] = [_REPLY + b"\x10get_config_value\0\0\0\0\x0b\0\0\0\0\0\0\0"]
        begun: list[bytes | None] = [_REPLY + b"\x13get_partition_names\0\0\0\0" + body, then]
        return greeted * (b"get_config_value" in data) + begun * (b"get_partition_names" in data)

    breaking = BreakingServer(answers)
    world.define(breaking.port)
    try:
        for _ in range(LIMITS.failures):
            with client_of(world.gateway.port) as asking, pytest.raises(TTransportException):
                asking.get_partition_names("far", "orders", -1)
        with client_of(world.gateway.port) as asking, pytest.raises(TApplicationException, match="not there for now"):
            asking.get_partition_names("far", "orders", -1)
    finally:
        breaking.close()
        world.close()


@pytest.mark.thorough
def test_a_client_that_does_not_take_its_partitions_keeps_no_remote_from_others() -> None:
    """As much waits for it here as of an answer that is held; the remote is free."""
    world = World(32 << 20, replace(LIMITS, calls_at_once=1, wait=5.0))
    days = tuple(f"day={number:0250}" for number in range(60_000))
    world.there.partitions["sales", "orders"] = list(days)
    try:
        with socket.create_connection(("127.0.0.1", world.gateway.port), timeout=10) as slow:
            slow.sendall(request("get_partition_names", db_name="far", tbl_name="orders", max_parts=-1).raw)
            assert slow.recv(1) == b"\x80"
            with client_of(world.gateway.port) as other:
                assert tuple(other.get_partition_names("far", "orders", -1)) == days
            taken, left = whole_message(slow, b"\x80") or (None, b"")
            assert taken is not None and taken.raw.count(b"day=") == len(days)
            assert left == b""
    finally:
        world.close()


@pytest.mark.parametrize("sent", [b"\x80", b"\x80\x01\x00\x01\x00\x00\x00\x08get_"])
def test_a_client_that_stops_in_the_middle_of_a_request_is_hung_up_on(world: World, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", world.gateway.port), timeout=10) as raw:
        raw.sendall(sent)
        assert raw.recv(100) == b""
    assert world.gateway.counts.foreign == 1


def test_a_client_that_asks_nothing_stays(world: World) -> None:
    with client_of(world.gateway.port) as idle:
        time.sleep(0.8)
        assert idle.get_all_databases()


def test_a_large_answer_is_renamed_while_others_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    others_are_answered, begun = threading.Event(), threading.Event()

    def slow(answer: Any, renames: Any) -> Iterator[bytes]:
        begun.set()
        for _ in range(1_000_000):
            if others_are_answered.is_set():
                break
            yield b""
        else:
            raise WireError("nobody else was answered")
        yield from renamed_pieces(answer, renames)

    monkeypatch.setattr(remote_calls, "renamed_pieces", slow)
    world = World(buffered=32 << 20, limits=replace(LIMITS, call=30.0))
    names = [f"t{number:0100}" for number in range(50_000)]
    orders = world.there.tables.pop(("sales", "orders"))
    world.there.tables |= {("sales", name): orders for name in names}
    try:
        with client_of(world.gateway.port) as one, ThreadPoolExecutor(1) as pool:
            large = pool.submit(one.get_all_tables, "far")
            assert begun.wait(20)
            with client_of(world.gateway.port) as other:
                assert other.get_partition_names("far", names[0], -1) == []
            others_are_answered.set()
            assert large.result() == names
    finally:
        others_are_answered.set()
        world.close()
