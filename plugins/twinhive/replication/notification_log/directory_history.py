"""What later events did to the directory of a table or partition: where it is, and what of it they tell."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import assert_never

from twinhive.core.model.changes.affected_objects import (
    names_of,
    partitions_named,
    partitions_told,
    renaming,
    table_structs,
    tables_of,
)
from twinhive.core.model.changes.contents import SourceFile
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
from twinhive.core.model.files import is_below, join, relative_to
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table

Key = tuple[TableName, str | None]
"""A table with the name of a partition; None: the table as a whole."""


@dataclass(frozen=True)
class Fate:
    """What became of a directory after an event.

    place       where it is now: renames take it along
    superseded  the event that removed or replaced what was in it, None where its files are still there; also one by
                which something lies in a directory that was left: whose the files are nobody can tell then
    is_left     its table or partition lies elsewhere now; nothing of that touched the directory
    appended    the files that inserts have added, by their paths in it; None where there was no insert
    """

    place: str
    superseded: Event | None = None
    is_left: bool = False
    appended: frozenset[str] | None = None


class Fates:
    """Find what events did to single directories without going through all events for each."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events: dict[Key, list[Event]] = defaultdict(list)
        self._places: dict[str, list[Event]] = defaultdict(list)
        for event in events:
            for key in _touched(event):
                self._events[key].append(event)
            for place in places_of(event.change):
                self._places[place].append(event)
        self._sorted = sorted(self._places)

    def of(self, event_id: int, table: TableName, partition: str | None, place: str) -> Fate:
        """Return what became of the directory that an object had as of an event."""
        appended: frozenset[str] | None = None
        while (event := self._next(event_id, table, partition)) is not None:
            event_id, change = event.event_id, event.change
            if (rename := renaming(change)) and rename.before.name == table:
                place, table = along(place, rename.before.location, rename.after.location), rename.after.name
            elif isinstance(change, RenamePartition) and _name(change, change.before) == partition:
                place = along(place, change.before.location, change.after.location)
                partition = _name(change, change.after)
            elif isinstance(change, Insert) and not change.replaces:
                appended = (appended or frozenset()) | frozenset(_relative(change, event_id))
            elif not _keeps_files(change):
                return Fate(place, event, False, appended)
            elif (there := _locations(change, partition)) and place not in there:
                return Fate(place, self._taken(event_id, place), True, appended)
        return Fate(place, None, False, appended)

    def _next(self, event_id: int, table: TableName, partition: str | None) -> Event | None:
        found = (self._after(event_id, key) for key in {(table, None), (table, partition)})
        return min((event for event in found if event), key=lambda event: event.event_id, default=None)

    def _after(self, event_id: int, key: Key) -> Event | None:
        return _first_after(event_id, self._events.get(key, []))

    def _taken(self, event_id: int, place: str) -> Event | None:
        """Return the next event by which something lies in a place, below it, or around it."""
        below = takewhile(lambda one: is_below(one, place), self._sorted[bisect_right(self._sorted, f"{place}/") :])
        found = (_first_after(event_id, self._places.get(one, [])) for one in (*with_parents(place), *below))
        return min((event for event in found if event), key=lambda event: event.event_id, default=None)


def places_of(change: Change) -> Iterator[str]:
    """Yield where a change says that rows lie: of tables with partitions, those of the partitions alone."""
    things: tuple[Table | Partition, ...]
    match change:
        case CreateTable(table=table) | AlterTable(after=table) if not table.partition_keys:
            things = (table,)
        case Insert(table=table, partition=None):
            things = (table,)
        case CreateTable() | AlterTable() | Insert() | AddPartitions() | AlterPartitions() | RenamePartition():
            things = partitions_told(change)
        case DropTable() | DropPartitions() | NoContent():
            return
        case _:
            assert_never(change)
    yield from (one.location for one in things if one.location)


def _first_after(event_id: int, events: list[Event]) -> Event | None:
    number = bisect_right(events, event_id, key=lambda event: event.event_id)
    return events[number] if number < len(events) else None


def with_parents(place: str) -> Iterator[str]:
    """Yield a place and the directories around it."""
    while "://" in place.rpartition("/")[0]:
        yield place
        place = place.rpartition("/")[0]


def _touched(event: Event) -> Iterator[Key]:
    change = event.change
    match change:
        case NoContent():
            return
        case CreateTable() | DropTable() | AlterTable() | Insert(partition=None):
            yield from ((name, None) for name in tables_of(change))
        case _:
            (table,) = table_structs(change)
            yield from ((table.name, name) for name in names_of(table, partitions_named(change)))


def _name(change: AlterPartitions | RenamePartition, partition: Partition) -> str:
    return partition.name(change.table.partition_keys)


def _keeps_files(change: Change) -> bool:
    """True for a change of an object that says where it lies and touches nothing there."""
    match change:
        case AlterTable():
            return not change.renames and not change.truncates
        case AlterPartitions():
            return not change.truncates
        case CreateTable() | DropTable() | AddPartitions() | DropPartitions() | RenamePartition() | Insert():
            return False
        case NoContent():
            return True
        case _:
            assert_never(change)


def _locations(change: Change, partition: str | None) -> list[str | None]:
    """Return where a change says that an object lies; of a partition, its table says nothing."""
    match change:
        case AlterTable(after=after) if partition is None:
            return [after.location]
        case AlterPartitions():
            return [one.location for one in change.after if _name(change, one) == partition]
        case AlterTable() | CreateTable() | DropTable() | Insert():
            return []
        case AddPartitions() | DropPartitions() | RenamePartition() | NoContent():
            return []
        case _:
            assert_never(change)


def _relative(change: Insert, event_id: int) -> Iterator[str]:
    location = (change.partition or change.table).location
    return (SourceFile.of_event(file, location, event_id).relative for file in change.files)


def along(place: str, before: str | None, after: str | None) -> str:
    """Return where a place is after a rename that moves a directory."""
    if not before or not after:
        return place
    if place == before:
        return after
    return join(after, relative_to(place, before)) if is_below(place, before) else place
