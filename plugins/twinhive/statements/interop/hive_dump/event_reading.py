"""Make rows of the notification log again of the event directories of Hive's dumps.

Hive keeps the message of an event where its loader needs it, and writes it with the low byte of each character alone:
what of it is not plain ASCII is lost. Objects are therefore taken from `_metadata`, which is in UTF-8, wherever there
is one; an event whose objects are in its message alone is refused when that is not plain.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import Missing
from twinhive.core.model.objects import Table
from twinhive.core.model.thrift_objects import fresh_function
from twinhive.core.model.tjson import to_text
from twinhive.hive.events.event_types import EventType
from twinhive.hive.events.structs import parse_json
from twinhive.replication.dump.manifest import LeftOutObject
from twinhive.statements.interop.hive_dump import dump_types
from twinhive.statements.interop.hive_dump.dump_metadata import Description
from twinhive.statements.interop.hive_dump.file_lines import decode_entries, decode_entry
from twinhive.statements.interop.hive_dump.hive_dump_errors import incomplete, unreadable, unusable
from twinhive.statements.interop.hive_dump.hive_layout import data_in, description_in, event_description_in
from twinhive.statements.interop.hive_dump.hive_objects import function_of, partition_of, table_of
from twinhive.statements.interop.hive_dump.object_descriptions import TableDescription, decode_struct, decode_table

# Hive writes printable ASCII as it is; whatever else stands in a message unescaped is a part of a character.
_BROKEN = re.compile(r"[^ -~]")
_LOST = "\uffff"
_LOGGED_AS = {dumped: logged for logged, dumped in dump_types.MESSAGE_ALONE.items()}
# What is taken of these messages; names of tables and functions are ASCII always. Of all others it is everything.
_TAKEN: Mapping[str, tuple[str, ...]] = {
    EventType.DROP_TABLE: (),
    EventType.DROP_FUNCTION: (),
    EventType.DROP_CONSTRAINT: (),
    EventType.DROP_PARTITION: ("partitions",),
    EventType.ALTER_DATABASE: ("dbObjAfterJson",),
    EventType.UPDATE_TABLE_STATISTICS: ("colStatsJson",),
    EventType.UPDATE_PARTITION_STATISTICS: ("colStatsJson", "partVals"),
}
_TRUNCATIONS = (dump_types.TRUNCATE_TABLE, dump_types.TRUNCATE_PARTITION)
_NO_TABLE = frozenset({EventType.DELETE_TABLE_STATISTICS, EventType.DELETE_PARTITION_STATISTICS})

DecodedMessage = dict[str, Any]


@dataclass(frozen=True)
class EventReading:
    """One event's directory; `read` returns the content of a file. Raises Missing."""

    event_id: int
    directory: str
    read: Callable[[str], bytes]

    def row(self) -> EventRow | LeftOutObject | None:
        """Return the event as the log would tell it, None for one without effect on tables that are replicated.

        LeftOut is for one that cannot be told of Hive's dump and does no harm. Raises ActNow for all others.
        """
        description = Description.decode(self.read(self._path), self._path)
        kind = description.kind
        if not description.begin == description.end == self.event_id:
            found = f"events {description.begin} to {description.end}"
            raise unreadable(self._path, found, f"event {self.event_id} alone")
        if kind in dump_types.OF_TRANSACTIONS or kind in dump_types.WITHOUT_EFFECT:
            return None
        if kind in _LOGGED_AS:
            return self._of_message(_LOGGED_AS[kind], description)
        make = _MAKERS.get(kind)
        if make is None:
            raise unusable(f"event {self.event_id}", kind, "an event of a table, partition or function")
        return make(self, description)

    @property
    def _path(self) -> str:
        return event_description_in(self.directory)

    def _of_message(self, event_type: str, description: Description) -> EventRow | LeftOutObject:
        if event_type in _NO_TABLE:
            return LeftOutObject(f"event {self.event_id} {event_type}", "Hive's dump does not say of which table")
        return self._row(event_type, self._plain_message(description, _TAKEN.get(event_type)))

    def _create_table(self, description: Description) -> EventRow:
        table = self._table(self._objects())
        return self._row(EventType.CREATE_TABLE, {**_of_table(table, self._objects()), "files": self._files(table, "")})

    def _insert(self, description: Description) -> EventRow:
        objects = self._objects()
        table = self._table(objects)
        partitions = self._partition_names(table, objects)
        message = {
            **_of_table(table, objects),
            "ptnObjJson": objects.partitions[0] if objects.partitions else None,
            "files": self._files(table, partitions[0] if partitions else ""),
            "replace": "true" if objects.replaces else "false",
        }
        return self._row(EventType.INSERT, message)

    def _add_partitions(self, description: Description) -> EventRow:
        objects = self._objects()
        table = self._table(objects)
        names = self._partition_names(table, objects) if table.kind.has_logged_files else []
        message = {
            **_of_table(table, objects),
            "partitionListJson": objects.partitions,
            "partitionFiles": [{"partitionName": name, "files": self._files(table, name)} for name in names],
        }
        return self._row(EventType.ADD_PARTITION, message)

    def _alter_table(self, description: Description) -> EventRow:
        objects = self._objects()
        table = self._table(objects)
        before = self._message(description).get("tableObjBeforeJson", _LOST)
        if _LOST in before:
            before = objects.table
        message = {**_of_table(table, objects), "tableObjBeforeJson": before, "tableObjAfterJson": objects.table}
        return self._row(EventType.ALTER_TABLE, message)

    def _alter_partitions(self, description: Description) -> EventRow:
        objects = self._objects()
        message = {**_of_table(self._table(objects), objects), "partitionListJson": objects.partitions}
        return self._row(EventType.ALTER_PARTITIONS, message)

    def _whole_message(self, description: Description) -> EventRow:
        """Return a rename or truncation: the objects after it are in its message alone."""
        message = self._emptying(description) or self._plain_message(description)
        if "replace" in message:
            return self._row(EventType.INSERT, message)
        if "tableObjAfterJson" in message:
            return self._row(EventType.ALTER_TABLE, message)
        return self._row(
            EventType.ALTER_PARTITION if "partitionObjAfterJson" in message else EventType.ALTER_PARTITIONS, message
        )

    def _emptying(self, description: Description) -> DecodedMessage | None:
        """Say the truncation of a table or of one partition as its rows being replaced by none, if that is needed.

        That leaves the objects as they are on the replica, so what their descriptions have lost does not matter.
        """
        message = self._message(description)
        if _LOST not in json.dumps(message, ensure_ascii=False) or description.kind not in _TRUNCATIONS:
            return None
        partitions = message.get("partitionListJson") or [message.get("partitionObjAfterJson")]
        owner = message.get("tableObjJson") or message.get("tableObjAfterJson") or ""
        if len(partitions) != 1:
            return None
        table = table_of(owner, self._path)
        values = partition_of(partitions[0], table, self._path).values if partitions[0] else ()
        if any(_LOST in value for value in values):
            return None
        named = {"db": table.name.database, "table": table.name.table, "tableObjJson": owner}
        return {**named, "ptnObjJson": partitions[0], "files": [], "replace": "true"}

    def _leave(self, description: Description) -> EventRow:
        """Return a rename out of the policy as the drop that it is to the replica."""
        message = self._message(description)
        return self._row(EventType.DROP_TABLE, {**message, "tableObjJson": message.get("tableObjBeforeJson")})

    def _create_function(self, description: Description) -> EventRow:
        path = description_in(self.directory)
        function = function_of(decode_struct(self._part(path), path, "function"), path)
        message = {"db": function.database, "functionObjJson": to_text(fresh_function(function))}
        return self._row(EventType.CREATE_FUNCTION, message)

    def _row(self, event_type: str, message: DecodedMessage) -> EventRow:
        database, table = message.get("db") or message.get("database"), message.get("table")
        text = json.dumps(message, ensure_ascii=False)
        # Without the log's own text there is no telling whether a log still holds this event: time 0 says so.
        return EventRow(self.event_id, 0, event_type, "hive", database, table, text, "json-0.2")

    def _message(self, description: Description) -> DecodedMessage:
        try:
            message = parse_json(_BROKEN.sub(_LOST, description.payload or ""))
        except ValueError as error:
            raise unreadable(self._path, error, "the event's message in JSON") from error
        if not isinstance(message, dict):
            raise unreadable(self._path, f"JSON of type {type(message).__name__}", "the event's message")
        return message

    def _plain_message(self, description: Description, taken: tuple[str, ...] | None = None) -> DecodedMessage:
        """Return the message. Raises ActNow when one of the fields that are taken (None: all) is not whole."""
        message = self._message(description)
        fields = message if taken is None else {key: message.get(key) for key in taken}
        if _LOST in json.dumps(fields, ensure_ascii=False):
            raise unusable(
                f"event {self.event_id} ({description.kind})",
                "characters other than ASCII in its message, of which Hive keeps one byte each",
                "an event whose objects Hive has kept as they were",
            )
        return message

    def _objects(self) -> TableDescription:
        path = description_in(self.directory)
        return decode_table(self._part(path), path)

    def _table(self, objects: TableDescription) -> Table:
        return table_of(objects.table, description_in(self.directory))

    def _partition_names(self, table: Table, objects: TableDescription) -> list[str]:
        path = description_in(self.directory)
        partitions = (partition_of(text, table, path) for text in objects.partitions)
        return [partition.name(table.partition_keys) for partition in partitions]

    def _files(self, table: Table, partition: str) -> tuple[str, ...]:
        if not table.kind.has_logged_files:
            return ()
        path = data_in(self.directory, partition)
        entries = decode_entries(self._part(path), path)
        for file in map(decode_entry, entries):
            # Nothing finds such a file later: a statement has no scan.
            if not file.checksum:
                what = f"the file {file.path} of event {self.event_id}"
                raise unusable(what, "no checksum", "the checksum that says which it is")
        return entries

    def _part(self, path: str) -> bytes:
        try:
            return self.read(path)
        except Missing as error:
            raise incomplete(self.directory, f"no {path}", "that file, which such an event has") from error


def _of_table(table: Table, objects: TableDescription) -> DecodedMessage:
    name = table.name
    return {"db": name.database, "table": name.table, "tableType": table.table_type, "tableObjJson": objects.table}


_MAKERS: Mapping[str, Callable[[EventReading, Description], EventRow]] = {
    dump_types.CREATE_TABLE: EventReading._create_table,
    dump_types.INSERT: EventReading._insert,
    dump_types.ADD_PARTITION: EventReading._add_partitions,
    dump_types.ALTER_TABLE: EventReading._alter_table,
    dump_types.ALTER_PARTITION: EventReading._alter_partitions,
    dump_types.RENAME_TABLE: EventReading._whole_message,
    dump_types.TRUNCATE_TABLE: EventReading._whole_message,
    dump_types.RENAME_PARTITION: EventReading._whole_message,
    dump_types.TRUNCATE_PARTITION: EventReading._whole_message,
    dump_types.RENAME_DROP_TABLE: EventReading._leave,
    dump_types.CREATE_FUNCTION: EventReading._create_function,
}
