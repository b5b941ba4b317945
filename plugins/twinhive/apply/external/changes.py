"""Choose who applies an event of an external table."""

from twinhive.apply.actions import Add, Drop, EditPartitions, EditTable, Single, What
from twinhive.apply.external.partitions import ExternalPartitions
from twinhive.apply.external.tables import ExternalTables
from twinhive.apply.external.target import ExternalTarget
from twinhive.apply.progress import Progress
from twinhive.model.changes.facts import table_structs
from twinhive.model.changes.kinds import (
    AddConstraints,
    Change,
    CreateTable,
    DeleteStatistics,
    DropConstraint,
    Event,
    UpdateStatistics,
)
from twinhive.model.external.pending import Detail
from twinhive.model.external.pending_changes import detailed, dropped


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
        for module in (self._tables, self._partitions):
            handler = module.handlers.get(type(event.change))
            if handler is not None:
                return handler(event, progress)
        change = event.change
        assert isinstance(change, Detail)
        record = self._pending.get(change.table)
        self._pending.put(detailed(record, change, event.event_id))
        return True

    def _waits(self, change: Change) -> bool:
        """True when a change speaks of a table or a partition that is not published yet."""
        match change:
            case UpdateStatistics(table=name, values=values) | DeleteStatistics(table=name, values=values):
                record = self._pending.get(name)
                return record.table is not None or any(one.thing.values == values for one in record.partitions.values())
            case AddConstraints(table=name) | DropConstraint(table=name):
                return self._pending.get(name).table is not None
            case _:
                return False  # of a database or a function
