"""A remote reached past its gateway: what only stands for a table there has no partitions, and is no empty table."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from struct import pack

import pytest
from hive_metastore import ThriftHiveMetastore, ttypes

from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.scripted_metastore import AnsweringMetastore, whole_message
from tests.support.wire.wire_messages import encoded
from tests.unit.federation.gateway.test_each_method import Call
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.federation.gateway.struct_edits import error_text
from twinhive.federation.remotes.kept_remotes import parameters_of, unreadable
from twinhive.hive.wire.method_table import I32, LIST, METHODS, STRING, STRUCT
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import STOP, WireMessage, declared_error, reply, text_field

ABOUT = sorted(
    name
    for name, kind in KIND_OF.items()
    if kind is MethodKind.READ and ("partition" in name or name in ("get_aggr_stats_for", "get_part_specs_by_filter"))
)
SPECS = ("get_partitions_pspec", "get_part_specs_by_filter", "get_partitions_spec_by_expr", "get_partitions_with_specs")
STUB = RemoteTable(TableName("sales", "rt"), TableName("hr", "people"))


def field(kind: int, value: bytes) -> bytes:
    return pack("!bh", kind, 0) + value + STOP


def a_spec(partitions: bytes) -> bytes:
    """Return a group of partitions that share a description, as the metastore gives one for every table."""
    columns = pack("!bhbi", LIST, 1, STRUCT, 1) + STOP
    shared = pack("!bh", LIST, 1) + partitions + pack("!bh", STRUCT, 2) + columns + STOP + STOP
    return pack("!bh", STRUCT, 4) + shared + STOP


def of_specs(message: WireMessage, partitions: bytes) -> bytes:
    """Return an answer of one group."""
    method, sequence = message.head.method, message.head.sequence
    groups = pack("!bi", STRUCT, 1) + a_spec(partitions)
    kind = METHODS[method].success
    assert kind is not None
    if kind.code == LIST:
        return reply(method, sequence, field(LIST, groups)).raw
    return reply(method, sequence, field(STRUCT, pack("!bh", LIST, 1) + groups + STOP)).raw


def nothing_in_groups(message: WireMessage) -> bytes:
    """Return the answer of a table without partitions by those methods that give groups."""
    return of_specs(message, pack("!bi", STRUCT, 0)) if message.head.method in SPECS else nothing(message)


def nothing(message: WireMessage) -> bytes:
    """Return the answer of a table that has no partitions."""
    method, sequence = message.head.method, message.head.sequence
    kind = METHODS[method].success
    assert kind is not None, method
    match kind.code:
        case code if code == LIST:
            body = field(LIST, pack("!bi", kind.parts[0].code, 0))
        case code if code == I32:
            body = field(I32, pack("!i", 0))
        case _:
            body = field(STRUCT, pack("!bhbi", LIST, 1, STRUCT, 0) + pack("!bhb", 2, 2, 0) + STOP)
    return reply(method, sequence, body).raw


def no_such_thing(message: WireMessage) -> bytes:
    """Return the answer of a metastore that knows no such partition."""
    return declared_error(message.head.method, message.head.sequence, "no such", "NoSuchObjectException").raw


def something(message: WireMessage) -> bytes:
    """Return the answer of a table that has one partition."""
    if message.head.method in SPECS:
        return of_specs(message, pack("!bi", STRUCT, 1) + STOP)
    method, sequence = message.head.method, message.head.sequence
    kind = METHODS[method].success
    assert kind is not None, method
    match kind.code:
        case code if code == LIST and kind.parts[0].code == STRING:
            body = field(LIST, pack("!bii", STRING, 1, 3) + b"a=1")
        case code if code == LIST:
            body = field(LIST, pack("!bi", STRUCT, 1) + STOP)
        case code if code == I32:
            body = field(I32, pack("!i", 1))
        case _:
            body = field(STRUCT, pack("!bhbi", LIST, 1, STRUCT, 1) + STOP + STOP)
    return reply(method, sequence, body).raw


class World:
    """`far` is a remote's `sales`, and `shop.bought` its `sales.rt`; the remote answers as a metastore does."""

    def __init__(self) -> None:
        self.answer: Callable[[WireMessage], bytes] = nothing
        self.table = ttypes.Table("rt", "sales", tableType="VIRTUAL_VIEW", parameters=parameters_of(STUB))
        self.table.viewExpandedText = unreadable(STUB, [("id", "int")])
        self.asked: list[str] = []
        self.there = AnsweringMetastore(self._answer)
        to = {"port": str(self.there.port)}
        bought = TableName("shop", "bought")
        self.gateway = RunningGateway(
            1,
            Definitions(
                {bought: RemoteTable(bought, STUB.local, properties=to)},
                {"far": RemoteDatabase("far", "sales", properties=to)},
            ),
        )

    def _answer(self, message: WireMessage) -> bytes:
        method, sequence = message.head.method, message.head.sequence
        if method == "get_config_value":  # how gateways greet
            return reply(method, sequence, text_field(0, "") + STOP).raw
        self.asked.append(method)
        if method == "get_table_req":
            result = ThriftHiveMetastore.get_table_req_result(success=ttypes.GetTableResult(self.table))
            return reply(method, sequence, encoded(result)).raw
        return self.answer(message)

    def said(self, method: str, named: TableName, times: int = 1) -> list[str | None]:
        """Return what errors say, None for an answer."""
        path = next(place.path for place in METHODS[method].request if place.role is Role.DATABASE)
        message = Call(method, path, named).message
        found = []
        with closing(socket.create_connection(("127.0.0.1", self.gateway.port), timeout=20)) as client:
            for _ in range(times):
                client.sendall(message.raw)
                read = whole_message(client)
                assert read is not None, method
                found.append(error_text(read[0]))
        return found


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    made = World()
    yield made
    made.gateway.stop()
    made.there.close()


@pytest.mark.parametrize("answer", [nothing, nothing_in_groups, no_such_thing])
@pytest.mark.parametrize("named", [TableName("far", "rt"), TableName("shop", "bought")], ids=str)
def test_no_call_says_that_a_stub_has_no_partitions(
    world: World, named: TableName, answer: Callable[[WireMessage], bytes]
) -> None:
    """The second call of a connection goes the quick way."""
    world.answer = answer
    for method in ABOUT:
        for said in world.said(method, named, times=3):
            assert "is itself a remote table" in (said or ""), (method, said)
            assert "'hive.metastore.uris'" in (said or "")


def test_what_has_a_partition_is_not_looked_at(world: World) -> None:
    world.answer = something
    for method in ABOUT:
        world.asked.clear()
        assert world.said(method, TableName("far", "rt"), times=2) == [None, None], method
        assert world.asked == [method] * 2


def test_a_table_without_partitions_is_empty(world: World) -> None:
    stub, world.answer = world.table, nothing
    world.table = ttypes.Table("rt", "sales", tableType="EXTERNAL_TABLE", parameters={"a": "b"})
    try:
        for method in ABOUT:
            assert world.said(method, TableName("far", "rt"), times=2) == [None, None], method
        world.answer = no_such_thing
        assert "no such" in (world.said("get_partition_by_name", TableName("far", "rt"))[0] or "")
        world.table.parameters = parameters_of(STUB)  # as the gateway there describes it
        world.answer = nothing
        assert world.said("get_partition_names", TableName("far", "rt")) == [None]
    finally:
        world.table = stub
