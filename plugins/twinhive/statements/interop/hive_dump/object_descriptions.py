"""Write and read `_metadata`, Hive's descriptions of databases, tables with their partitions, and functions.

JSON that holds Thrift structs in TJSON text (Hive: `JsonWriter`, `MetadataJson`), in UTF-8.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from twinhive.statements.interop.hive_dump.hive_dump_errors import unreadable

VERSION = "0.2"
OF_A_BOOTSTRAP = "replv2"
WHOLE, METADATA = "all", "metadata"


@dataclass(frozen=True)
class Spec:
    """How a description is to be loaded (Hive: `ReplicationSpec`).

    scope     `all`, or `metadata` for what has no files
    event     the event that it is of, or `replv2` in a bootstrap
    state     the event that the objects are at
    replaces  False for an insert that adds to what is there
    """

    scope: str
    event: str
    state: int
    replaces: bool = True

    def fields(self) -> dict[str, str]:
        """Return the spec as the description holds it."""
        return {
            "repl.scope": self.scope,
            "repl.event.id": self.event,
            "repl.last.id": str(self.state),
            "repl.noop": "false",
            "repl.is.replace": "true" if self.replaces else "false",
        }


@dataclass(frozen=True)
class TableDescription:
    """A table with partitions, each as TJSON text."""

    table: str
    partitions: tuple[str, ...] = ()
    replaces: bool = True


def encode_database(database: str) -> bytes:
    """Describe a database, given in TJSON."""
    return _written({"db": database})


def encode_table(spec: Spec | None, table: str, partitions: Iterable[str] = ()) -> bytes:
    """Describe a table with partitions, given in TJSON; that of an export says nothing of replication (None)."""
    return _written({**(spec.fields() if spec else {}), "table": table, "partitions": list(partitions)})


def encode_function(state: int, function: str) -> bytes:
    """Describe a function, given in TJSON; its resources are `<uri>#<checksum>#<cmroot>#`."""
    return _written({"repl.scope": WHOLE, "repl.last.id": str(state), "function": function})


def decode_table(content: bytes, path: str) -> TableDescription:
    """Read the description of a table. Raises ActNow."""
    fields = read_description(content, path)
    partitions = fields.get("partitions") or []
    if not isinstance(partitions, list):
        raise unreadable(path, f"partitions: {partitions!r:.80}", "a list of partitions")
    texts = tuple(_text(path, "partitions", one) for one in partitions)
    return TableDescription(_text(path, "table", fields.get("table")), texts, fields.get("repl.is.replace") != "false")


def decode_struct(content: bytes, path: str, key: str) -> str:
    """Read the TJSON of a database (`db`) or a function (`function`). Raises ActNow."""
    return _text(path, key, read_description(content, path).get(key))


def _written(fields: dict[str, Any]) -> bytes:
    return json.dumps({"version": VERSION, **fields}, separators=(",", ":")).encode("ascii")


def read_description(content: bytes, path: str) -> dict[str, Any]:
    """Read the fields of a description. Raises ActNow."""
    try:
        fields = json.loads(content, strict=False)
    except ValueError as error:
        raise unreadable(path, error, "a description in JSON") from error
    if not isinstance(fields, dict) or fields.get("version") != VERSION:
        version = fields.get("version") if isinstance(fields, dict) else None
        raise unreadable(path, f"version {version}", f"version {VERSION}, that of Hive 4")
    return fields


def _text(path: str, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise unreadable(path, f"{key}: {value!r:.80}", "a struct in TJSON text")
    return value
