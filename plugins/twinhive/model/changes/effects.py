"""Say in words what events change: a verb, a kind of object, and its name."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from twinhive.model.changes.kinds import (
    AddConstraints,
    AddPartitions,
    AlterDatabase,
    AlterPartitions,
    AlterTable,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    DeleteStatistics,
    DropConstraint,
    DropDatabase,
    DropFunction,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    RenamePartition,
    UpdateStatistics,
)
from twinhive.model.names import partition_name
from twinhive.model.objects import Table
from twinhive.model.policy import Policy

Effect = tuple[str, str, str]


def effects_of(policy: Policy, event: Event) -> list[Effect]:
    """Return what a replicated event changes on the replica; one of many partitions has as many effects."""
    change = event.change
    if isinstance(change, AlterTable) and not policy.follows(change.after.name):
        return [("drop", "tables", str(change.before.name))]
    return list(_EFFECTS[type(change)](change))


def _alter_table(change: AlterTable) -> Iterator[Effect]:
    renamed = f"{change.before.name} to {change.after.name}" if change.renames else str(change.after.name)
    yield "truncate" if change.truncates else "alter", "tables", renamed


def _add_partitions(change: AddPartitions) -> Iterator[Effect]:
    return (("create", "partitions", _of(change.table, one.partition.values)) for one in change.added)


def _drop_partitions(change: DropPartitions) -> Iterator[Effect]:
    return (("drop", "partitions", _of(change.table, values)) for values in change.values)


def _alter_partitions(change: AlterPartitions) -> Iterator[Effect]:
    for partition in change.after:
        rows = "overwrite" if partition.values in change.moved else "alter"
        yield "truncate" if change.truncates else rows, "partitions", _of(change.table, partition.values)


def _rename_partition(change: RenamePartition) -> Iterator[Effect]:
    before, after = change.before.values, change.after.values
    yield "rename", "partitions", f"{_of(change.table, before)} to {_of(change.table, after)}"


def _insert(change: Insert) -> Iterator[Effect]:
    if change.table.is_external:
        return  # passes bring its rows
    verb = "overwrite" if change.replaces else "append to"
    if change.partition is None:
        yield verb, "tables", str(change.table.name)
    else:
        yield verb, "partitions", _of(change.table, change.partition.values)


def _of(table: Table, values: tuple[str, ...]) -> str:
    return f"{table.name} {partition_name(table.partition_keys, values)}"


def _simply(verb: str, what: str, name: Callable[[Any], object]) -> Callable[[Any], Iterator[Effect]]:
    def effects(change: Any) -> Iterator[Effect]:
        yield verb, what, str(name(change))

    return effects


_EFFECTS: Mapping[type, Callable[[Any], Iterator[Effect]]] = {
    CreateDatabase: _simply("alter", "databases", lambda change: change.database.name),
    AlterDatabase: _simply("alter", "databases", lambda change: change.after.name),
    DropDatabase: _simply("stop at", "dropped databases", lambda change: change.name),
    CreateTable: _simply("create", "tables", lambda change: change.table.name),
    DropTable: _simply("drop", "tables", lambda change: change.table.name),
    AlterTable: _alter_table,
    AddPartitions: _add_partitions,
    DropPartitions: _drop_partitions,
    AlterPartitions: _alter_partitions,
    RenamePartition: _rename_partition,
    Insert: _insert,
    CreateFunction: _simply("create", "functions", lambda change: change.function.name),
    DropFunction: _simply("drop", "functions", lambda change: change.name),
    AddConstraints: _simply("create", "constraints", lambda change: f"{change.kind} of {change.table}"),
    DropConstraint: _simply("drop", "constraints", lambda change: f"{change.name} of {change.table}"),
    UpdateStatistics: _simply("alter", "statistics", lambda change: change.table),
    DeleteStatistics: _simply("alter", "statistics", lambda change: change.table),
}
