"""Choose who applies an event of an external table."""

from typing import assert_never

from twinhive.core.model.changes.affected_objects import table_structs
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DeleteStatistics,
    DetailChange,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    NoContent,
    RenamePartition,
    UpdateStatistics,
)
from twinhive.replication.apply.actions import Add, Drop, EditPartitions, EditTable, Single, What
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.external.external_partition_changes import ExternalPartitions
from twinhive.replication.apply.external.external_table_changes import ExternalTables
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.external.pending_changes import detailed, dropped


class ExternalChanges:
    """Take the actions of external tables, and what is said of tables and partitions that wait."""

    def __init__(self, external: ExternalTarget) -> None:
        self._pending = external.pending
        self._tables = ExternalTables(external)
        self._partitions = ExternalPartitions(external)

    def takes(self, what: What) -> bool:
        """True for an action that does not concern what the replica holds of managed tables."""
        if not isinstance(what, Single):
            return what.table.is_external
        change = what.event.change
        tables = table_structs(change)
        return tables[-1].is_external if tables else self._waits(change)

    def change(self, what: What, progress: Progress) -> bool:
        """Apply an action; False when what it changes is past it."""
        match what:
            case EditTable():
                return self._tables.edit(what)
            case EditPartitions():
                return self._partitions.edit(what)
            case Add():
                return self._partitions.add(what)
            case Drop():
                return self._partitions.drop(what, progress)
            case Single(event=event):
                return self._single(event, progress)

    def make_way(self, event: Event) -> None:
        """Let nothing wait under a name that a table of another kind gets."""
        if isinstance(event.change, CreateTable):
            self._pending.put(dropped(self._pending.get(event.change.table.name), event.event_id))

    def _single(self, event: Event, progress: Progress) -> bool:
        match change := event.change:
            case CreateTable():
                return self._tables.create(change, event)
            case DropTable():
                return self._tables.drop(change, event, progress)
            case AlterTable():
                return self._tables.rename_table(change, event, progress)
            case RenamePartition():
                return self._partitions.rename_partition(change, event, progress)
            case DetailChange():
                self._pending.put(detailed(self._pending.get(change.table), change, event.event_id))
                return True
            case NoContent():
                raise AssertionError(f"{event} is of no table, and not for external ones")
            case Insert() | AddPartitions() | DropPartitions() | AlterPartitions():
                raise AssertionError(f"{event} is joined with others before it is applied")
            case _:
                assert_never(change)

    def _waits(self, change: Change) -> bool:
        """True when a change speaks of a table or a partition that is not published yet."""
        match change:
            case UpdateStatistics(table=name, values=values) | DeleteStatistics(table=name, values=values):
                record = self._pending.get(name)
                return record.table is not None or any(one.thing.values == values for one in record.partitions.values())
            case DetailChange():
                return self._pending.get(change.table).table is not None
            case NoContent():
                return False
            case CreateTable() | DropTable() | AlterTable() | Insert():
                return False  # they tell their table
            case AddPartitions() | DropPartitions() | AlterPartitions() | RenamePartition():
                return False
            case _:
                assert_never(change)
