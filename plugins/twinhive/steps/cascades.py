"""Find out which changes of columns the partitions of the source have followed (CASCADE).

The log does not say: the event names the table alone. The source's partitions tell: those that no later
event has named show the columns of the last change that they followed. All other partitions get theirs
by the events that name them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from twinhive.domain.changes import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    DropTable,
    Event,
    RenamePartition,
    tables_of,
)
from twinhive.domain.errors import Missing
from twinhive.domain.events import EventRow, Position
from twinhive.domain.names import TableName, partition_name
from twinhive.domain.objects import Partition
from twinhive.domain.thrift_objects import columns_of_partition
from twinhive.events.decoder import decode_event
from twinhive.ports import MetastoreReader
from twinhive.steps.event_stream import EventStream

_PER_CALL = 1_000
_MOST_READINGS = 5
_RENAMES = "ALTER_TABLE"


@dataclass(frozen=True)
class _Fate:
    """What came after a change of columns: the table's present name, and the partitions that events have named."""

    name: TableName
    named: frozenset[str]


class _Later:
    """The events behind a window that tell of some tables, and of what these are called since.

    No more of the log is decoded or kept: it may be long, and every window with a change of columns reads it.
    """

    def __init__(self, stream: EventStream, end: Position, names: Iterable[TableName]) -> None:
        self._stream = stream
        self._end = end
        self._names = set(names)
        self.events: list[Event] = []

    def read_on(self) -> list[Event]:
        """Read what the log holds since it was read; return what is new in it."""
        new: list[Event] = []
        for stretch in self._stream.stretches_after(self._end) if self._names else ():
            new += [event for row in stretch.rows if self._may_tell(row) and self._tells(event := decode_event(row))]
            self._end = stretch.end
        self.events += new
        return new

    def _may_tell(self, row: EventRow) -> bool:
        """True for a row of one of the tables; that of a rename says the new name alone."""
        return row.event_type == _RENAMES or _name_of(row) in self._names

    def _tells(self, event: Event) -> bool:
        names = set(tables_of(event.change))
        if not names & self._names:
            return False
        self._names |= names
        return True


def _name_of(row: EventRow) -> TableName:
    return TableName((row.database or "").lower(), (row.table or "").lower())


def followed_by_partitions(stream: EventStream, events: list[Event], end: Position) -> tuple[int, ...]:
    """Return the ids of those changes of columns in a window (up to `end`) that the table's partitions have followed.

    Of several that came over a partition, only the last one can be told from it: it stands for all.
    """
    changes = [event for event in events if _is_change_of_columns(event.change)]
    if not changes:
        return ()
    later = _Later(stream, end, [fate.name for event in changes if (fate := _fate(event, events))])
    later.read_on()
    for _ in range(_MOST_READINGS):
        names = {fate.name for event in changes if (fate := _fate(event, [*events, *later.events]))}
        read = {name: _partitions(stream.ports.source, name) for name in sorted(names)}
        # Who renames or drops a table while it is read makes its partitions somebody else's.
        if not any(_gives_names(event.change) for event in later.read_on()):
            break
    fates = [(event, _fate(event, [*events, *later.events])) for event in changes]
    return tuple(event.event_id for event, fate in fates if fate and _is_followed(event, fate, read.get(fate.name, {})))


def _is_change_of_columns(change: Change) -> bool:
    return isinstance(change, AlterTable) and bool(change.after.partition_keys) and change.changes_columns


def _gives_names(change: Change) -> bool:
    return isinstance(change, DropTable) or (isinstance(change, AlterTable) and change.renames)


def _fate(event: Event, events: Iterable[Event]) -> _Fate | None:
    """Return what became of a table after a change of its columns, None when it was dropped."""
    assert isinstance(event.change, AlterTable)
    name, named = event.change.after.name, set[str]()
    for later in (later for later in events if later.event_id > event.event_id):
        change = later.change
        if isinstance(change, DropTable) and change.table.name == name:
            return None
        if isinstance(change, AlterTable) and change.renames and change.before.name == name:
            name = change.after.name
        named |= _named(change, name)
    return _Fate(name, frozenset(named))


def _named(change: Change, table: TableName) -> set[str]:
    """Return the partitions of a table whose columns an event tells."""
    match change:
        case AddPartitions() if change.table.name == table:
            partitions: Sequence[Partition] = [one.partition for one in change.added]
        case AlterPartitions() if change.table.name == table:
            partitions = change.after
        case RenamePartition() if change.table.name == table:
            partitions = [change.after]
        case _:
            return set()
    return {partition_name(change.table.partition_keys, partition.values) for partition in partitions}


def _partitions(source: MetastoreReader, name: TableName) -> dict[str, Partition]:
    table = source.table(name)
    if table is None:
        return {}
    try:
        names = source.partition_names(name)
    except Missing:
        return {}
    chunks = (names[start : start + _PER_CALL] for start in range(0, len(names), _PER_CALL))
    found = (partition for some in chunks for partition in source.partitions(name, some))
    return {partition.name(table.partition_keys): partition for partition in found}


def _is_followed(event: Event, fate: _Fate, partitions: dict[str, Partition]) -> bool:
    assert isinstance(event.change, AlterTable)
    telling = [partition for name, partition in partitions.items() if name not in fate.named]
    return bool(telling) and all(columns_of_partition(each) == event.change.after.columns for each in telling)
