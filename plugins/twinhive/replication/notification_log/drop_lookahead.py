"""Look on in the log from where a range ends in drops: they may be what a drop of the database has dropped."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.hive.events.database_drop import drops_database, drops_object, last_drops_begin, without_dropped
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.replication.dump.event_range import EventRange

_MOST_BETWEEN = 10_000
"""Rows out of scope in a row, after which no drop of the database is looked for: it is written with its drops."""
IsTold = Callable[[EventRow], bool]
"""Tells whether a row of the log is in scope. Raises UnreadableEvent."""


@dataclass(frozen=True)
class WhatFollows:
    """What comes after a range that ends in drops.

    drop          the drop of the database that they are part of, None where they are part of none
    nothing_till  up to which event nothing in scope follows the range
    """

    drop: EventRow | None
    nothing_till: Position


def with_drop_ahead(taken: EventRange, coming: Iterable[EventRow], is_told: IsTold) -> EventRange:
    """Return a range that holds the drop of the database in the place of what that has dropped.

    One that was cut within such drops ends with the drop of the database. One that ends in other drops takes in what
    lies between it and the next event in scope, so that this is read once.
    """
    rows = without_dropped(taken.rows)
    begin = last_drops_begin(rows)
    if begin == len(rows):
        return replace(taken, rows=rows)
    ahead = look_on(taken.end, coming, is_told)
    if ahead.drop is None:
        return EventRange(taken.begin, ahead.nothing_till, rows)
    return EventRange(taken.begin, ahead.drop.position, (*rows[:begin], ahead.drop))


def look_on(end: Position, coming: Iterable[EventRow], is_told: IsTold) -> WhatFollows:
    """Read rows after an event until one in scope is no drop of a table or function; one that is unreadable is none."""
    passed: EventRow | None = None
    drop: EventRow | None = None
    in_drops, between = False, 0
    try:
        for row in coming:
            between += 1
            if is_told(row):
                between = 0
                drop = row if drops_database(row) else None
                if not drops_object(row):
                    break
                in_drops = True
            elif not in_drops:
                passed = row
            if between >= _MOST_BETWEEN:
                break
    except UnreadableEvent:
        drop = None
    return WhatFollows(drop, passed.position if passed else end)
