"""Random messages full of places, and all the places that stand in an object of the bindings."""

from collections.abc import Iterator
from random import Random
from typing import Any

from hive_metastore import ThriftHiveMetastore

from tests.support.wire.wire_messages import KNOWN, encoded, random_struct
from twinhive.core.model.placement.copy_marks import CopyMark, DirectoryState
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.roles import Role, decided
from twinhive.hive.wire.thrift_message import WireMessage, call, reply

ROOTS = {"east": "hdfs://east", "north": "hdfs://north", "south": "hdfs://south:8020"}
COPIES = "hdfs://north/twinhive/copies"
MARK = CopyMark(
    f"{COPIES}/near/orders.7-ab/day=1",
    "log",
    7,
    "hdfs://east/w/orders/day=1",
    DirectoryState(1, 2),
    DirectoryState(1, 2),
    TableIdentity(1, 1),
    3,
    4,
)
"""As everything in these messages has one."""
PLACES = (
    *("hdfs://east/w/orders", "hdfs://east/w/orders/day=1", "hdfs://north/w/planes", "hdfs://north:8020/w/planes/x"),
    *("hdfs://south/w", "hdfs://south:8020/w/a b", "hdfs://east", "hdfs://north", "s3a://bucket/x", "/bare/path"),
    *(f"{COPIES}/near/orders.7-ab", "hdfs://north//twinhive/../twinhive/copies/x", "hdfs://north/twinhive", "file:/x"),
    *("absent-on-north.run-on-east-or-see-twinhive-copies://east/w/orders", "HDFS://east/x", ""),
)
KEYS = (
    *("twinhive.cluster", "path"),
    *("metadata_location", "twinhive.root.north", "comment"),
)
TEXTS = (*PLACES * 2, *KEYS * 2, "sales", "sales", "orders", "planes", "ferries", "north", "east", "hive", "été")
PLACING = [name for name in KNOWN if any(one.role is Role.LOCATION for one in METHODS[name].answer)]
PLACED = [name for name in KNOWN if METHODS[name].asks_for(Role.LOCATION)]


def random_answer(random: Random, method: str) -> WireMessage:
    kind = getattr(ThriftHiveMetastore, f"{method}_result")
    return reply(method, 3, encoded(_sensible(random, random_struct(random, kind, 7, TEXTS))))


def random_request(random: Random, method: str) -> WireMessage:
    kind = getattr(ThriftHiveMetastore, f"{method}_args")
    return call(method, 3, encoded(_sensible(random, random_struct(random, kind, 7, TEXTS))))


def _sensible(random: Random, struct: Any) -> Any:
    """Let most tables and partitions be such as there are, all of which have marks."""
    kind = type(struct).__name__
    if kind in ("Table", "Partition") and random.random() < 0.7:
        struct.dbName, struct.tableName, struct.catName = "sales", random.choice(("orders", "planes")), "hive"
        if random.random() < 0.7 and struct.parameters:
            struct.parameters.pop("twinhive.cluster", None)
    for field in filter(None, type(struct).thrift_spec):
        for one in _structs(getattr(struct, field[2])):
            _sensible(random, one)
    return struct


def places_in(struct: Any) -> Iterator[str]:
    """Yield the texts that Hive's own names of fields call places."""
    kind = type(struct)
    for field in filter(None, kind.thrift_spec):
        value = getattr(struct, field[2])
        if decided(kind.__name__, field[2]) is Role.LOCATION:
            yield from _texts(value)
        else:
            for one in _structs(value):
                yield from places_in(one)


def parameters_in(struct: Any, above: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the parameters of tables, partitions and what these hold, with the name of what has them."""
    kind = type(struct)
    own = kind.__name__ if kind.__name__ in ("Table", "Partition", "Database") else above
    for field in filter(None, kind.thrift_spec):
        value = getattr(struct, field[2])
        if field[2] == "parameters" and isinstance(value, dict) and own:
            yield own, value
        for one in _structs(value):
            yield from parameters_in(one, own)


def blanked(struct: Any) -> Any:
    """Take places, and parameters of what has places, out of an object: what is left never changes."""
    kind = type(struct)
    for field in filter(None, kind.thrift_spec):
        value = getattr(struct, field[2])
        if decided(kind.__name__, field[2]) is Role.LOCATION or field[2] == "parameters":
            setattr(struct, field[2], None)
        else:
            for one in _structs(value):
                blanked(one)
    return struct


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for one in value.values() for text in _texts(one))
    elif isinstance(value, list | set):
        yield from (text for one in value for text in _texts(one))


def _structs(value: Any) -> Iterator[Any]:
    if hasattr(value, "thrift_spec") and not isinstance(value, Exception):
        yield value
    elif isinstance(value, dict):
        yield from (one for inner in value.values() for one in _structs(inner))
    elif isinstance(value, list | set):
        yield from (one for inner in value for one in _structs(inner))
