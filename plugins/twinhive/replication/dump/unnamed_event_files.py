"""Files that events bring and do not name: what lies in nested directories, and what a new location holds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    CreateTable,
    DropPartitions,
    DropTable,
    Event,
    EventFile,
    Insert,
    NoContent,
    RenamePartition,
)


@dataclass(frozen=True)
class Unnamed:
    """Files of a table (`partition` is '') or of one of its partitions, as of an event that does not name them."""

    event_id: int
    partition: str
    files: tuple[EventFile, ...]


def with_unnamed(event: Event, found: Iterable[Unnamed]) -> Event:
    """Return an event that names all its files: one that gave partitions another location named none."""
    files = {one.partition: one.files for one in found}
    if not files:
        return event
    change = event.change
    match change:
        case CreateTable():
            return replace(event, change=replace(change, files=(*change.files, *files.get("", ()))))
        case AddPartitions(table=table):
            keys = table.partition_keys
            added = (replace(one, files=(*one.files, *files.get(one.partition.name(keys), ()))) for one in change.added)
            return replace(event, change=replace(change, added=tuple(added)))
        case AlterPartitions(table=table):
            names = {one.name(table.partition_keys): one.values for one in change.after}
            moved = {values: files[name] for name, values in names.items() if name in files}
            return replace(event, change=replace(change, moved=moved))
        case DropTable() | AlterTable() | DropPartitions() | RenamePartition() | Insert() | NoContent():
            return event
        case _:
            assert_never(change)
