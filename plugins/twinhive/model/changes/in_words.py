"""Say in a few words what a change is about."""

from twinhive.model.changes.facts import files_brought, names_of, partitions_named, table_structs, tables_of
from twinhive.model.changes.kinds import (
    AddConstraints,
    AlterDatabase,
    Change,
    CreateDatabase,
    CreateFunction,
    DeleteStatistics,
    DropConstraint,
    DropDatabase,
    DropFunction,
    RenamePartition,
    UpdateStatistics,
)
from twinhive.model.objects import Partition, Table

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
    tables = table_structs(change)
    names = names_of(tables[-1], partitions_named(change)) if tables else ()
    more = [f"and {len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else []
    return f" ({', '.join([*names[:_SHOWN], *more])})" if names else ""


def files_named(change: Change) -> int:
    """Return how many files an event names."""
    return sum(len(files) for _, files in files_brought(change))


def _name(table: Table, partition: Partition) -> str:
    return partition.name(table.partition_keys)
