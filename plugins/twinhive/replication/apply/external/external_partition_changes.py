"""Apply what happens to partitions of external tables: each waits for its own data."""

from collections.abc import Iterable
from dataclasses import replace

from twinhive.core.model.changes.kinds import Event, RenamePartition
from twinhive.core.model.objects import Partition, Table
from twinhive.replication.apply.actions import Add, Drop, EditPartitions
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.external.pending_changes import (
    is_past,
    partition_renamed,
    partitions_added,
    partitions_altered,
    partitions_dropped,
)
from twinhive.replication.apply.metadata_calls import (
    add_partitions,
    alter_partitions,
    drop_partitions,
    missing_partition,
    rename_partition,
)
from twinhive.replication.replica.pending_tables import PendingTable


class ExternalPartitions:
    """Add, alter, drop, rename. A partition of a table that waits itself waits with it."""

    def __init__(self, external: ExternalTarget) -> None:
        self._external = external
        self._target = external.target
        self._pending = external.pending

    def add(self, what: Add) -> bool:
        """Add partitions that are not at their events yet, those without data to what waits; False when all are."""
        record, there = self._state(what.table)
        known = self._published(there, what.added)
        now: list[Partition] = []
        later: dict[str, tuple[Partition, int]] = {}
        for name, (event_id, added) in what.added.items():
            if is_past(record.partitions.get(name), event_id) or self._target.twin.is_at(known.get(name), event_id):
                continue
            placed = self._external.partition(added.partition, name, event_id)
            waits = record.table is not None or name in record.partitions or known.get(name) is not None
            if not waits and self._external.is_ready(added.partition.location, event_id):
                now.append(placed)
            else:
                later[name] = (added.partition, event_id)
        self._pending.put(partitions_added(record, later))
        if there is not None:
            add_partitions(self._target, there, now)
        return bool(now or later)

    def edit(self, what: EditPartitions) -> bool:
        """Change partitions that are not at their events yet; False when all are. Rows are somebody else's."""
        record, there = self._state(what.table)
        after = {name: edit for name, edit in what.edits.items() if isinstance(edit.after, Partition)}
        known = self._published(there, after)
        now: list[Partition] = []
        later: dict[str, tuple[Partition, int]] = {}
        for name, edit in after.items():
            assert isinstance(edit.after, Partition)
            if is_past(record.partitions.get(name), edit.event_id):
                continue
            published = None if name in record.partitions else known.get(name)
            if name not in record.partitions and published is None:
                raise missing_partition(self._target.policy, self._target.policy.on_replica(what.table.name), name)
            if self._target.twin.is_at(published, edit.event_id):
                continue
            placed = self._external.partition(edit.after, name, edit.event_id)
            if published is not None and published.location == placed.location:
                now.append(placed)
            else:
                later[name] = (edit.after, edit.event_id)
        self._pending.put(partitions_altered(record, later))
        if there is not None:
            alter_partitions(self._target, there, now)
        return bool(now or later) or not after

    def drop(self, what: Drop, progress: Progress) -> bool:
        """Drop partitions, published and waiting; False when all are gone, or are later ones of the same name."""
        record, there = self._state(what.table)
        known = {
            name: partition
            for name, partition in self._published(there, what.dropped).items()
            if partition is not None and not self._target.twin.is_at(partition, what.dropped[name])
        }
        after = partitions_dropped(record, what.dropped)
        if not known and after == record:
            return False
        progress.before_removal()
        if what.table.purges:
            self._note_purge(what, record, known)
        self._pending.put(after)
        if there is not None and known:
            drop_partitions(self._target, there, sorted(known))
        return True

    def _note_purge(self, what: Drop, record: PendingTable, known: dict[str, Partition]) -> None:
        gone = {name: waiting for name, waiting in record.partitions.items() if name in what.dropped}
        places = [partition.location for partition in known.values()]
        locations = self._external.locations_outside(what.table, PendingTable(record.name, None, gone), places)
        self._external.note_purge(what.table.name, locations, max(what.dropped.values()))

    def rename_partition(self, change: RenamePartition, event: Event, progress: Progress) -> bool:
        """Rename a partition, published or waiting; its data stays where it is (Hive 4, HiveAlterHandler)."""
        target, event_id = self._target, event.event_id
        record, there = self._state(change.table)
        keys = change.table.partition_keys
        old_name, new_name = change.before.name(keys), change.after.name(keys)
        known = self._published(there, [old_name, new_name])
        is_done = target.twin.is_at(known.get(new_name), event_id) or is_past(record.partitions.get(new_name), event_id)
        old = None if target.twin.is_at(known.get(old_name), event_id) else known.get(old_name)
        after = partition_renamed(record, old_name, new_name, change.after, event_id)
        if old is None and after == record:
            if is_done:
                return False
            raise missing_partition(target.policy, target.policy.on_replica(change.table.name), old_name)
        progress.before_removal()
        self._pending.put(after)
        if there is not None and old is not None:
            # Of one that waits for a new location, only the name changes here: the rest is of that location.
            whole = target.partition(change.after, old.location, event_id)
            named = target.restamped(replace(old, values=change.after.values), event_id)
            rename_partition(target, there, old, named if new_name in after.partitions else whole)
        return True

    def _state(self, table: Table) -> tuple[PendingTable, Table | None]:
        """Return what waits of a table, and the table if it is published. Raises Missing when it is neither."""
        record, there = self._pending.get(table.name), self._external.published(table.name)
        if record.table is None:
            there = self._external.existing(table)
        return record, there

    def _published(self, there: Table | None, names: Iterable[str]) -> dict[str, Partition | None]:
        return self._target.twin.partitions(there.name, list(names)) if there is not None else {}
