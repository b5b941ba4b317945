"""What a change reads like: what it is about, and what it changes on the replica."""

from collections.abc import Iterator
from typing import assert_never

from twinhive.core.model.changes.affected_objects import (
    files_brought,
    names_of,
    partitions_named,
    table_structs,
    tables_of,
)
from twinhive.core.model.changes.kinds import (
    AddConstraints,
    AddPartitions,
    AlterDatabase,
    AlterPartitions,
    AlterTable,
    Change,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    DatabaseChange,
    DeleteStatistics,
    DetailChange,
    DropConstraint,
    DropDatabase,
    DropFunction,
    DropPartitions,
    DropTable,
    Event,
    FunctionChange,
    Insert,
    NotReplicated,
    OfDatabases,
    OfDetails,
    OfFunctions,
    OfPartitions,
    RenamePartition,
    UpdateStatistics,
)
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.names import partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import Policy

EffectWords = tuple[str, str, str]
"""A verb, a kind of object, and its name."""

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
        case CreateTable() | DropTable() | AlterTable() | Insert() | DetailChange() | NotReplicated():
            return _of_tables(change)
        case AddPartitions() | DropPartitions() | AlterPartitions() | RenamePartition():
            return _of_tables(change)
        case _:
            assert_never(change)


def _of_tables(change: Change) -> str:
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
    return f" ({', '.join(first_of(names, _SHOWN))})" if names else ""


def files_named(change: Change) -> int:
    """Return how many files an event names."""
    return sum(len(files) for _, files in files_brought(change))


def effects_of(policy: Policy, event: Event) -> list[EffectWords]:
    """Return what a replicated event changes on the replica; one of many partitions has as many effects."""
    change = event.change
    if isinstance(change, AlterTable) and not policy.follows(change.after.name):
        return [("drop", "tables", str(change.before.name))]
    return list(_effects(change))


def _effects(change: Change) -> Iterator[EffectWords]:
    match change:
        case NotReplicated():
            return
        case DatabaseChange() | FunctionChange():
            yield _of_database(change)
        case DetailChange():
            yield _of_detail(change)
        case AddPartitions() | DropPartitions() | AlterPartitions() | RenamePartition():
            yield from _of_partitions(change)
        case CreateTable(table) | DropTable(table):
            yield "create" if isinstance(change, CreateTable) else "drop", "tables", str(table.name)
        case AlterTable(before, after):
            renamed = f"{before.name} to {after.name}" if change.renames else str(after.name)
            yield "truncate" if change.truncates else "alter", "tables", renamed
        case Insert():
            yield from _rows(change)
        case _:
            assert_never(change)


def _of_database(change: OfDatabases | OfFunctions) -> EffectWords:
    match change:
        case CreateDatabase(database) | AlterDatabase(after=database):
            return "alter", "databases", database.name
        case DropDatabase(name):
            return "stop at", "dropped databases", name
        case CreateFunction(function):
            return "create", "functions", function.name
        case DropFunction(_, name):
            return "drop", "functions", name
        case _:
            assert_never(change)


def _of_detail(change: OfDetails) -> EffectWords:
    match change:
        case AddConstraints():
            return "create", "constraints", f"{change.kind} of {change.table}"
        case DropConstraint():
            return "drop", "constraints", f"{change.name} of {change.table}"
        case UpdateStatistics() | DeleteStatistics():
            return "alter", "statistics", str(change.table)
        case _:
            assert_never(change)


def _of_partitions(change: OfPartitions) -> Iterator[EffectWords]:
    match change:
        case AddPartitions(table):
            yield from (("create", "partitions", _of(table, one.partition.values)) for one in change.added)
        case DropPartitions(table, dropped):
            yield from (("drop", "partitions", _of(table, values)) for values in dropped)
        case AlterPartitions(table):
            for partition in change.after:
                rows = "overwrite" if partition.values in change.moved else "alter"
                yield "truncate" if change.truncates else rows, "partitions", _of(table, partition.values)
        case RenamePartition(table, old, new):
            yield "rename", "partitions", f"{_of(table, old.values)} to {_of(table, new.values)}"
        case _:
            assert_never(change)


def _rows(change: Insert) -> Iterator[EffectWords]:
    if change.table.is_external:
        return  # passes bring its rows
    verb = "overwrite" if change.replaces else "append to"
    if change.partition is None:
        yield verb, "tables", str(change.table.name)
    else:
        yield verb, "partitions", _of(change.table, change.partition.values)


def _of(table: Table, values: tuple[str, ...]) -> str:
    return f"{table.name} {partition_name(table.partition_keys, values)}"


def _name(table: Table, partition: Partition) -> str:
    return partition.name(table.partition_keys)
