"""For random definitions and calls: the answer is the owner's with names exchanged, or an error, never another one.

What is expected comes from objects of the bindings and the names that the test has put in, not from bytes.
`TWINHIVE_GATEWAY_WORLDS` makes so many worlds of it.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hive_metastore import ThriftHiveMetastore

from tests.support.seeds import seeds
from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.scripted_metastore import AnsweringMetastore, whole_message
from tests.support.wire.wire_messages import KNOWN, decoded, encoded, random_struct, renamed_objects, struct_class
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.federation.gateway.request_names import renames_of
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.roles import Role, decided
from twinhive.hive.wire.thrift_message import MessageKind, WireMessage, call, reply

WORLDS = int(os.environ.get("TWINHIVE_GATEWAY_WORLDS", "6"))
CALLS = 120
DATABASES = ("a", "ab", "abc", "a_b", "shop", "shops", "sales", "default", "été", "x" * 60)
TABLES = ("a", "ab", "orders", "order", "shop", "sales", "straße", "b" * 60)
TEXTS = (*DATABASES, *TABLES, "", "A", "Shop ", "@hive#shop", "hive.a.ab", "a.ab", "shop.orders:7:9:8,9:3", "any text")
READS = [name for name in KNOWN if KIND_OF[name] is MethodKind.READ]
NAMED = (Role.DATABASE, Role.TABLE, Role.FULL_NAME, Role.CATALOG)
OF_SEVERAL = [name for name in READS if sum(one.role is Role.DATABASE for one in METHODS[name].request) > 1]
"""Methods that name two databases."""
LIMITS = RemoteLimits(connect=20, call=20, wait=20)


@dataclass
class Server:
    """Answer each call at random, and keep the first: the gateway may look at a table after it."""

    random: Random
    asked: WireMessage | None = None
    answered: Any = None
    metastore: AnsweringMetastore = field(init=False)

    def __post_init__(self) -> None:
        self.metastore = AnsweringMetastore(self._answer)

    def _answer(self, request: WireMessage) -> bytes:
        method = request.head.method
        if method == "get_config_value":  # how gateways greet
            body = encoded(ThriftHiveMetastore.get_config_value_result(success=""))
            return reply(method, request.head.sequence, body).raw
        kind = getattr(ThriftHiveMetastore, f"{method}_result")
        result = random_struct(self.random, kind, texts=TEXTS)
        for one in filter(None, kind.thrift_spec):
            if one[0] != 0:
                setattr(result, one[2], None)
        if self.asked is None:
            self.asked, self.answered = request, result
        return reply(method, request.head.sequence, encoded(result)).raw


@dataclass
class World:
    """A local metastore, up to three others, and definitions of whatever names."""

    random: Random

    def __post_init__(self) -> None:
        self.local, *self.remotes = [Server(self.random) for _ in range(self.random.randint(2, 4))]
        databases: dict[str, RemoteDatabase] = {}
        tables: dict[TableName, RemoteTable] = {}
        for _ in range(self.random.randint(1, 8)):
            to = {"port": str(self.random.choice(self.remotes).metastore.port)}
            here, there = (self._name() for _ in range(2))
            if self.random.random() < 0.5:
                databases[here.database] = RemoteDatabase(here.database, there.database, properties=to)
            else:
                tables[here] = RemoteTable(here, there, properties=to)
        self.defined = Definitions(
            {name: one for name, one in tables.items() if name.database not in databases}, databases
        )
        self.gateway = RunningGateway(self.local.metastore.port, self.defined, LIMITS)

    def _name(self) -> TableName:
        return TableName(self.random.choice(DATABASES), self.random.choice(TABLES))

    def close(self) -> None:
        """End everything."""
        self.gateway.stop()
        for one in (self.local, *self.remotes):
            one.metastore.close()

    def server_of(self, owner: Definition | None) -> Server:
        """Return whom an owner's calls go to."""
        if owner is None:
            return self.local
        return next(one for one in self.remotes if str(one.metastore.port) == owner.properties["port"])

    def targets(self) -> list[TableName]:
        """Choose what a call is about: mostly something remote, sometimes two things."""
        known = [*self.defined.tables, *(TableName(one, self._name().table) for one in self.defined.databases)]
        wanted = [self.random.choice(known) if self.random.random() < 0.8 else self._name() for _ in range(2)]
        return wanted if self.random.random() < 0.3 else wanted[:1]


def filled(random: Random, struct: Any, targets: list[TableName]) -> Iterator[tuple[str, str | None]]:
    """Put a target's names wherever names stand; yield what each struct names then.

    A struct with several databases (`parent_db_name`, `foreign_db_name`) may name several targets.
    """
    roles = {one[2]: decided(type(struct).__name__, one[2]) for one in filter(None, type(struct).thrift_spec)}
    groups = [name.split("_")[0] for name, role in roles.items() if role is Role.DATABASE]
    chosen = {group: random.choice(targets) for group in groups if len(groups) > 1}
    alone = random.choice(targets)
    named: dict[TableName, set[Role]] = {}
    for name, role in roles.items():
        value = getattr(struct, name)
        if role in NAMED:
            target = chosen.get(name.split("_")[0], alone)
            named.setdefault(target, set()).add(role)
            text = text_for(random, role, target)
            setattr(struct, name, [text] if isinstance(value, list) else text)
        else:
            for inner in value if isinstance(value, list) else [value]:
                if hasattr(inner, "thrift_spec"):
                    yield from filled(random, inner, targets)
    for target, its in named.items():
        if its - {Role.CATALOG}:
            yield target.database, target.table if its & {Role.TABLE, Role.FULL_NAME} else None


