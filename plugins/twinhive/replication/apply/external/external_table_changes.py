"""Apply what happens to external tables: metadata at once where the data is there, else to what waits for it."""

from twinhive.core.model.changes.kinds import AlterTable, CreateTable, DropTable, Event
from twinhive.core.model.objects import Table
from twinhive.core.model.thrift_objects import with_columns_of
from twinhive.replication.apply.actions import EditTable
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.external.pending_changes import (
    altered,
    columns_changed,
    created,
    dropped,
    is_past,
    renamed,
)
from twinhive.replication.apply.metadata_calls import alter_partitions, alter_table, remove_table
from twinhive.replication.apply.table_changes import came_into_scope
from twinhive.replication.replica.pending_tables import PendingTable


class ExternalTables:
    """Create, alter, drop, rename. A new table waits, and so does a table with a new location."""

    def __init__(self, external: ExternalTarget) -> None:
        self._external = external
        self._target = external.target
        self._pending = external.pending

    def edit(self, what: EditTable) -> bool:
        """Change one table; False when it is past the events. Rows are somebody else's."""
        after, event_id = what.edit.after, what.edit.event_id
        if not isinstance(after, Table):
            return True
        record = self._pending.get(after.name)
        if is_past(record.table, event_id):
            return False
        if what.edit.cascade:
            record = columns_changed(record, after, event_id)
        there = self._external.published(after.name)
        if record.table is None:
            there = self._external.existing(after)
            if self._target.twin.is_at(there, event_id):
                self._pending.put(record)
                return False
        placed = self._external.table(after, event_id)
        if record.table is None and there is not None and there.location == placed.location:
            self._pending.put(record)
            alter_table(self._target, there, placed, cascade=what.edit.cascade)
            return True
        if what.edit.cascade and there is not None:
            self._cascade(there, after, event_id)
        self._pending.put(altered(record, after, event_id))
        return True

    def _cascade(self, there: Table, after: Table, event_id: int) -> None:
        """Give published partitions new columns while their table waits for its new location."""
        target = self._target
        per_call = target.policy.options.partitions_per_call
        names = target.replica.partition_names(there.name) if there.partition_keys else []
        for start in range(0, len(names), per_call):
            some = target.replica.partitions(there.name, names[start : start + per_call])
            late = [one for one in some if not target.twin.is_at(one, event_id)]
            changed = [target.restamped(with_columns_of(one, after), event_id) for one in late]
            alter_partitions(target, there, changed)

    def create(self, change: CreateTable, event: Event) -> bool:
        """Let a new table wait for its data."""
        event_id = event.event_id
        record = self._pending.get(change.table.name)
        there = self._target.twin.table(self._target.policy.on_replica(change.table.name))
        if is_past(record.table, event_id) or self._target.twin.is_at(there, event_id):
            return False
        self._external.table(change.table, event_id)  # a place of nobody's is an error of this event
        self._pending.put(created(record, change.table, event_id, replaces=there is not None))
        return True

    def drop(self, change: DropTable, event: Event, progress: Progress) -> bool:
        """Drop a table, published or waiting; of one with purge the data goes too."""
        return self._take_away(change.table, event.event_id, progress, purges=change.table.purges)

    def _take_away(self, table: Table, event_id: int, progress: Progress, *, purges: bool) -> bool:
        record = self._pending.get(table.name)
        there = self._target.twin.table(self._target.policy.on_replica(table.name))
        if there is not None and self._target.twin.is_at(there, event_id):
            there = None
        after = dropped(record, event_id)
        if there is None and after == record:
            return False
        progress.before_removal()
        if purges:
            self._note_purge(table, record, there, event_id)
        self._pending.put(after)
        if there is not None:
            remove_table(self._target, there, progress)
        return True

    def _note_purge(self, table: Table, record: PendingTable, there: Table | None, event_id: int) -> None:
        places: list[str] = []
        if there is not None and there.is_external and there.partition_keys:
            places = [place for _, place in self._target.replica.partition_locations(there)]
        outside = self._external.locations_outside(table, record, places)
        self._external.note_purge(table.name, [table.location, *outside], event_id)

    def rename_table(self, change: AlterTable, event: Event, progress: Progress) -> bool:
        """Rename a table, and what waits of it; its data stays where it is."""
        target, policy, event_id = self._target, self._target.policy, event.event_id
        before, after = change.before.name, change.after.name
        if not policy.follows(after):
            return self._take_away(change.before, event_id, progress, purges=False)
        is_there = target.twin.is_at(target.twin.table(policy.on_replica(after)), event_id)
        is_done = is_there or is_past(self._pending.get(after).table, event_id)
        if not is_done and not policy.follows(before):
            raise came_into_scope(policy, after)
        if change.before.location != change.after.location:
            raise self._external.another_way(change.after, "got another name and another location at once")
        old = self._pending.get(before)
        if not is_done and old.table is None:
            self._external.existing(change.before)
        progress.before_removal()
        self._remove_replaced(old, progress)
        there = None if is_there else self._external.published(before)
        self._rename_record(old, change.after, event_id)
        if there is not None and not target.twin.is_at(there, event_id):
            self._rename_published(there, change.after, event_id, waits=old.table is not None)
        return not is_done

    def _remove_replaced(self, old: PendingTable, progress: Progress) -> None:
        """Remove the table that what waits would have replaced: the source has none of that name any more."""
        name = self._target.policy.on_replica(old.name)
        if old.replaces and (there := self._target.twin.table(name)):
            remove_table(self._target, there, progress)

    def _rename_record(self, old: PendingTable, after: Table, event_id: int) -> None:
        left, new = renamed(old, self._pending.get(after.name), after, event_id)
        self._pending.put(left)
        self._pending.put(new)
        # At once: who comes next under the old name must not overwrite what is not written under the new one.
        self._pending.flush()

    def _rename_published(self, there: Table, after: Table, event_id: int, *, waits: bool) -> None:
        target = self._target
        named = target.table(after, there.location, event_id)
        if waits:
            # Only its name changes: the rest is of the new location.
            named = target.restamped(there.at(named.name, there.location), event_id)
        alter_table(target, there, named)
        # The metastore rewrites what its partitions say of their table.
        target.twin.forget_table(named.name)
