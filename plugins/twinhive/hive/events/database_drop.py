"""Tell what the drop of a database has dropped: an event for each function and table comes right before its own.

Nothing in these says so. What was dropped by hand right before counts as dropped by it, and stays too.
"""

from collections.abc import Iterable, Sequence

from twinhive.core.model.changes.events import EventRow
from twinhive.hive.events.event_types import EventType

_OF_OBJECTS = frozenset({EventType.DROP_TABLE, EventType.DROP_FUNCTION})


def drops_database(row: EventRow) -> bool:
    """True for the drop of a database."""
    return row.event_type == EventType.DROP_DATABASE


def drops_object(row: EventRow) -> bool:
    """True for a drop that may be part of the drop of the database."""
    return row.event_type in _OF_OBJECTS


def last_drops_begin(rows: Sequence[EventRow]) -> int:
    """Return where those drops begin that rows of one scope end with; how many rows there are when with none."""
    begin = len(rows)
    while begin and drops_object(rows[begin - 1]):
        begin -= 1
    return begin


def without_dropped(rows: Iterable[EventRow]) -> tuple[EventRow, ...]:
    """Leave out of rows of one scope what the drop of the database has dropped: its own event stands for that."""
    kept: list[EventRow] = []
    for row in rows:
        take(kept, row)
    return tuple(kept)


def take(kept: list[EventRow], row: EventRow) -> None:
    """Add the next row of one scope to those that are kept; the drop of the database replaces what it has dropped."""
    if drops_database(row):
        del kept[last_drops_begin(kept) :]
    kept.append(row)
