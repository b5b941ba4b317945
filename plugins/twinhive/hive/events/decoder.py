"""Decode rows of the notification log into typed changes.

A type that is not among the known ones is an error and never skipped: what it changed would be
missing on the replica without a word.
"""

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.changes.kinds import Change, Event, NotReplicated
from twinhive.core.model.names import TableName
from twinhive.hive.events.event_errors import unknown_type
from twinhive.hive.events.event_message import decode_message
from twinhive.hive.events.event_types import KNOWN_TYPES
from twinhive.hive.events.fields import MessageFields


def decode_event(row: EventRow) -> Event:
    """Return what an event says.

    Raises ActNow for a message that cannot be read and for a type that this version does not
    know. The messages of events that are not replicated are not opened.
    """
    return Event(row.position, row.event_type, _change(row))


def _change(row: EventRow) -> Change:
    known = KNOWN_TYPES.get(row.event_type)
    if known is None:
        raise unknown_type(row)
    if isinstance(known.becomes, str):
        return NotReplicated(_filed_under(row), known.becomes)
    return known.becomes(MessageFields(row, decode_message(row)))


def _filed_under(row: EventRow) -> TableName | None:
    return TableName(row.database.lower(), row.table.lower()) if row.database and row.table else None
