"""Leave out of a window what later events of it cancel, and bring each table's events together.

For `consistency: window_end`: readers see each object as it is at the window's end, not the states in
between. A rename ends a segment, because what comes before it speaks of another name; so does the drop of the
database, because the run stops before it. Within a segment
nothing has to be repeated in the order of the log: what was removed and made again carries a stamp.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import (
    AddConstraints,
    AddPartitions,
    AlterPartitions,
    AlterTable,
    CreateTable,
    DeleteStatistics,
    DropDatabase,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    NoContent,
    RenamePartition,
    UpdateStatistics,
)
from twinhive.core.model.constraints import FOREIGN_KEY
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.touches import Values


def segments(events: Iterable[Event]) -> Iterator[tuple[list[Event], Position]]:
    """Cut a window around what stands alone; yield what is left of each part, and the position after it."""
    waiting: list[Event] = []
    for event in events:
        if not _stands_alone(event):
            waiting.append(event)
            continue
        if waiting:
            yield compacted(waiting), waiting[-1].position
        yield [event], event.position
        waiting = []
    if waiting:
        yield compacted(waiting), waiting[-1].position


def _stands_alone(event: Event) -> bool:
    match event.change:
        case RenamePartition():
            return True
        case AlterTable() as change:
            return change.renames
        case AddConstraints(kind=kind):
            return kind == FOREIGN_KEY
        case DropDatabase():
            return True
        case CreateTable() | DropTable() | AddPartitions() | DropPartitions() | AlterPartitions() | Insert():
            return False
        case NoContent():
            return False
        case _:
            assert_never(event.change)


def compacted(events: Sequence[Event]) -> list[Event]:
    """Return what is left of the events of one segment: table by table, each table's in the order of the log."""
    by_table: dict[TableName | None, list[Event]] = defaultdict(list)
    for event in events:
        names = tables_of(event.change)
        by_table[names[0] if names else None].append(event)
    return [event for of_table in by_table.values() for event in _needed(of_table)]


def _needed(events: list[Event]) -> list[Event]:
    """Go through one table's events from the last to the first; leave out what is cancelled by what was seen."""
    kept: list[Event] = []
    removed: set[Values] = set()
    refilled: set[Values] = set()
    for event in reversed(events):
        left = _without(event, removed, refilled)
        if left is None:
            continue
        kept.append(left)
        if isinstance(left.change, DropTable):
            break
        _note(left, removed, refilled)
    return kept[::-1]


def _note(event: Event, removed: set[Values], refilled: set[Values]) -> None:
    change = event.change
    match change:
        case DropPartitions(values=values):
            removed.update(values)
        case Insert(replaces=True) if not change.replaces_unknown:
            refilled.add(_holder(change))
        case AlterTable(truncates=True):
            refilled.add(None)
        case AlterPartitions(truncates=True, after=after):
            refilled.update(partition.values for partition in after)
        case AlterPartitions(moved=moved):
            refilled.update(moved)
        case CreateTable() | DropTable() | AlterTable() | AddPartitions() | RenamePartition() | Insert() | NoContent():
            return
        case _:
            assert_never(change)


def _holder(change: Insert) -> Values:
    return None if change.partition is None else change.partition.values


def _without(event: Event, removed: set[Values], refilled: set[Values]) -> Event | None:
    """Return an event without partitions that are dropped later, or nothing when its rows are replaced later.

    Statistics go with rows that are never written.
    """
    change = event.change
    match change:
        case UpdateStatistics(values=values) | DeleteStatistics(values=values):
            return None if values in removed or values in refilled else event
        case Insert():
            holder = _holder(change)
            return None if holder in removed or holder in refilled else event
        case AddPartitions(added=added):
            kept = tuple(one for one in added if one.partition.values not in removed)
            return replace(event, change=replace(change, added=kept)) if kept else None
        case AlterPartitions(after=after):
            left = tuple(partition for partition in after if partition.values not in removed)
            return replace(event, change=replace(change, after=left)) if left else None
        case DropPartitions(values=values):
            first = tuple(value for value in values if value not in removed)
            return replace(event, change=replace(change, values=first)) if first else None
        case CreateTable() | DropTable() | AlterTable() | RenamePartition() | NoContent():
            return event
        case _:
            assert_never(change)
