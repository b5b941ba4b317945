"""Decode rows of the notification log into typed changes.

The event types are those of Hive 4 (`MessageBuilder`, with the irregular suffixes that the log
stores). A type that is not among them is an error and never skipped: what it changed would be
missing on the replica without a word.
"""

from collections.abc import Callable, Mapping

from twinhive.events import (
    constraint_messages,
    database_messages,
    partition_messages,
    statistics_messages,
    table_messages,
)
from twinhive.events.event_errors import unknown_type
from twinhive.events.event_message import decode_message
from twinhive.events.fields import MessageFields
from twinhive.events.not_replicated import REASONS
from twinhive.model.changes.event_types import EventType
from twinhive.model.changes.events import EventRow
from twinhive.model.changes.kinds import Change, Event, NotReplicated
from twinhive.model.names import TableName

_DECODERS: Mapping[str, Callable[[MessageFields], Change]] = {
    EventType.CREATE_DATABASE: database_messages.create_database,
    EventType.ALTER_DATABASE: database_messages.alter_database,
    EventType.DROP_DATABASE: database_messages.drop_database,
    EventType.CREATE_FUNCTION: database_messages.create_function,
    EventType.DROP_FUNCTION: database_messages.drop_function,
    EventType.CREATE_TABLE: table_messages.create_table,
    EventType.ALTER_TABLE: table_messages.alter_table,
    EventType.DROP_TABLE: table_messages.drop_table,
    EventType.INSERT: table_messages.insert,
    EventType.ADD_PARTITION: partition_messages.add_partition,
    EventType.ALTER_PARTITION: partition_messages.alter_partition,
    EventType.ALTER_PARTITIONS: partition_messages.alter_partitions,
    EventType.DROP_PARTITION: partition_messages.drop_partition,
    EventType.ADD_PRIMARYKEY: constraint_messages.add_constraints("primary_key"),
    EventType.ADD_FOREIGNKEY: constraint_messages.add_constraints("foreign_key"),
    EventType.ADD_UNIQUECONSTRAINT: constraint_messages.add_constraints("unique"),
    EventType.ADD_NOTNULLCONSTRAINT: constraint_messages.add_constraints("not_null"),
    EventType.ADD_DEFAULTCONSTRAINT: constraint_messages.add_constraints("default"),
    EventType.ADD_CHECKCONSTRAINT: constraint_messages.add_constraints("check"),
    EventType.DROP_CONSTRAINT: constraint_messages.drop_constraint,
    EventType.UPDATE_TABLE_STATISTICS: statistics_messages.update_of_table,
    EventType.UPDATE_PARTITION_STATISTICS: statistics_messages.update_of_partition,
    EventType.UPDATE_MANY_STATISTICS: statistics_messages.update_of_partition,
    EventType.DELETE_TABLE_STATISTICS: statistics_messages.delete_of_table,
    EventType.DELETE_PARTITION_STATISTICS: statistics_messages.delete_of_partition,
}

KNOWN_TYPES = frozenset(_DECODERS) | frozenset(REASONS)
"""Every event type that `decode_event` does not refuse."""


def decode_event(row: EventRow) -> Event:
    """Return what an event says.

    Raises ActNow for a message that cannot be read and for a type that this version does not
    know. The messages of events that are not replicated are not opened.
    """
    return Event(row.position, row.event_type, _change(row))


def _change(row: EventRow) -> Change:
    if row.event_type in REASONS:
        return NotReplicated(_filed_under(row), REASONS[row.event_type])
    decode = _DECODERS.get(row.event_type)
    if decode is None:
        raise unknown_type(row)
    return decode(MessageFields(row, decode_message(row)))


def _filed_under(row: EventRow) -> TableName | None:
    return TableName(row.database.lower(), row.table.lower()) if row.database and row.table else None
