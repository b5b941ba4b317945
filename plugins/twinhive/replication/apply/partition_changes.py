"""Apply what happens to partitions: add, drop, alter, rename, append, replace, truncate."""

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.kinds import AddedPartition, Event, RenamePartition
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import join
from twinhive.core.model.marks import LAST_ID, STAMP
from twinhive.core.model.next_steps import resync
from twinhive.core.model.objects import Partition, Table
from twinhive.replication.apply.actions import Add, Drop, Edit, EditPartitions, Rows
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.file_moves import Contents
from twinhive.replication.apply.left_places import clear_way, is_moved_already
from twinhive.replication.apply.metadata_calls import (
    add_partitions,
    alter_partitions,
    drop_partitions,
    missing_partition,
    rename_partition,
)
from twinhive.replication.apply.table_changes import with_checksums
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.replica_locations import (
    partition_directory,
    with_source_place,
    without_statistics_claim,
)


class PartitionChanges:
    """Change partitions of one table, many of them in one call."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def add(self, what: Add) -> bool:
        """Add the partitions that are not at their events yet; False when all are."""
        target = self._target
        table = target.twin.existing(target.policy.on_replica(what.table.name))
        there = target.twin.partitions(table.name, list(what.added))
        new: list[Partition] = []
        altered: list[Partition] = []
        contents: list[Contents] = []
        for name, (event_id, added) in what.added.items():
            if target.twin.is_at(there[name], event_id):
                continue
            directory = self._directory(table, event_id, name)
            if directory is not None:
                target.placing.comes_from(directory, added.partition.location)
                contents.append((directory, tuple(added_files(added, event_id))))
            placed = self._placed(what.table, added.partition, directory, event_id)
            (new if there[name] is None else altered).append(placed)
        if contents:
            target.lease.confirm()
            target.placing.place_all(table.name, contents)
        add_partitions(target, table, new)
        alter_partitions(target, table, altered)
        return bool(new or altered)

    def edit(self, what: EditPartitions) -> bool:
        """Change partitions that are not at their events yet, in one call; False when all are."""
        target = self._target
        table = target.twin.existing(target.policy.on_replica(what.table.name))
        there = target.twin.partitions(table.name, list(what.edits))
        edits = {name: edit for name, edit in what.edits.items() if not target.twin.is_at(there[name], edit.event_id)}
        if not edits:
            return False
        for name in edits:
            if there[name] is None:
                raise missing_partition(target.policy, table.name, name)
        known = {name: partition for name, partition in there.items() if partition is not None}
        replaced, appended = self._replaced(table, edits), _appended(known, edits)
        if replaced:
            target.lease.confirm()
            target.placing.place_all(table.name, replaced)
        if appended:
            target.lease.confirm()
            target.placing.append_all(table.name, appended)
        altered = [self._edited(what.table, table, known[name], edit) for name, edit in edits.items()]
        alter_partitions(target, table, altered)
        return True

    def _edited(self, source: Table, table: Table, there: Partition, edit: Edit) -> Partition:
        location = there.location
        if edit.rows is Rows.REPLACE:
            location = self._directory(table, edit.rows_event, there.name(table.partition_keys))
        if isinstance(edit.after, Partition):
            return self._placed(source, edit.after, location, edit.event_id)
        marks = {STAMP: str(self._target.stamp(edit.event_id)), LAST_ID: str(edit.event_id)}
        parameters = without_statistics_claim({**there.parameters, **marks})
        return there.at(there.table, location).with_parameters(parameters)

    def drop(self, what: Drop, progress: Progress) -> bool:
        """Drop partitions in one call; False when all are gone, or are later ones of the same name."""
        target = self._target
        table = target.twin.existing(target.policy.on_replica(what.table.name))
        there = target.twin.partitions(table.name, list(what.dropped))
        names = [
            name
            for name, event_id in what.dropped.items()
            if there[name] is not None and not target.twin.is_at(there[name], event_id)
        ]
        if not names:
            return False
        progress.before_removal()
        drop_partitions(target, table, names)
        return True

    def rename_partition(self, change: RenamePartition, event: Event, progress: Progress) -> bool:
        """Rename a partition in one call. The metastore moves its files to the default place, which must be free."""
        target = self._target
        table = target.twin.existing(target.policy.on_replica(change.table.name))
        old_name, new_name = (p.name(table.partition_keys) for p in (change.before, change.after))
        there = target.twin.partitions(table.name, [old_name, new_name])
        if target.twin.is_at(there[new_name], event.event_id):
            return False
        old = there[old_name]
        if not table.kind.has_files:
            # A metastore refuses to rename what has no directory.
            progress.before_removal()
            drop_partitions(target, table, [old_name])
            add_partitions(target, table, [target.partition(change.after, None, event.event_id)])
            return True
        if old is None:
            raise missing_partition(target.policy, table.name, old_name)
        progress.before_removal()
        renamed = self._placed(change.table, change.after, old.location, event.event_id)
        place = join(self._location(table), new_name)
        if not is_moved_already(target, old, place):
            clear_way(target, table, place, event.event_id)
        rename_partition(target, table, old, renamed)
        return True

    def _placed(self, source: Table, partition: Partition, location: str | None, event_id: int) -> Partition:
        return with_source_place(self._target.partition(partition, location, event_id), source, partition)

    def _directory(self, table: Table, event_id: int, name: str) -> str | None:
        """Return a new directory for a partition's content, None for a view's, which has none."""
        if not table.kind.has_files:
            return None
        return partition_directory(self._location(table), event_id, name)

    def _replaced(self, table: Table, edits: dict[str, Edit]) -> list[Contents]:
        """Return the new directories of partitions whose rows are replaced, with their files."""
        found = (
            (self._directory(table, edit.rows_event, name), edit)
            for name, edit in edits.items()
            if edit.rows is Rows.REPLACE
        )
        replaced = [(directory, edit) for directory, edit in found if directory]
        for directory, edit in replaced:
            self._target.placing.comes_from(directory, getattr(edit.after, "location", None))
        return [(directory, tuple(with_checksums(edit.files))) for directory, edit in replaced]

    def _location(self, table: Table) -> str:
        if table.location is not None:
            return table.location
        raise ActNow(
            f"table {table.name} has partitions and no directory on {self._target.policy.replica.cluster}",
            found=f"a {table.kind.value} without a location",
            expected="the directory that the table was made with",
            next_step="resync the table: " + resync(self._target.policy.name, table.name.table),
        )


def added_files(added: AddedPartition, event_id: int) -> list[SourceFile]:
    """Return the files that an event adds with a partition."""
    return with_checksums(SourceFile.of_event(file, added.partition.location, event_id) for file in added.files)


def _appended(there: dict[str, Partition], edits: dict[str, Edit]) -> list[Contents]:
    """Return the present directories of partitions that rows are added to, with their files."""
    return [
        (there[name].location or "", tuple(with_checksums(edit.files)))
        for name, edit in edits.items()
        if edit.rows is Rows.APPEND and there[name].location
    ]
