"""Messages made with the generated bindings, random ones too, and what renaming does to objects of the bindings."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBase import TBase
from thrift.protocol.TBinaryProtocol import TBinaryProtocol, TBinaryProtocolAccelerated
from thrift.Thrift import TType
from thrift.transport.TTransport import TMemoryBuffer

from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.roles import Role, decided
from twinhive.hive.wire.thrift_message import WireMessage, call, reply


def _add_what_the_bindings_lack() -> None:
    """Add the two requests about databases that carry places: the fields of both are those of a database."""

    def struct(name: str, *fields: Any) -> Any:
        made = type(name, (TBase,), {"thrift_spec": (None, *fields)})
        made.__init__ = lambda self, **values: self.__dict__.update(dict.fromkeys([f[2] for f in fields]) | values)
        return made

    def inner(number: int, name: str, kind: Any) -> Any:
        return number, TType.STRUCT, name, [kind, kind.thrift_spec], None

    errors = (ttypes.MetaException, ttypes.AlreadyExistsException, ttypes.InvalidObjectException)
    database = tuple(
        field if field[2] != "name" else (1, TType.STRING, "databaseName", "UTF8", None)
        for field in filter(None, ttypes.Database.thrift_spec)
    )
    made = struct("CreateDatabaseRequest", *database)
    altered = struct(
        "AlterDatabaseRequest", (1, TType.STRING, "oldDbName", "UTF8", None), inner(2, "newDb", ttypes.Database)
    )
    for method, argument in (("create_database_req", made), ("alter_database_req", altered)):
        raised = (inner(number, f"o{number}", kind) for number, kind in enumerate(errors, start=1))
        setattr(ThriftHiveMetastore, f"{method}_args", struct(f"{method}_args", inner(1, "request", argument)))
        setattr(ThriftHiveMetastore, f"{method}_result", struct(f"{method}_result", *raised))


_add_what_the_bindings_lack()
KNOWN = sorted(name for name in METHODS if hasattr(ThriftHiveMetastore, f"{name}_args"))
"""Methods that the server and the bindings both have."""
_NAMING = [name for name in KNOWN if METHODS[name].request or METHODS[name].answer]
NAMES = ("shop", "Shop", "east", "orders", "ORDERS ", "planes", "@hive#shop", "@hive#", "@hive#!", "@hive#East", "")
FULL_NAMES = (
    "shop.orders",
    "hive.Shop.orders",
    "east.planes",
    "planes",
    "shop.orders:7:9:8,9:3",
    "12$shop.orders:1:2::",
)
TEXTS = (*("shop", "orders", "east", "planes") * 4, *NAMES, *FULL_NAMES, "été", "x" * 300)


def encoded(struct: Any) -> bytes:
    buffer = TMemoryBuffer()
    struct.write(TBinaryProtocol(buffer))
    return bytes(buffer.getvalue())


def decoded(kind: Any, body: bytes) -> Any:
    struct = kind()
    struct.read(TBinaryProtocolAccelerated(TMemoryBuffer(body)))
    return struct


def struct_class(message: WireMessage) -> Any:
    """Return the bindings' class of a message's body."""
    ending = "args" if message.head.kind == 1 else "result"
    return getattr(ThriftHiveMetastore, f"{message.head.method}_{ending}")


def request(method: str, **arguments: Any) -> WireMessage:
    return call(method, 1, encoded(getattr(ThriftHiveMetastore, f"{method}_args")(**arguments)))


def answer(method: str, success: Any) -> WireMessage:
    return reply(method, 1, encoded(getattr(ThriftHiveMetastore, f"{method}_result")(success=success)))


def random_message(random: Random, depth: int = 7) -> WireMessage:
    """Make a call or a reply with fields set to anything, names mostly of a few databases and tables."""
    method = random.choice(_NAMING if random.random() < 0.9 else KNOWN)
    if METHODS[method].request and (random.random() < 0.4 or not METHODS[method].answer):
        return call(method, 7, encoded(random_struct(random, getattr(ThriftHiveMetastore, f"{method}_args"), depth)))
    return reply(method, 7, encoded(random_struct(random, getattr(ThriftHiveMetastore, f"{method}_result"), depth)))


def random_struct(random: Random, kind: Any, depth: int = 7, texts: Sequence[str] = TEXTS) -> Any:
    """Make an object of the bindings with fields set to anything."""
    values = {}
    for field in filter(None, kind.thrift_spec):
        _, code, name, inner, *_ = field
        wanted = 0.9 if code != TType.STRING or "db" in name.lower() else 0.6
        if random.random() < wanted and (depth or code not in (TType.STRUCT, TType.LIST, TType.SET, TType.MAP)):
            values[name] = _random_value(random, code, inner, depth - 1, texts)
    return kind(**values)


_PLAIN: dict[int, Callable[[Random], Any]] = {
    TType.BOOL: lambda random: random.random() < 0.5,
    TType.BYTE: lambda random: random.randrange(128),
    TType.I16: lambda random: random.choice((0, 11, 0x0B00, -1)),
    TType.I32: lambda random: random.choice((0, 11, 0x0B0002, random.randrange(1 << 15))),
    TType.I64: lambda random: random.choice((0, 11, 0x0B0002, random.randrange(1 << 40))),
    TType.DOUBLE: Random.random,
}


def _random_value(random: Random, code: int, inner: Any, depth: int, texts: Sequence[str]) -> Any:
    if code == TType.STRING:
        text = random.choice(texts)
        return text.encode() if inner == "BINARY" else text
    if code in _PLAIN:
        return _PLAIN[code](random)
    if code == TType.STRUCT:
        return random_struct(random, inner[0], depth, texts)
    few = range(random.choice((0, 1, 2, 2, 9)))
    if code == TType.LIST:
        return [_random_value(random, inner[0], inner[1], depth, texts) for _ in few]
    if inner[0] != TType.STRING and inner[0] not in _PLAIN:  # of Python's own values none can be such a key or element
        few = range(0)
    keys = [_random_value(random, inner[0], inner[1], depth, texts) for _ in few]
    if code == TType.SET:
        return set(keys)
    return {key: _random_value(random, inner[2], inner[3], depth, texts) for key in keys}


def renamed_objects(struct: Any, renames: Renames) -> Any:
    """Rename the names in an object of the bindings, by the rules alone."""
    kind = type(struct)
    texts = [field[2] for field in filter(None, kind.thrift_spec) if _holds_texts(field[1], field[3])]
    own = {name: role for name in texts if isinstance(role := decided(kind.__name__, name), Role)}
    new = dict(_renamed_fields(struct, own, renames))
    for field in filter(None, kind.thrift_spec):
        _, code, name, *_ = field
        value = getattr(struct, name)
        if name in new:
            setattr(struct, name, new[name])
        elif value is not None and name not in own and code in (TType.STRUCT, TType.LIST, TType.MAP):
            setattr(struct, name, _inside(value, lambda one: _inner(one, renames)))
    return struct


def _holds_texts(code: int, inner: Any) -> bool:
    if code in (TType.LIST, TType.SET):
        return _holds_texts(inner[0], inner[1])
    return code == TType.STRING or (code == TType.MAP and _holds_texts(inner[2], inner[3]))


def _inner(one: Any, renames: Renames) -> Any:
    is_struct = hasattr(one, "thrift_spec") and not isinstance(one, Exception)
    return renamed_objects(one, renames) if is_struct else one


def _renamed_fields(struct: Any, own: dict[str, Role], renames: Renames) -> Iterator[tuple[str, Any]]:
    databases = [name for name, role in own.items() if role is Role.DATABASE]
    plain = [name for name in databases if isinstance(getattr(struct, name), str)]
    for name, role in own.items():
        value = getattr(struct, name)
        if value is None:
            continue
        beside = [one for one in databases if len(databases) == 1 or one.split("_")[0] == name.split("_")[0]]
        database = getattr(struct, beside[0]) if beside else None
        match role:
            case Role.DATABASE:
                tables = [
                    table
                    for other, is_table in own.items()
                    if is_table is Role.TABLE and (len(databases) == 1 or other.split("_")[0] == name.split("_")[0])
                    for table in _all(getattr(struct, other))
                ]
                yield (
                    name,
                    _inside(value, lambda one, t=tuple(tables) if name in plain else (): _database(one, t, renames)),
                )
            case Role.TABLE if isinstance(database, str):
                yield name, _inside(value, lambda one, d=database: _table(one, d, renames))
            case Role.FULL_NAME:
                yield name, _inside(value, lambda one: _full_name(one, renames))
            case Role.SNAPSHOT:
                yield name, _snapshot(value, renames)
            case Role.DATABASE_PATTERN:
                yield name, _inside(value, lambda one: _database(one, (), renames))


def _all(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def _inside(value: Any, change: Callable[[Any], Any]) -> Any:
    """Change what containers hold at last."""
    if isinstance(value, list):
        return [_inside(one, change) for one in value]
    if isinstance(value, set):
        return {_inside(one, change) for one in value}
    if isinstance(value, dict):
        return {key: _inside(one, change) for key, one in value.items()}
    return change(value) if hasattr(value, "thrift_spec") or isinstance(value, str) else value


def _parts(text: str) -> tuple[str, str]:
    if text.startswith("@") and "#" in text and not text.endswith(("#", "!")):
        head, name = text.split("#", 1)
        return f"{head}#", name
    return ("", text) if not text.startswith("@") else (text, "")


def _database(text: str, tables: tuple[str, ...], renames: Renames) -> str:
    head, name = _parts(text)
    pairs = [renames.tables.get((name.strip().lower(), table.strip().lower())) for table in tables]
    new = {pair[0] if pair else renames.databases.get(name.strip().lower(), name) for pair in pairs}
    (only,) = new or {renames.databases.get(name.strip().lower(), name)}
    return head + only


def _table(text: str, database: str, renames: Renames) -> str:
    pair = renames.tables.get((_parts(database)[1].strip().lower(), text.strip().lower()))
    return pair[1] if pair else text


def _full_name(text: str, renames: Renames) -> str:
    parts = text.split(".")
    if len(parts) not in (2, 3):
        return text
    database, table = parts[-2:]
    pair = renames.tables.get((database.strip().lower(), table.strip().lower()))
    parts[-2:] = pair or (renames.databases.get(database.strip().lower(), database), table)
    return ".".join(parts)


def _snapshot(text: str, renames: Renames) -> str:
    parts = [part.split(":", 1) for part in text.split("$")]
    return "$".join(":".join([_full_name(part[0], renames), *part[1:]]) for part in parts)
