"""Take the files out of events, for a replica that is loaded without data (`hive.repl.dump.metadata.only`)."""

from dataclasses import replace
from typing import assert_never

from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    CreateTable,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    NoContent,
    RenamePartition,
)


def without_files(event: Event) -> Event | None:
    """Return an event as it is applied where no files are; None for one that brings nothing but files."""
    change = event.change
    match change:
        case Insert():
            return None
        case CreateTable():
            return replace(event, change=replace(change, files=()))
        case AddPartitions():
            added = tuple(replace(one, files=()) for one in change.added)
            return replace(event, change=replace(change, added=added))
        case AlterPartitions():
            return replace(event, change=replace(change, moved={}))
        case DropTable() | AlterTable() | DropPartitions() | RenamePartition() | NoContent():
            return event
        case _:
            assert_never(change)
