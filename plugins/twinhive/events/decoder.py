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
from twinhive.events.fields import MessageFields
from twinhive.events.message import decode_message
from twinhive.events.not_replicated import REASONS
from twinhive.model.changes.events import EventRow
from twinhive.model.changes.kinds import Change, Event, NotReplicated
from twinhive.model.names import TableName

_DECODERS: Mapping[str, Callable[[MessageFields], Change]] = {
    "CREATE_DATABASE": database_messages.create_database,
    "ALTER_DATABASE": database_messages.alter_database,
    "DROP_DATABASE": database_messages.drop_database,
    "CREATE_FUNCTION": database_messages.create_function,
    "DROP_FUNCTION": database_messages.drop_function,
    "CREATE_TABLE": table_messages.create_table,
    "ALTER_TABLE": table_messages.alter_table,
    "DROP_TABLE": table_messages.drop_table,
    "INSERT": table_messages.insert,
    "ADD_PARTITION": partition_messages.add_partition,
    "ALTER_PARTITION": partition_messages.alter_partition,
    "ALTER_PARTITIONS": partition_messages.alter_partitions,
    "DROP_PARTITION": partition_messages.drop_partition,
    "ADD_PRIMARYKEY": constraint_messages.add_constraints("primary_key"),
    "ADD_FOREIGNKEY": constraint_messages.add_constraints("foreign_key"),
    "ADD_UNIQUECONSTRAINT": constraint_messages.add_constraints("unique"),
    "ADD_NOTNULLCONSTRAINT": constraint_messages.add_constraints("not_null"),
    "ADD_DEFAULTCONSTRAINT": constraint_messages.add_constraints("default"),
    "ADD_CHECKCONSTRAINT": constraint_messages.add_constraints("check"),
    "DROP_CONSTRAINT": constraint_messages.drop_constraint,
    "UPDATE_TBL_COL_STAT_EVENT": statistics_messages.update_of_table,
    "UPDATE_PART_COL_STAT_EVENT": statistics_messages.update_of_partition,
    "UPDATE_PART_COL_STAT_EVENT_BATCH": statistics_messages.update_of_partition,
    "DELETE_TBL_COL_STAT_EVENT": statistics_messages.delete_of_table,
    "DELETE_PART_COL_STAT_EVENT": statistics_messages.delete_of_partition,
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
