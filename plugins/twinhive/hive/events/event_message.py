"""Open the message of a notification event, without judging what it says."""

import base64
import gzip
import io
import zlib
from typing import Any

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.names import TableName
from twinhive.core.model.tjson import Tree
from twinhive.hive.events.event_errors import unreadable
from twinhive.hive.events.event_objects import table_name
from twinhive.hive.events.event_types import EventType
from twinhive.hive.events.fields import MessageFields
from twinhive.hive.events.structs import parse_json

_PLAIN = ("json-0.2", "json")
_GZIPPED = ("gzip(json-2.0)", "gzip")

MOST_BYTES = 256 * 2**20
"""A longer message is not opened: it takes ten times as much memory. Hive cuts large changes into several events."""

# Field ids of Thrift's SQLForeignKey.
_FOREIGN_DATABASE, _FOREIGN_NAME = "4", "5"


def decode_message(row: EventRow) -> dict[str, Any]:
    """Return the message's fields. Raises ActNow for one that cannot be read."""
    text = message_text(row)
    try:
        fields = parse_json(text)
    except ValueError as error:
        raise unreadable(row, f"{type(error).__name__}: {error}") from error
    if not isinstance(fields, dict):
        raise unreadable(row, f"JSON of type {type(fields).__name__}", "an object")
    return fields


def message_text(row: EventRow) -> str:
    """Return the message as JSON. Raises ActNow for one that cannot be read."""
    message_format = row.message_format.lower()
    if message_format not in (*_PLAIN, *_GZIPPED):
        raise unreadable(row, f"format {row.message_format!r}", f"one of {', '.join((*_PLAIN, *_GZIPPED))}")
    try:
        return _text(row, is_packed=message_format in _GZIPPED)
    # zlib's own error is no ValueError, a cut gzip stream raises EOFError.
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise unreadable(row, f"{type(error).__name__}: {error}") from error


def _text(row: EventRow, *, is_packed: bool) -> str:
    """Return the JSON, and leave no second copy of it in memory. Raises ActNow for one that is too long."""
    content = _unzipped(row.message) if is_packed else row.message.encode()
    if len(content) > MOST_BYTES:
        raise unreadable(row, f"more than {MOST_BYTES:,} bytes", "a message that fits into memory")
    return content.decode() if is_packed else row.message


def _unzipped(message: str) -> bytes:
    """Return what a message holds, no more of it than shows that it is too long."""
    packed = base64.b64decode(message, validate=True)
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
        return stream.read(MOST_BYTES + 1)


def names_touched(row: EventRow) -> frozenset[TableName]:
    """Return the names of all tables that an event concerns; a rename concerns two.

    The row names the new table of a rename, the message the old one. A foreign key is filed
    under the table that it refers to. Messages of other types are not opened.
    """
    names = {(row.database, row.table)}
    if row.event_type == EventType.ALTER_TABLE:
        message = MessageFields(row, decode_message(row))
        names.add((message.text("db"), message.text("table")))
    elif row.event_type == EventType.ADD_FOREIGNKEY:
        keys = MessageFields(row, decode_message(row)).structs("foreignKeyListJson", _with_foreign_key)
        names.update((name.database, name.table) for name in keys)
    return frozenset(TableName(database.lower(), table.lower()) for database, table in names if database and table)


def _with_foreign_key(key: Tree, _: str) -> TableName:
    return table_name(key, _FOREIGN_DATABASE, _FOREIGN_NAME)
