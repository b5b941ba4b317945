"""Say in a few words what a change is about."""

from twinhive.domain.changes import (
    AddConstraints,
    AddPartitions,
    AlterDatabase,
    AlterPartitions,
    Change,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    DeleteStatistics,
    DropConstraint,
    DropDatabase,
    DropFunction,
    DropPartitions,
    Insert,
    RenamePartition,
    UpdateStatistics,
    tables_of,
)
from twinhive.domain.names import partition_name
from twinhive.domain.objects import Partition, Table

_SHOWN = 3


def subject(change: Change) -> str:
    """Return the object that a change is about: a database, a function, a table with partitions; '' for none."""
    match change:
        case CreateDatabase(database) | AlterDatabase(after=database):
            return f"database {database.name}"
        case DropDatabase(name):
            return f"database {name}"
        case CreateFunction(function):
            return f"function {function.database}.{function.name}"
        case DropFunction(database, name):
            return f"function {database}.{name}"
    tables = " -> ".join(map(str, tables_of(change)))
    return f"{tables}{_details(change)}"


def _details(change: Change) -> str:
    """Return the partitions, or what else tells one change of a table from another."""
    match change:
        case AddConstraints(kind=said) | DropConstraint(name=said):
            return f" ({said})"
        case UpdateStatistics(values=values) | DeleteStatistics(values=values) if values:
            return f" ({'/'.join(values)})"
        case RenamePartition(table, before, after):
            return f" ({_name(table, before)} -> {_name(table, after)})"
    names = _partitions(change)
    more = [f"and {len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else []
    return f" ({', '.join([*names[:_SHOWN], *more])})" if names else ""


def _partitions(change: Change) -> list[str]:
    match change:
        case AddPartitions(table, added):
            return [_name(table, one.partition) for one in added]
        case AlterPartitions(table, after):
            return [_name(table, one) for one in after]
        case DropPartitions(table, values):
            return [partition_name(table.partition_keys, one) for one in values]
        case Insert(table, partition) if partition is not None:
            return [_name(table, partition)]
    return []


def files_named(change: Change) -> int:
    """Return how many files an event names."""
    match change:
        case CreateTable(files=files) | Insert(files=files):
            return len(files)
        case AddPartitions(added=added):
            return sum(len(one.files) for one in added)
    return 0


def _name(table: Table, partition: Partition) -> str:
    return partition.name(table.partition_keys)
