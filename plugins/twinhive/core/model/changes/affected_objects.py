"""Answer what a change is about: for every kind of change, its tables, partitions and files.

Each question names all kinds, so that the type checker refuses a new kind that one of them forgets.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DeleteStatistics,
    DetailChange,
    DropConstraint,
    DropPartitions,
    DropTable,
    Files,
    Insert,
    NoContent,
    NotReplicated,
    RenamePartition,
    UpdateStatistics,
)
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table

PartitionValues = tuple[str, ...]
"""A partition by its values, in the order of the table's partition keys."""


def tables_of(change: Change) -> tuple[TableName, ...]:
    """Return the names of the tables that a change concerns: a rename two, a database or a function none."""
    match change:
        case DetailChange():
            return (change.table,)
        case NotReplicated(table=name):
            return (name,) if name else ()
        case _:
            return tuple(dict.fromkeys(table.name for table in table_structs(change)))


def table_structs(change: Change) -> tuple[Table, ...]:
    """Return the tables as a change tells them, as they are after it last: an alteration tells two."""
    match change:
        case AlterTable(before=before, after=after):
            return (before, after)
        case CreateTable(table=table) | DropTable(table=table) | Insert(table=table):
            return (table,)
        case AddPartitions(table=table) | DropPartitions(table=table):
            return (table,)
        case AlterPartitions(table=table) | RenamePartition(table=table):
            return (table,)
        case NoContent():
            return ()
        case _:
            assert_never(change)


def partitions_named(change: Change) -> tuple[PartitionValues, ...]:
    """Return the partitions that a change names by their values, a renamed one before and after."""
    match change:
        case DropPartitions(values=values):
            return values
        case RenamePartition(before=before, after=after):
            return (before.values, after.values)
        case UpdateStatistics(values=one) | DeleteStatistics(values=one):
            return () if one is None else (one,)
        case _:
            return tuple(one.values for one in partitions_told(change))


def names_of(table: Table, partitions: Iterable[PartitionValues]) -> tuple[str, ...]:
    """Return partitions of a table by name, as directories are named."""
    return tuple(partition_name(table.partition_keys, values) for values in partitions)


def partitions_told(change: Change) -> tuple[Partition, ...]:
    """Return the partitions that a change tells as a whole, as they are after it."""
    match change:
        case AddPartitions(added=added):
            return tuple(one.partition for one in added)
        case AlterPartitions(after=after):
            return after
        case RenamePartition(after=renamed):
            return (renamed,)
        case Insert(partition=partition):
            return () if partition is None else (partition,)
        case CreateTable() | DropTable() | AlterTable() | DropPartitions() | NoContent():
            return ()
        case _:
            assert_never(change)


def files_brought(change: Change) -> Iterator[tuple[Table | Partition, Files]]:
    """Yield the tables and partitions to which a change brings files, each with these."""
    match change:
        case CreateTable(table=table, files=files):
            yield table, files
        case Insert(table=table, partition=partition, files=files):
            yield partition or table, files
        case AddPartitions(added=added):
            yield from ((one.partition, one.files) for one in added)
        case AlterPartitions(after=after, moved=moved):
            yield from ((one, moved.get(one.values, ())) for one in after)
        case DropTable() | AlterTable() | DropPartitions() | RenamePartition() | NoContent():
            return
        case _:
            assert_never(change)


def renaming(change: Change) -> AlterTable | None:
    """Return a change by which a table got another name, in another database maybe."""
    match change:
        case AlterTable():
            return change if change.renames else None
        case CreateTable() | DropTable() | Insert():
            return None
        case AddPartitions() | DropPartitions() | AlterPartitions() | RenamePartition():
            return None
        case NoContent():
            return None
        case _:
            assert_never(change)


def unlinked(change: Change) -> TableName | None:
    """Return the table to which foreign keys of others are gone, or under another name, after a change.

    No event says so of them: a drop of the table or of a key, a rename, a column that changes.
    """
    match change:
        case DropTable(table=table):
            return table.name
        case DropConstraint(table=name):
            return name
        case AlterTable(before=before):
            return before.name if change.renames or change.changes_columns else None
        case CreateTable() | AddPartitions() | DropPartitions() | AlterPartitions() | RenamePartition() | Insert():
            return None
        case NoContent():
            return None
        case _:
            assert_never(change)
