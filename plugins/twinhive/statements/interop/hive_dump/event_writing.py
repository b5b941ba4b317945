"""Say an event as the files of its directory in Hive's dump (Hive: the handlers of `EventHandlerFactory`)."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from twinhive.core.model.changes.brought_files import files_of
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    DropDatabase,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    NoContent,
    NotReplicated,
    RenamePartition,
)
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Function, Partition, Table
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_message import decode_message
from twinhive.statements.interop.hive_dump import dump_types
from twinhive.statements.interop.hive_dump.dump_metadata import Description
from twinhive.statements.interop.hive_dump.file_lines import encode_files
from twinhive.statements.interop.hive_dump.hive_dump_errors import unsayable
from twinhive.statements.interop.hive_dump.hive_format_limits import check_change, check_event_id, check_file
from twinhive.statements.interop.hive_dump.hive_layout import data_in, description_in, event_description_in
from twinhive.statements.interop.hive_dump.hive_structs import function_text, struct_text
from twinhive.statements.interop.hive_dump.object_descriptions import (
    METADATA,
    WHOLE,
    Spec,
    encode_function,
    encode_table,
)

FilesOfDump = Mapping[str, bytes]
"""Files by their paths below the dump's directory."""


@dataclass(frozen=True)
class EventWriting:
    """Write events of one dump.

    follows    which tables its policy replicates
    resources  the entries of a function's files, with their checksums as they are now; None: it is left out
    has_files  False for a dump that is loaded without any
    """

    cmroot: str
    follows: Callable[[TableName], bool]
    resources: Callable[[Function], tuple[str, ...] | None]
    has_files: bool = True

    def content(self, row: EventRow) -> FilesOfDump:
        """Return the directory of an event; empty for one without effect. Raises ActNow for what Hive cannot say."""
        event = decode_event(row)
        change = event.change
        if isinstance(change, NotReplicated | CreateDatabase):
            return {}
        check_event_id(event.event_id)
        check_change(change)
        if row.event_type in dump_types.MESSAGE_ALONE:
            return self._described(event, dump_types.MESSAGE_ALONE[row.event_type], row)
        write = self._writer(change)
        if write is None:
            raise _not_written(event, row)
        return write(event, row)

    def _writer(self, change: Change) -> "_Write | None":
        """Return what writes a kind of change; None for what is written as its message alone, or not at all."""
        match change:
            case CreateTable():
                return self._create
            case AlterTable():
                return self._alter
            case AddPartitions() | AlterPartitions() | RenamePartition():
                return self._writer_of_partitions(change)
            case Insert():
                return self._insert
            case CreateFunction():
                return self._create_function
            case DropTable() | DropPartitions() | NoContent():
                return None
            case _:
                assert_never(change)

    def _writer_of_partitions(self, change: AddPartitions | AlterPartitions | RenamePartition) -> "_Write":
        match change:
            case AddPartitions():
                return self._add_partitions
            case AlterPartitions():
                return self._alter_partitions
            case RenamePartition():
                return self._rename_partition
            case _:
                assert_never(change)

    def drop_of_renamed(self, row: EventRow) -> FilesOfDump:
        """Return the directory of a rename by which a table leaves those that are followed."""
        return self._described(decode_event(row), dump_types.RENAME_DROP_TABLE, row)

    def _described(self, event: Event, kind: str, row: EventRow | None = None) -> dict[str, bytes]:
        """Return the description of an event, with its message for the kinds that Hive reads it of."""
        payload = None if row is None else json.dumps(decode_message(row), separators=(",", ":"))
        said = Description(kind, event.event_id, event.event_id, self.cmroot, payload)
        return {event_description_in(str(event.event_id)): said.encode()}

    def _with_objects(
        self, event: Event, scope: str, table: Table, partitions: Sequence[Partition] = (), *, replaces: bool = True
    ) -> dict[str, bytes]:
        spec = Spec(scope, str(event.event_id), event.event_id, replaces)
        texts = [struct_text(partition.thrift) for partition in partitions]
        return {description_in(str(event.event_id)): encode_table(spec, struct_text(table.thrift), texts)}

    def _files(self, event: Event, partitions: Sequence[str]) -> dict[str, bytes]:
        """Return a list of files for each partition ('' for the table), also where there are none."""
        found: dict[str, list[SourceFile]] = defaultdict(list)
        for table, partition, file in files_of(event) if self.has_files else ():
            check_file(table, file)
            found[partition or ""].append(file)
        directory = str(event.event_id)
        return {data_in(directory, name): encode_files(found[name], self.cmroot) for name in partitions}

    def _create(self, event: Event, row: EventRow) -> FilesOfDump:
        change: Any = event.change
        scope = WHOLE if change.table.has_files else METADATA
        kind = self._described(event, dump_types.CREATE_TABLE)
        return {**kind, **self._with_objects(event, scope, change.table), **self._files(event, [""])}

    def _alter(self, event: Event, row: EventRow) -> FilesOfDump:
        change: Any = event.change
        before, after = change.before.name, change.after.name
        if before != after:
            leaves = not self.follows(after)
            return self._described(event, dump_types.RENAME_DROP_TABLE if leaves else dump_types.RENAME_TABLE, row)
        if change.truncates:
            return self._described(event, dump_types.TRUNCATE_TABLE, row)
        kind = self._described(event, dump_types.ALTER_TABLE, row)
        return {**kind, **self._with_objects(event, METADATA, change.after)}

    def _add_partitions(self, event: Event, row: EventRow) -> FilesOfDump:
        change: Any = event.change
        added = [one.partition for one in change.added]
        names = [partition.name(change.table.partition_keys) for partition in added]
        files = self._files(event, names) if change.table.kind.has_logged_files else {}
        kind = self._described(event, dump_types.ADD_PARTITION)
        return {**kind, **self._with_objects(event, WHOLE, change.table, added), **files}

    def _alter_partitions(self, event: Event, row: EventRow) -> FilesOfDump:
        change: Any = event.change
        if change.truncates:
            return self._described(event, dump_types.TRUNCATE_PARTITION, row)
        kind = self._described(event, dump_types.ALTER_PARTITION, row)
        return {**kind, **self._with_objects(event, METADATA, change.table, change.after)}

    def _rename_partition(self, event: Event, row: EventRow) -> FilesOfDump:
        return self._described(event, dump_types.RENAME_PARTITION, row)

    def _insert(self, event: Event, row: EventRow) -> FilesOfDump:
        change: Any = event.change
        if change.table.is_external:
            return {}  # its files are somebody else's
        table, partition = change.table, change.partition
        partitions = [partition] if partition else []
        name = partition.name(table.partition_keys) if partition else ""
        objects = self._with_objects(event, WHOLE, table, partitions, replaces=change.replaces)
        return {**self._described(event, dump_types.INSERT, row), **objects, **self._files(event, [name])}

    def _create_function(self, event: Event, row: EventRow) -> FilesOfDump:
        change: Any = event.change
        if not change.function.resources:
            return {}  # as Hive does: its class is one of the servers' own
        files = self.resources(change.function)
        if files is None:
            return {}  # it is left out, and said
        function = function_text(change.function, files)
        described = self._described(event, dump_types.CREATE_FUNCTION)
        return {**described, description_in(str(event.event_id)): encode_function(event.event_id, function)}


_Write = Callable[[Event, EventRow], FilesOfDump]


def _not_written(event: Event, row: EventRow) -> ActNow:
    if isinstance(event.change, DropDatabase):
        return unsayable(
            f"the event {event}",
            "the end of the database; no replica is dropped for that",
            "events of tables, partitions, functions and of the database's parameters",
            "make the database again at the source and dump it whole: REPL DUMP without FROM",
        )
    return unsayable(
        f"the event {event}",
        f"the type {row.event_type}, which is not written into a dump for Hive",
        f"one of {', '.join(dump_types.MESSAGE_ALONE)}, or an event of a table or of partitions",
        "dump the database whole: REPL DUMP without FROM",
    )
