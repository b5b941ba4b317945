"""Which files an event brings."""

from collections.abc import Iterator

from twinhive.core.model.changes.affected_objects import files_brought, table_structs
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition

Brought = tuple[TableName, str | None, SourceFile]
"""A table, the name of its partition (None: the table itself), and a file of that."""


def files_of(event: Event) -> Iterator[Brought]:
    """Yield the files that an event brings into managed tables, also those without a checksum."""
    found = table_structs(event.change)
    table = found[-1] if found else None
    if table is None or not table.kind.has_logged_files:
        return
    for holder, files in files_brought(event.change):
        name = holder.name(table.partition_keys) if isinstance(holder, Partition) else None
        for file in files:
            yield table.name, name, SourceFile.of_event(file, holder.location, event.event_id)
