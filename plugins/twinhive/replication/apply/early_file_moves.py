"""Find what coming actions place out of sight: directories that readers see only after a later metastore call.

Directories of added partitions, of new tables and of replaced content carry their event's id, and
nothing registered uses them yet. So they can be filled for many actions at once, while what readers
see still changes one action at a time.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.kinds import CreateTable, Event
from twinhive.core.model.names import TableName
from twinhive.replication.apply.actions import Action, Add, Drop, Edit, EditPartitions, EditTable, Rows, Single
from twinhive.replication.apply.file_moves import Contents
from twinhive.replication.apply.partition_changes import added_files
from twinhive.replication.apply.table_changes import created_files, with_checksums
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.replica_locations import partition_directory, table_directory


class Ahead:
    """Look through a range of actions, in their order; what cannot be known before it is left out."""

    def __init__(self, target: Target) -> None:
        self._target = target
        # Where tables will be that the range itself creates; None for names that it takes away.
        self._coming: dict[TableName, str | None] = {}

    def contents(self, actions: Iterable[Action]) -> Iterator[Contents]:
        """Yield new directories with their files, of what is not on the replica yet."""
        for action in actions:
            match action.what:
                case Single(event=event):
                    yield from self._of_single(event)
                case Add(table=table) | EditPartitions(table=table) | EditTable(table=table) if table.is_external:
                    continue  # its files are somebody else's
                case Add() as add:
                    yield from self._of_add(add)
                case EditPartitions() as edit:
                    yield from self._of_partitions(edit)
                case EditTable() as edit:
                    yield from self._of_table(edit)
                case Drop():
                    continue
                case _:
                    assert_never(action.what)

    def _of_single(self, event: Event) -> Iterator[Contents]:
        target, change = self._target, event.change
        if not isinstance(change, CreateTable) or change.table.is_external:
            self._coming |= {target.on_replica(name): None for name in target.policy.followed(tables_of(change))}
            return
        name = target.policy.on_replica(change.table.name)
        if change.table.has_files and not target.twin.is_at(target.twin.known_table(name), event.event_id):
            directory = table_directory(target.root, name.table, event.event_id)
            self._coming[name] = directory
            yield directory, tuple(created_files(change, event.event_id))

    def _of_add(self, add: Add) -> Iterator[Contents]:
        table = self._target.policy.on_replica(add.table.name)
        location = self._location(table)
        for name, (event_id, added) in add.added.items():
            if location and not self._is_there(table, name, event_id):
                yield partition_directory(location, event_id, name), tuple(added_files(added, event_id))

    def _of_partitions(self, edit: EditPartitions) -> Iterator[Contents]:
        table = self._target.policy.on_replica(edit.table.name)
        location = self._location(table)
        for name, one in edit.edits.items():
            if location and one.rows is Rows.REPLACE and not self._is_there(table, name, one.event_id):
                yield partition_directory(location, one.rows_event, name), _files(one)

    def _of_table(self, edit: EditTable) -> Iterator[Contents]:
        target, one = self._target, edit.edit
        table = target.policy.on_replica(edit.table.name)
        if one.rows is not Rows.REPLACE or edit.table.partition_keys or not self._location(table):
            return
        if table in self._coming or not target.twin.is_at(target.twin.known_table(table), one.event_id):
            yield table_directory(target.root, table.table, one.rows_event), _files(one)

    def _location(self, table: TableName) -> str | None:
        """Return where a table will be, None when it is not known, or not ours."""
        if table in self._coming:
            return self._coming[table]
        found = self._target.twin.known_table(table)
        return found.location if found is not None and self._target.twin.stamp_of(found) is not None else None

    def _is_there(self, table: TableName, partition: str, event_id: int) -> bool:
        known = None if table in self._coming else self._target.twin.known_partition(table, partition)
        return self._target.twin.is_at(known, event_id)


def _files(edit: Edit) -> tuple[SourceFile, ...]:
    return tuple(with_checksums(edit.files))
