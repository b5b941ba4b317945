"""Say which files an event brings."""

from collections.abc import Iterator

from twinhive.domain.changes import AddPartitions, AlterPartitions, Change, CreateTable, Event, Files, Insert
from twinhive.domain.contents import SourceFile
from twinhive.domain.names import TableName
from twinhive.domain.objects import Partition, Table, TableKind

Brought = tuple[TableName, str | None, SourceFile]
"""A table, the name of its partition (None: the table itself), and a file of that."""


def files_of(event: Event) -> Iterator[Brought]:
    """Yield the files that an event brings into managed tables, also those without a checksum."""
    table = getattr(event.change, "table", None)
    if not isinstance(table, Table) or table.kind is not TableKind.MANAGED:
        return
    for holder, files in _holders(event.change):
        name = holder.name(table.partition_keys) if isinstance(holder, Partition) else None
        for file in files:
            yield table.name, name, SourceFile.of_event(file, holder.location, event.event_id)


def _holders(change: Change) -> Iterator[tuple[Table | Partition, Files]]:
    """Yield the tables and partitions that get files."""
    match change:
        case CreateTable(table=table, files=files):
            yield table, files
        case Insert(table=table, partition=partition, files=files):
            yield partition or table, files
        case AddPartitions(added=added):
            yield from ((one.partition, one.files) for one in added)
        case AlterPartitions(after=after, moved=moved):
            yield from ((one, moved.get(one.values, ())) for one in after)
        case _:
            return