def text_for(random: Random, role: Role, target: TableName) -> str | None:
    """Write a name in one of its forms."""
    match role:
        case Role.DATABASE:
            return random.choice((target.database, target.database, f"@hive#{target.database}", f" {target.database} "))
        case Role.TABLE:
            return target.table
        case Role.FULL_NAME:
            return f"{target.database}.{target.table}"
    return random.choice((None, "hive"))


def asked(client: socket.socket, request: WireMessage) -> WireMessage:
    """Make one call."""
    client.sendall(request.raw)
    read = whole_message(client)
    assert read is not None, request.head.method
    return read[0]


def error_of(answer: WireMessage) -> str | None:
    """Return what an error says, None for an answer."""
    if answer.head.kind is MessageKind.EXCEPTION:
        return "an exception of Thrift"
    result = decoded(struct_class(answer), answer.body)
    said = [getattr(result, one[2]) for one in filter(None, type(result).thrift_spec) if one[0] != 0]
    return next((str(one) for one in said if one is not None), None)


def exchanged(struct: Any, definition: Definition, *, back: bool) -> Any:
    """Return an object under the remote's names, or under the local ones; None where a name would become two."""
    renames = renames_of(definition).back if back else renames_of(definition)
    try:
        return struct if renames.nothing else renamed_objects(struct, renames)
    except ValueError:
        return None


def look_at(world: World, client: socket.socket, method: str, seed: str) -> str:
    """Make one call, and compare; return how it ended."""
    arguments = random_struct(world.random, getattr(ThriftHiveMetastore, f"{method}_args"), texts=TEXTS)
    named = dict.fromkeys(filled(world.random, arguments, world.targets()))
    request = call(method, 7, encoded(arguments))
    owners = {id(found): found for found in (world.defined.owner_of(*name) for name in named)}
    for one in (world.local, *world.remotes):
        one.asked = None
    answer = asked(client, request)
    if error_of(answer) is not None:
        return "error"
    assert len(owners) < 2, (seed, method, named)
    owner = next(iter(owners.values()), None)
    server = world.server_of(owner)
    assert server.asked is not None, (seed, method)
    if owner is None:
        assert server.asked.raw == request.raw, (seed, method)
        assert answer.body == encoded(server.answered), (seed, method)
        return "local"
    wanted = exchanged(decoded(struct_class(request), request.body), owner, back=False)
    if (spec := getattr(getattr(wanted, "req", None), "projectionSpec", None)) and method.startswith(
        "get_table_objects"
    ):
        spec.fieldList = spec.fieldList and list(dict.fromkeys([*spec.fieldList, "tableType"]))
    assert decoded(struct_class(request), server.asked.body) == wanted, (seed, method)
    result = decoded(struct_class(answer), answer.body)
    described(result, server.answered)
    assert result == exchanged(server.answered, owner, back=True), (seed, method)
    return "remote"


def described(result: Any, answered: Any) -> None:
    """Take away what the gateway says of the remote itself, and make the owner's tables EXTERNAL as it does."""
    parameters = getattr(getattr(result.success, "table", None), "parameters", None)
    if parameters is not None:
        assert parameters.pop("twinhive_remote")
    success = answered.success
    tables = getattr(success, "tables", None) or [getattr(success, "table", None)]
    for one in filter(None, tables):
        if one.tableType is not None or one.parameters:
            one.tableType, one.parameters = "EXTERNAL_TABLE", {**(one.parameters or {}), "EXTERNAL": "TRUE"}
    for row in success if isinstance(success, list) else ():
        if getattr(row, "tableType", None) is not None:
            row.tableType = "EXTERNAL_TABLE"


@pytest.mark.thorough
def test_the_answer_is_the_owners_under_other_names_or_an_error() -> None:
    endings = []
    for seed in seeds(WORLDS, kind=41):
        world = World(Random(seed))
        try:
            with closing(socket.create_connection(("127.0.0.1", world.gateway.port), timeout=30)) as client:
                for at in range(CALLS):
                    method = world.random.choice(READS if at % 5 else OF_SEVERAL)
                    for server in (world.local, *world.remotes):
                        server.asked = None
                    endings.append(look_at(world, client, method, f"TWINHIVE_SEED={seed}, call {at}"))
        finally:
            world.close()
    answered = [ending for ending in endings if ending != "error"]
    assert len(answered) > len(endings) / 2, "errors alone would prove nothing"
    assert endings.count("remote") > len(endings) / 4
