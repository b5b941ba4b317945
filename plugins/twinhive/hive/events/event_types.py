"""Which types of events the metastore writes, and what becomes of each: how it is decoded, or why it is left out.

The types are those of Hive 4 (`MessageBuilder`, with the irregular suffixes that the log stores).
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Self

from twinhive.core.model.changes.kinds import Change
from twinhive.hive.events import (
    constraint_messages,
    database_messages,
    partition_messages,
    statistics_messages,
    table_messages,
)
from twinhive.hive.events.fields import MessageFields

_TRANSACTION = "transactions stay at the source, because transactional tables are left out"
_COMPACTION = "a compaction rewrites the files of a transactional table, which is left out"
_RELOAD = "a reload tells caches to read a table again and changes nothing"
_SCHEMA_REGISTRY = "the schema registry is not replicated"
_CATALOG = "catalogs are not replicated, only databases of the catalog hive"
_CONNECTOR = "data connectors are not replicated"


class EventType(StrEnum):
    """What the column EVENT_TYPE says (Hive: `EventMessage.EventType`).

    becomes  what its message is decoded with, or the reason, for people, why its effect is not carried over
    """

    becomes: Callable[[MessageFields], Change] | str

    def __new__(cls, written: str, becomes: Callable[[MessageFields], Change] | str) -> Self:
        """Make a member whose text and value are what the log holds."""
        member = str.__new__(cls, written)
        member._value_, member.becomes = written, becomes
        return member

    CREATE_DATABASE = "CREATE_DATABASE", database_messages.create_database
    ALTER_DATABASE = "ALTER_DATABASE", database_messages.alter_database
    DROP_DATABASE = "DROP_DATABASE", database_messages.drop_database
    CREATE_FUNCTION = "CREATE_FUNCTION", database_messages.create_function
    DROP_FUNCTION = "DROP_FUNCTION", database_messages.drop_function
    CREATE_TABLE = "CREATE_TABLE", table_messages.create_table
    ALTER_TABLE = "ALTER_TABLE", table_messages.alter_table
    DROP_TABLE = "DROP_TABLE", table_messages.drop_table
    INSERT = "INSERT", table_messages.insert
    ADD_PARTITION = "ADD_PARTITION", partition_messages.add_partition
    ALTER_PARTITION = "ALTER_PARTITION", partition_messages.alter_partition
    ALTER_PARTITIONS = "ALTER_PARTITIONS", partition_messages.alter_partitions
    DROP_PARTITION = "DROP_PARTITION", partition_messages.drop_partition
    ADD_PRIMARYKEY = "ADD_PRIMARYKEY", constraint_messages.add_constraints("primary_key")
    ADD_FOREIGNKEY = "ADD_FOREIGNKEY", constraint_messages.add_constraints("foreign_key")
    ADD_UNIQUECONSTRAINT = "ADD_UNIQUECONSTRAINT", constraint_messages.add_constraints("unique")
    ADD_NOTNULLCONSTRAINT = "ADD_NOTNULLCONSTRAINT", constraint_messages.add_constraints("not_null")
    ADD_DEFAULTCONSTRAINT = "ADD_DEFAULTCONSTRAINT", constraint_messages.add_constraints("default")
    ADD_CHECKCONSTRAINT = "ADD_CHECKCONSTRAINT", constraint_messages.add_constraints("check")
    DROP_CONSTRAINT = "DROP_CONSTRAINT", constraint_messages.drop_constraint
    UPDATE_TABLE_STATISTICS = "UPDATE_TBL_COL_STAT_EVENT", statistics_messages.update_of_table
    UPDATE_PARTITION_STATISTICS = "UPDATE_PART_COL_STAT_EVENT", statistics_messages.update_of_partition
    UPDATE_MANY_STATISTICS = "UPDATE_PART_COL_STAT_EVENT_BATCH", statistics_messages.update_of_partition
    DELETE_TABLE_STATISTICS = "DELETE_TBL_COL_STAT_EVENT", statistics_messages.delete_of_table
    DELETE_PARTITION_STATISTICS = "DELETE_PART_COL_STAT_EVENT", statistics_messages.delete_of_partition
    OPEN_TXN = "OPEN_TXN", _TRANSACTION
    COMMIT_TXN = "COMMIT_TXN", _TRANSACTION
    ABORT_TXN = "ABORT_TXN", _TRANSACTION
    ALLOC_WRITE_ID_EVENT = "ALLOC_WRITE_ID_EVENT", _TRANSACTION
    ACID_WRITE_EVENT = "ACID_WRITE_EVENT", _TRANSACTION
    BATCH_ACID_WRITE_EVENT = "BATCH_ACID_WRITE_EVENT", _TRANSACTION
    COMMIT_COMPACTION_EVENT = "COMMIT_COMPACTION_EVENT", _COMPACTION
    RELOAD = "RELOAD", _RELOAD
    CREATE_ISCHEMA = "CREATE_ISCHEMA", _SCHEMA_REGISTRY
    ALTER_ISCHEMA = "ALTER_ISCHEMA", _SCHEMA_REGISTRY
    DROP_ISCHEMA = "DROP_ISCHEMA", _SCHEMA_REGISTRY
    ADD_SCHEMA_VERSION = "ADD_SCHEMA_VERSION", _SCHEMA_REGISTRY
    ALTER_SCHEMA_VERSION = "ALTER_SCHEMA_VERSION", _SCHEMA_REGISTRY
    DROP_SCHEMA_VERSION = "DROP_SCHEMA_VERSION", _SCHEMA_REGISTRY
    CREATE_CATALOG = "CREATE_CATALOG", _CATALOG
    ALTER_CATALOG = "ALTER_CATALOG", _CATALOG
    DROP_CATALOG = "DROP_CATALOG", _CATALOG
    CREATE_DATACONNECTOR = "CREATE_DATACONNECTOR", _CONNECTOR
    ALTER_DATACONNECTOR = "ALTER_DATACONNECTOR", _CONNECTOR
    DROP_DATACONNECTOR = "DROP_DATACONNECTOR", _CONNECTOR


KNOWN_TYPES: Mapping[str, EventType] = {one: one for one in EventType}
"""Every event type that `decode_event` does not refuse, by what the log holds."""

OF_FUNCTIONS = frozenset({EventType.CREATE_FUNCTION, EventType.DROP_FUNCTION})
"""What tells of functions: no table is changed by it."""

REASONS: Mapping[str, str] = {one: one.becomes for one in EventType if isinstance(one.becomes, str)}
"""Of those whose effect is not carried over, why."""
