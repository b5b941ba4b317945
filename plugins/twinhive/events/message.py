"""Open the message of a notification event, without judging what it says."""

import base64
import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

from twinhive.domain.errors import ActNow
from twinhive.domain.events import EventRow
from twinhive.domain.names import TableName

_PLAIN = ("json-0.2", "json")
_GZIPPED = ("gzip(json-2.0)", "gzip")

# Field ids of Thrift's SQLForeignKey.
_FOREIGN_DATABASE, _FOREIGN_NAME = "4", "5"


def decode_message(row: EventRow) -> dict[str, Any]:
    """Return the message's fields. Raises ActNow for one that cannot be read."""
    message_format = row.message_format.lower()
    if message_format not in (*_PLAIN, *_GZIPPED):
        raise _unreadable(row, f"format {row.message_format!r}", f"one of {', '.join((*_PLAIN, *_GZIPPED))}")
    try:
        text = row.message
        if message_format in _GZIPPED:
            text = gzip.decompress(base64.b64decode(row.message, validate=True)).decode()
        fields = _parsed(text)
    # zlib's own error is no ValueError, a cut gzip stream raises EOFError.
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise _unreadable(row, f"{type(error).__name__}: {error}") from error
    if not isinstance(fields, dict):
        raise _unreadable(row, f"JSON of type {type(fields).__name__}", "an object")
    return fields


def names_touched(row: EventRow) -> frozenset[TableName]:
    """Return the names of all tables that an event concerns; a rename concerns two.

    The row names the new table of a rename, the message the old one. A foreign key is filed
    under the table that it refers to.
    """
    names = {(row.database, row.table)}
    if row.event_type == "ALTER_TABLE":
        message = decode_message(row)
        names.add((message.get("db"), message.get("table")))
    elif row.event_type == "ADD_FOREIGNKEY":
        names.update(_keyed(row, decode_message(row)))
    return frozenset(TableName(database.lower(), table.lower()) for database, table in names if database and table)


def _keyed(row: EventRow, message: dict[str, Any]) -> Iterator[tuple[str | None, str | None]]:
    for text in message.get("foreignKeyListJson") or ():
        key = _struct(row, "foreignKeyListJson", text)
        yield _string(key, _FOREIGN_DATABASE), _string(key, _FOREIGN_NAME)


def _struct(row: EventRow, key: str, text: Any) -> dict[str, Any]:
    """Parse the TJSON text of a Thrift struct: `{"<field id>": {"<type>": value}}`."""
    try:
        struct = _parsed(text)
    except (TypeError, ValueError) as error:
        raise _unreadable(row, f"{key}: {type(error).__name__}: {error}", "the TJSON text of an object") from error
    if not isinstance(struct, dict):
        raise _unreadable(row, f"{key}: JSON of type {type(struct).__name__}", "the TJSON text of an object")
    return struct


def _string(struct: dict[str, Any], field_id: str) -> str | None:
    field = struct.get(field_id)
    return field.get("str") if isinstance(field, dict) else None


def _parsed(text: str) -> Any:
    # Hive leaves control characters in strings unescaped.
    return json.loads(text, strict=False)


def _unreadable(row: EventRow, found: str, expected: str = "a message as Hive 4 writes it") -> ActNow:
    return ActNow(
        f"the message of event {row.event_id} ({row.event_type}) cannot be read",
        found=found,
        expected=expected,
        next_step=(
            f"look at EVENT_ID {row.event_id} in the metastore's table NOTIFICATION_LOG; "
            "without it the replica cannot follow and needs a new bootstrap"
        ),
    )
