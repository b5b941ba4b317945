"""Find out which changes of columns the partitions of the source have followed (CASCADE).

The log does not say: the event names the table alone. The source's partitions tell: those that no later
event has named show the columns of the last change that they followed. All other partitions get theirs
by the events that name them.

One look behind a window judges all changes of columns that the log holds by then, so that a replica that is far behind
has the log read once and not by each of its windows (`cascade_memory`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from twinhive.core.model.changes.affected_objects import names_of, partitions_told, table_structs, tables_of
from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    NoContent,
    RenamePartition,
)
from twinhive.core.model.errors import Missing
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import columns_of_partition
from twinhive.core.ports import MetastoreReader
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_types import EventType
from twinhive.replication.notification_log.event_stream import EventStream

_PER_CALL = 1_000
_MOST_READINGS = 5
_RENAMES = EventType.ALTER_TABLE
Columns = tuple[tuple[str, str], ...]


@dataclass
class _Told:
    """What the log tells of one table after a change of its columns.

    changes  the columns after each change, by event
    named    the partitions that events have named, each with the last of them
    """

    changes: dict[int, Columns] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)

    def followed(self, partitions: Mapping[str, Columns]) -> dict[int, bool]:
        """Judge each change by the partitions that no later event has named."""
        return {event_id: self._is_followed(event_id, partitions) for event_id in self.changes}

    def _is_followed(self, event_id: int, partitions: Mapping[str, Columns]) -> bool:
        telling = [columns for name, columns in partitions.items() if self.named.get(name, 0) <= event_id]
        return bool(telling) and all(columns == self.changes[event_id] for columns in telling)


@dataclass
class JudgedCascades:
    """Which changes of columns were judged, by event: True for one that the partitions have followed.

    digests  of the events behind the window, by which they are known again
    """

    followed: dict[int, bool] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)


class _Look:
    """The events of a window and those behind it, as far as they tell of tables whose columns have changed.

    No more of the log is decoded, and no event is kept.
    """

    def __init__(self, stream: EventStream, end: Position) -> None:
        self._stream = stream
        self.end = end
        self.tables: dict[TableName, _Told] = {}
        self.dropped: list[int] = []
        self.digests: dict[int, str] = {}
        self._window: frozenset[int] = frozenset()
        self._moved: set[TableName] = set()

    def take_window(self, events: Iterable[Event]) -> None:
        """Take the events of the window itself."""
        for event in events:
            self._take(event)
        self._window = frozenset(event_id for told in self.tables.values() for event_id in told.changes)

    def read_on(self) -> set[TableName]:
        """Read what the log holds since it was read; return the names that tables have got or lost in it."""
        self._moved = set()
        for event_range in self._stream.event_ranges_after(self.end):
            for row in event_range.rows:
                if row.event_type == _RENAMES or _name_of(row) in self.tables:
                    self._read(row)
            self.end = event_range.end
        return self._moved

    def _read(self, row: EventRow) -> None:
        try:
            event = decode_event(row)
        except UnreadableEvent:
            told = self.tables.get(_name_of(row), _Told())
            # Of a change of columns alone nobody knows whose table it names; of others, only their table waits.
            if row.event_type == _RENAMES or self._window & told.changes.keys():
                raise
            del self.tables[_name_of(row)]
            return
        self._take(event)
        if is_change_of_columns(event.change):
            self.digests[event.event_id] = row.position.digest

    def _take(self, event: Event) -> None:
        change = event.change
        match change:
            case DropTable(table=table):
                self._drop(table.name)
            case AlterTable():
                self._alter(change, event.event_id)
            case CreateTable() | Insert() | NoContent():
                pass
            case AddPartitions() | DropPartitions() | AlterPartitions() | RenamePartition():
                pass
            case _:
                assert_never(change)
        for name in tables_of(change):
            if told_of := self.tables.get(name):
                told_of.named |= dict.fromkeys(_named(change, name), event.event_id)

    def _alter(self, change: AlterTable, event_id: int) -> None:
        if change.renames and change.before.name in self.tables:
            self._drop(change.after.name)
            self.tables[change.after.name] = self.tables.pop(change.before.name)
            self._moved |= {change.before.name, change.after.name}
        if is_change_of_columns(change):
            told = self.tables.setdefault(change.after.name, _Told())
            told.changes[event_id] = change.after.columns

    def _drop(self, name: TableName) -> None:
        if told := self.tables.pop(name, None):
            self.dropped += told.changes
            self._moved.add(name)


def _name_of(row: EventRow) -> TableName:
    return TableName((row.database or "").lower(), (row.table or "").lower())


def look_behind(stream: EventStream, events: Iterable[Event], end: Position) -> JudgedCascades:
    """Judge all changes of columns in a window and in what the log holds behind it."""
    look = _Look(stream, end)
    look.take_window(events)
    look.read_on()
    until, read = look.end.event_id, dict[TableName, dict[str, Columns]]()
    for _ in range(_MOST_READINGS):
        for name in sorted(name for name, told in look.tables.items() if name not in read and _first(told) <= until):
            read[name] = _partitions(stream.ports.source, name)
        # Who renames or drops a table while it is read makes its partitions somebody else's.
        moved = look.read_on()
        for name in moved:
            read.pop(name, None)
        if not moved:
            break
    judged = JudgedCascades(dict.fromkeys(look.dropped, False), look.digests)
    for name, told in look.tables.items():
        judged.followed |= told.followed(read.get(name, {}))
    # Of what came while partitions were read, these say nothing yet.
    judged.followed = {event_id: is_so for event_id, is_so in judged.followed.items() if event_id <= until}
    return judged


def _first(told: _Told) -> int:
    return min(told.changes)


def is_change_of_columns(change: Change) -> bool:
    """True for one that the partitions of its table may have followed."""
    return isinstance(change, AlterTable) and bool(change.after.partition_keys) and change.changes_columns


def _named(change: Change, table: TableName) -> set[str]:
    """Return the partitions of a table whose columns an event tells."""
    if isinstance(change, Insert):
        return set()  # what it says of columns is what the partition had before
    told = {one.values for one in partitions_told(change)}
    found = [one for one in table_structs(change) if one.name == table]
    return {name for one in found for name in names_of(one, told)}


def _partitions(source: MetastoreReader, name: TableName) -> dict[str, Columns]:
    """Return the columns of a table's partitions; equal ones are one object."""
    table = source.table(name)
    if table is None:
        return {}
    try:
        names = source.partition_names(name)
    except Missing:
        return {}
    found: dict[str, Columns] = {}
    seen: dict[Columns, Columns] = {}
    for start in range(0, len(names), _PER_CALL):
        for partition in source.partitions(name, names[start : start + _PER_CALL]):
            columns = columns_of_partition(partition)
            found[partition.name(table.partition_keys)] = seen.setdefault(columns, columns)
    return found
