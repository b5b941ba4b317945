"""Say which files an event brings."""

from collections.abc import Iterator

from twinhive.domain.changes import AddPartitions, CreateTable, Event, EventFile, Insert
from twinhive.domain.contents import SourceFile
from twinhive.domain.names import TableName
from twinhive.domain.objects import TableKind

Brought = tuple[TableName, str | None, SourceFile]
"""A table, the name of its partition (None: the table itself), and a file of that."""


def files_of(event: Event) -> Iterator[Brought]:
    """Yield the files that an event brings into managed tables, also those without a checksum."""
    change = event.change
    match change:
        case CreateTable(table=table) if table.kind is TableKind.MANAGED:
            yield from ((table.name, None, _file(file, table.location, event)) for file in change.files)
        case Insert(table=table) if table.kind is TableKind.MANAGED:
            holder = change.partition or table
            name = change.partition.name(table.partition_keys) if change.partition else None
            yield from ((table.name, name, _file(file, holder.location, event)) for file in change.files)
        case AddPartitions(table=table) if table.kind is TableKind.MANAGED:
            for added in change.added:
                name = added.partition.name(table.partition_keys)
                for file in added.files:
                    yield table.name, name, _file(file, added.partition.location, event)
        case _:
            return


def _file(file: EventFile, location: str | None, event: Event) -> SourceFile:
    return SourceFile.of_event(file, location, event.event_id)
