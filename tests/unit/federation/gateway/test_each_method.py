"""Each method, with a remote at each place where a database may stand: no write is sent, each read goes to its owner.

The calls are made from the table of methods, so that those are among them which the bindings of tests lack.
"""

import socket
from collections.abc import Iterator
from contextlib import closing
from struct import pack

import pytest

from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.scripted_metastore import AnsweringMetastore, whole_message
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.federation.gateway.struct_edits import error_text
from twinhive.hive.wire.method_table import LIST, MAP, METHODS, SET, STRING, STRUCT, STRUCTS, Kind, Struct
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import STOP, WireMessage, call, reply, struct_field, text_field

WRITES = [name for name, kind in KIND_OF.items() if kind in (MethodKind.WRITE, MethodKind.TABLE_DROP)]
READS = [name for name, kind in KIND_OF.items() if kind is MethodKind.READ]


def places_of(methods: list[str]) -> list[tuple[str, str, Role]]:
    """List where databases stand in the requests of methods, by themselves or before a table."""
    return [
        (method, place.path, place.role)
        for method in methods
        for place in METHODS[method].request
        if place.role in (Role.DATABASE, Role.FULL_NAME)
    ]


PLACES = places_of(WRITES)
OWN = TableName("shop", "own")


class Call:
    """A call of a method in which each name is `shop.own`, but for the one at `path`."""

    def __init__(self, method: str, path: str, there: TableName) -> None:
        self._path, self._there = path, there
        self.message = call(method, 1, self._struct(METHODS[method].asked, "", frozenset()))

    def _struct(self, struct: Struct, above: str, kinds: frozenset[str]) -> bytes:
        is_there = self._path.startswith(above) and "/" not in self._path[len(above) :].removesuffix("/[]")
        fields = []
        for field in struct.fields:
            value = self._value(
                field.kind, f"{above}{field.number}:{field.name}", field.role, is_there, kinds | {struct.name}
            )
            if value is not None:
                fields.append(pack("!bh", field.kind.code, field.number) + value)
        return b"".join(fields) + b"\0"

    def _value(self, kind: Kind, path: str, role: Role | None, is_there: bool, kinds: frozenset[str]) -> bytes | None:
        match kind.code:
            case code if code in (LIST, SET):
                inner = self._value(kind.parts[0], f"{path}/[]", role, is_there, kinds)
                return None if inner is None else pack("!bi", kind.parts[0].code, 1) + inner
            case code if code == MAP:
                inner = self._value(kind.parts[1], f"{path}/{{}}", role, is_there, kinds)
                known = kind.parts[0].code == STRING
                return (
                    None
                    if inner is None or not known
                    else pack("!bbi", STRING, kind.parts[1].code, 1) + _text("k") + inner
                )
            case code if code == STRUCT:
                return None if kind.struct in kinds else self._struct(STRUCTS[kind.struct], f"{path}/", kinds)
            case code if code == STRING:
                return self._name(path, role, is_there)
        return None

    def _name(self, path: str, role: Role | None, is_there: bool) -> bytes | None:
        named = self._there if path == self._path else OWN
        match role:
            case Role.DATABASE:
                return _text(named.database)
            case Role.TABLE:
                return _text(self._there.table if is_there else OWN.table)
            case Role.FULL_NAME:
                return _text(str(named))
        return None


def _text(text: str) -> bytes:
    return pack("!i", len(text.encode())) + text.encode()


