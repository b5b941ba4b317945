"""Write a window of events in Hive's layout: Hive's own REPL LOAD brings a replica forward with it."""

from dataclasses import dataclass

from twinhive.core.model.changes.affected_objects import renaming, table_structs, tables_of
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.changes.kinds import (
    Change,
    DropTable,
    OfPartitions,
    UpdateStatistics,
)
from twinhive.core.model.files import join
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_message import decode_message
from twinhive.hive.events.event_objects import table
from twinhive.hive.events.fields import MessageFields
from twinhive.replication.dump.dump_layout import WHOLE_TABLES
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.manifest import LeftOutObject
from twinhive.statements.interop.hive_dump.bootstrap_writing import describe_dump, finish, make_directory
from twinhive.statements.interop.hive_dump.dump_metadata import EventsCount
from twinhive.statements.interop.hive_dump.event_writing import EventWriting, FilesOfDump
from twinhive.statements.interop.hive_dump.hive_dump_options import Terms
from twinhive.statements.interop.hive_dump.hive_layout import HivePlaces
from twinhive.statements.interop.hive_dump.table_writing import FunctionEntries, TableWriting, write_all


@dataclass(frozen=True)
class EventsWritten:
    """How many events Hive is told, and the functions that are left out of them."""

    events: int
    left_out: tuple[LeftOutObject, ...]


def write_incremental(
    files: FileWriter, dump_files: FileReader, source_files: FileReader, dump: Dump, directory: str, terms: Terms
) -> EventsWritten:
    """Write a window's dump into a new directory (`places.hive_directory`); return what Hive is told.

    Tables that are resynced go to `_bootstrap`, in the place of their events. Raises ActNow, with nothing
    written, for what Hive's layout cannot say.
    """
    places = HivePlaces.below(directory)
    make_directory(files, directory)
    manifest = dump.manifest
    said = describe_dump("INCREMENTAL", dump, terms, begin=manifest.begin.event_id)
    whole = [batch for batch in manifest.batches if batch.name.startswith(WHOLE_TABLES)]
    tables = TableWriting(dump_files, dump, places.whole_tables, terms.cmroot)
    tables.check(whole)
    event_range = EventRange.unpack(dump_files.read(dump.layout.events))
    there = frozenset(slice_.table.table for batch in whole for slice_ in batch.slices)
    functions = FunctionEntries(source_files, terms)
    telling = _Telling(
        EventWriting(
            terms.cmroot,
            terms.policy.follows,
            functions.of,
            has_files=not manifest.statement.metadata_only,
        ),
        terms.policy,
        frozenset(manifest.window.snapshots),
        there,
    )
    count = sum(bool(telling.content(row)) for row in event_range.rows)
    events = (one for row in event_range.rows for one in telling.content(row).items())
    write_all(files, ((join(places.directory, path), content) for path, content in events))
    write_all(files, tables.content(whole))
    files.write(places.events_count, EventsCount(manifest.end.event_id, count).encode())
    finish(files, places, said)
    return EventsWritten(count, tuple(LeftOutObject(name, reason) for name, reason in functions.left_out.items()))


@dataclass(frozen=True)
class _Telling:
    """Tell Hive of a window's events. `whole` tables are resynced; of them only those `there` still exist."""

    writing: EventWriting
    policy: Policy
    whole: frozenset[str]
    there: frozenset[str]

    def content(self, row: EventRow) -> FilesOfDump:
        change = decode_event(row).change
        if self.policy.followed(tables_of(change)) & self.whole:
            return self._of_whole_table(row, change)
        found = _table_of(row, change)
        if found is not None and self.policy.left_out(found) is not None:
            return {}
        if isinstance(change, OfPartitions) and not change.table.has_files:
            return {}  # Hive's layout has partitions for tables alone
        return self.writing.content(row)

    def _of_whole_table(self, row: EventRow, change: Change) -> FilesOfDump:
        if rename := renaming(change):
            before = self.policy.followed([rename.before.name])
            if not before & self.whole:
                return self.writing.drop_of_renamed(row) if before else {}
        gone = isinstance(change, DropTable) and change.table.name.table not in self.there
        return self.writing.content(row) if gone else {}


def _table_of(row: EventRow, change: Change) -> Table | None:
    if isinstance(change, UpdateStatistics):
        message = MessageFields(row, decode_message(row))
        return message.struct("tableObjJson", table) if message.optional_text("tableObjJson") else None
    found = table_structs(change)
    return found[-1] if found else None
