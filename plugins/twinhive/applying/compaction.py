"""Leave out of a window what later events of it cancel, and bring each table's events together.

For `consistency: window_end`: readers see each object as it is at the window's end, not the states in
between. A rename ends a segment, because what comes before it speaks of another name. Within a segment
nothing has to be repeated in the order of the log: what was removed and made again carries a stamp.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from twinhive.domain.changes import (
    AddConstraints,
    AddPartitions,
    AlterPartitions,
    AlterTable,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    RenamePartition,
    tables_of,
)
from twinhive.domain.events import Position
from twinhive.domain.names import TableName

Values = tuple[str, ...] | None
"""A partition by its values; None is the table itself."""


def segments(events: Iterable[Event]) -> Iterator[tuple[list[Event], Position]]:
    """Cut a window before and behind each rename; yield what is left of each part, and the position after it."""
    waiting: list[Event] = []
    for event in events:
        if not _renames(event):
            waiting.append(event)
            continue
        if waiting:
            yield compacted(waiting), waiting[-1].position
        yield [event], event.position
        waiting = []
    if waiting:
        yield compacted(waiting), waiting[-1].position


def _renames(event: Event) -> bool:
    change = event.change
    return isinstance(change, RenamePartition) or (isinstance(change, AlterTable) and change.renames)


def compacted(events: Sequence[Event]) -> list[Event]:
    """Return what is left of events without renames: table by table, each table's in the order of the log.

    Foreign keys come last: the table that they refer to may be another one.
    """
    by_table: dict[TableName | None, list[Event]] = defaultdict(list)
    for event in events:
        names = tables_of(event.change)
        by_table[names[0] if names else None].append(event)
    left = [event for of_table in by_table.values() for event in _needed(of_table)]
    return sorted(left, key=_is_foreign_key)


def _is_foreign_key(event: Event) -> bool:
    return isinstance(event.change, AddConstraints) and event.change.kind == "foreign_key"


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
        case Insert(replaces=True):
            refilled.add(_holder(change))
        case AlterTable(truncates=True):
            refilled.add(None)
        case AlterPartitions(truncates=True, after=after):
            refilled.update(partition.values for partition in after)
        case _:
            return


def _holder(change: Insert) -> Values:
    return None if change.partition is None else change.partition.values


def _without(event: Event, removed: set[Values], refilled: set[Values]) -> Event | None:
    """Return an event without partitions that are dropped later, or nothing when its rows are replaced later."""
    change = event.change
    match change:
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
        case _:
            return event