class World:
    """A local metastore and a remote that answer nothing, and keep what they are asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.asked_there: list[WireMessage] = []
        self.here, self.there = AnsweringMetastore(self._answer), AnsweringMetastore(self._answer_there)
        to = {"port": str(self.there.port)}
        bought = TableName("shop", "bought")
        self.gateway = RunningGateway(
            self.here.port,
            Definitions(
                {bought: RemoteTable(bought, TableName("sales", "orders"), properties=to)},
                {"far": RemoteDatabase("far", "sales", properties=to)},
            ),
        )

    def _answer(self, message: WireMessage) -> bytes:
        self.asked.append(message.head.method)
        return reply(message.head.method, message.head.sequence).raw

    def _answer_there(self, message: WireMessage) -> bytes:
        method, sequence = message.head.method, message.head.sequence
        if method == "get_config_value":  # how gateways greet
            return reply(method, sequence, text_field(0, "") + STOP).raw
        self.asked_there.append(message)
        if method == "get_table_req":  # a table of which nothing is said
            return reply(method, sequence, struct_field(0, struct_field(1, STOP) + STOP) + STOP).raw
        return reply(method, sequence).raw

    def answers(self, message: WireMessage) -> str | None:
        """Return what an error says, None for an answer."""
        with closing(socket.create_connection(("127.0.0.1", self.gateway.port), timeout=20)) as client:
            client.sendall(message.raw)
            read = whole_message(client)
        assert read is not None, message.head.method
        return error_text(read[0])


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    made = World()
    yield made
    made.gateway.stop()
    made.here.close()
    made.there.close()


def test_all_that_writes_is_among_them() -> None:
    assert {method for method, _, _ in PLACES} == set(WRITES)


@pytest.mark.parametrize("far", ["far", "FAR ", "@hive#far", "@HIVE#Far"])
def test_a_database_of_a_remote_is_changed_by_no_method_from_no_place(world: World, far: str) -> None:
    world.asked.clear()
    for method, path, role in PLACES:
        if role is Role.FULL_NAME and far.startswith("@"):
            continue
        said = world.answers(Call(method, path, TableName(far, "t")).message)
        assert "read only" in (said or "") and "nothing was sent" in (said or ""), (method, path, said)
    assert world.asked == [] == world.asked_there


def test_a_remote_table_is_changed_by_no_method_but_its_name_may_be_dropped(world: World) -> None:
    world.asked.clear()
    tried = 0
    for method, path, _ in PLACES:
        message = Call(method, path, TableName("shop", "bought")).message
        if b"bought" not in message.raw:
            continue  # it names databases alone
        said = world.answers(message)
        if KIND_OF[method] is MethodKind.TABLE_DROP:
            assert (said, world.asked) == (None, [method])
            assert [one.head.method for one in world.asked_there] == ["get_table_req"], "whose files it would delete"
            world.asked.clear()
            world.asked_there.clear()
            continue
        tried += 1
        assert "remote shop.bought is read only" in (said or ""), (method, path, said)
    assert tried > 50
    assert world.asked == [] == world.asked_there


def test_what_names_local_tables_alone_is_sent_as_it_is(world: World) -> None:
    world.asked.clear()
    for method in WRITES:
        assert world.answers(Call(method, "", OWN).message) is None, method
    assert sorted(world.asked) == sorted(WRITES)


@pytest.mark.parametrize(("here", "there"), [(TableName("far", "t"), "sales"), (TableName("shop", "bought"), "orders")])
def test_a_read_goes_to_its_owner_or_to_nobody(world: World, here: TableName, there: str) -> None:
    world.asked.clear()
    passed_on, refused = set(), set()
    for method, path, _ in places_of(READS):
        message = Call(method, path, here).message
        if here.table.encode() not in message.raw and here.database == "shop":
            continue  # it names databases alone
        world.asked_there.clear()
        said = world.answers(message)
        assert world.asked == [], (method, path)
        if said is not None:
            assert "objects of several metastores" in said, (method, path, said)
            assert world.asked_there == []
            refused.add(method)
            continue
        (sent,) = world.asked_there
        assert sent.head.method == method and there.encode() in sent.raw, (method, path)
        assert here.database.encode() not in sent.raw[sent.at :], (method, path)
        passed_on.add(method)
    assert refused <= {"get_foreign_keys"}  # which names two databases, and one of them was local
    assert len(passed_on) > 40
