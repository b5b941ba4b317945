"""Why an event cannot be followed, and what a person can do about it."""

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import ActNow
from twinhive.core.model.next_steps import BOOTSTRAP_AGAIN, pass_over
from twinhive.core.model.text import Either, Text


class UnreadableEvent(ActNow):
    """Nobody can tell what an event has changed, until a person passes it over."""


def unreadable(row: EventRow, found: object, expected: object = "a message as Hive 4 writes it") -> UnreadableEvent:
    """Return the error for an event whose message cannot be read."""
    return UnreadableEvent(
        f"the message of event {row.event_id} ({row.event_type}) cannot be read",
        found=found,
        expected=expected,
        next_step=f"look at EVENT_ID {row.event_id} in the metastore's table NOTIFICATION_LOG; " + _ways_on(row),
    )


def unknown_type(row: EventRow) -> UnreadableEvent:
    """Return the error for an event of a type that this version does not know."""
    return UnreadableEvent(
        f"event {row.event_id} is of the type {row.event_type}, which this version of twinhive does not know",
        found=f"{row.event_type} of {row.database or 'no database'}{'.' + row.table if row.table else ''}",
        expected="an event type of Hive 4",
        next_step="use a version of twinhive that knows it, or find out what it changed; " + _ways_on(row),
    )


def _ways_on(row: EventRow) -> Text:
    return (
        Either("if the replica can do without it: " + pass_over(row.event_id) + "; if it cannot: ", "")
        + BOOTSTRAP_AGAIN
    )
