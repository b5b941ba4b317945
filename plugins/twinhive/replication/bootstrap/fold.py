"""Fold events into what was read of the source, so that it says what the source was after the last of them.

Seed 002, 'Bootstrap, Revisited', approach 2. Each event is an idempotent statement: it sets, adds or
removes what it names, whatever was read before it and nothing that was read after it. What the log
does not spell out is marked `unsure` and has to be read again with new bounds.

A bound is an event id taken before the reading, however long before. A table, the names of its
partitions and the partitions are read in this order, and files where their object says that they
are. A partition may be read again alone, and keep its list of files where its location is the same.
Events may be folded again that were folded before.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, assert_never

from twinhive.core.model.changes.affected_objects import unlinked
from twinhive.core.model.changes.contents import Content, PartitionState, Shard, SourceFile, TableState
from twinhive.core.model.changes.kinds import (
    AddConstraints,
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DropConstraint,
    DropPartitions,
    DropTable,
    Event,
    EventFile,
    Insert,
    NoContent,
    OfPartitions,
    RenamePartition,
)
from twinhive.core.model.constraints import referring
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table

T = TypeVar("T")


def fold(shard: Shard, events: Iterable[Event]) -> Shard:
    """Return the shard after the events, which come in the order of the log; the given shard stays as it is.

    Takes time in proportion to the events and to what the shard holds of the tables they name. A
    table that is renamed is there under its new name, whether or not that belongs to the shard.
    """
    folding = _Folding(shard)
    for event in events:
        folding.apply(event)
    return folding.result()


class _Folding:
    """Hold a shard while it changes.

    Tables and partitions are values that are replaced. Dictionaries are copied before their first
    change and then changed in place, so that an insert costs what it adds and not what is there.
    """

    def __init__(self, shard: Shard) -> None:
        self._names_lo = shard.names_lo
        self._tables = dict(shard.tables)
        self._owned: dict[int, dict[str, Any]] = {}
        self._children = referring(pair for state in shard.tables.values() for pair in state.table.foreign_keys)
        self._column_changes: dict[TableName, int] = {}

    def apply(self, event: Event) -> None:
        """Apply one event; kinds that change no table and no file of one are passed over."""
        self._change(event.change, event.event_id)
        if (parent := unlinked(event.change)) is not None:
            for child in self._children.get(parent, ()):
                self._doubt_constraints(child, event.event_id)

    def _change(self, change: Change, event_id: int) -> None:
        match change:
            case CreateTable():
                self._create_table(change, event_id)
            case DropTable():
                self._drop_table(change, event_id)
            case AlterTable():
                self._alter_table(change, event_id)
            case Insert():
                self._insert(change, event_id)
            case AddConstraints() | DropConstraint():
                self._change_constraints(change, event_id)
            case NoContent():
                return
            case _:
                self._change_partitions(change, event_id)

    def _change_partitions(self, change: OfPartitions, event_id: int) -> None:
        match change:
            case AddPartitions():
                self._add_partitions(change, event_id)
            case DropPartitions():
                self._drop_partitions(change, event_id)
            case AlterPartitions():
                self._alter_partitions(change, event_id)
            case RenamePartition():
                self._rename_partition(change, event_id)
            case _:
                assert_never(change)

    def result(self) -> Shard:
        """Return the shard, with the partitions marked that a change of columns may have changed."""
        for name, event_id in self._column_changes.items():
            if name in self._tables:
                partitions = self._partitions(name)
                partitions |= {key: _doubted(state, event_id) for key, state in partitions.items()}
        return Shard(self._tables, self._names_lo)

    # Tables.

    def _create_table(self, change: CreateTable, event_id: int) -> None:
        # Its constraints have events of their own.
        table = change.table.with_constraints(())
        content = event_content(change.files, table, table.location, event_id)
        self._put(TableState(table, event_id, content, {}, event_id, constraints_lo=event_id))

    def _put(self, new: TableState) -> None:
        known = self._tables.get(new.table.name)
        if (known.lo if known else self._names_lo) < new.lo:
            self._tables[new.table.name] = new

    def _drop_table(self, change: DropTable, event_id: int) -> None:
        self._remove(change.table.name, event_id)

    def _remove(self, name: TableName, event_id: int) -> None:
        known = self._tables.get(name)
        if known and known.lo < event_id:
            del self._tables[name]

    def _alter_table(self, change: AlterTable, event_id: int) -> None:
        if change.renames:
            self._rename_table(change, event_id)
            return
        name = change.after.name
        if change.changes_columns:
            self._column_changes[name] = event_id
        known = self._tables.get(name)
        changes_kind = change.before.kind is not change.after.kind
        if known is None and changes_kind:
            # It was none that is replicated, so nobody has read its files.
            self._put(_unread(change.after, event_id))
        if known and known.lo < event_id:
            emptied = change.truncates and known.content.lo < event_id
            self._tables[name] = replace(
                known,
                table=change.after.with_constraints(known.table.constraints),
                lo=event_id,
                content=Content(event_id) if emptied else known.content,
                unsure=known.unsure or changes_kind or change.before.location != change.after.location,
            )
        if change.changes_columns and not (known and known.table.constraints == ()):
            self._doubt_constraints(name, event_id)

    def _rename_table(self, change: AlterTable, event_id: int) -> None:
        """Move the table to its new name, to be read again: the log does not say where its partitions are now."""
        self._remove(change.before.name, event_id)
        self._put(_unread(change.after, event_id))

    def _change_constraints(self, change: AddConstraints | DropConstraint, event_id: int) -> None:
        self._doubt_constraints(change.table, event_id)

    def _doubt_constraints(self, name: TableName, event_id: int) -> None:
        """Let constraints be read again: the metastore drops those of a column that changes, and no event says so."""
        known = self._tables.get(name)
        if known and known.constraints_lo < event_id:
            self._tables[name] = replace(known, constraints_lo=event_id, constraints_unsure=True)

    # Partitions.

    def _add_partitions(self, change: AddPartitions, event_id: int) -> None:
        for added in change.added:
            content = event_content(added.files, change.table, added.partition.location, event_id)
            self._put_partition(change.table, PartitionState(added.partition, event_id, content))

    def _put_partition(self, table: Table, new: PartitionState) -> None:
        known = self._tables.get(table.name)
        if known is None:
            return
        name = new.partition.name(table.partition_keys)
        there = known.partitions.get(name)
        if there and there.lo >= new.lo:
            self._partitions(table.name)[name] = _relisted(there, new.lo)
        elif there or known.partitions_lo < new.lo:
            self._partitions(table.name)[name] = new

    def _partition(self, table: Table, values: tuple[str, ...]) -> tuple[str, PartitionState | None]:
        name = partition_name(table.partition_keys, values)
        known = self._tables.get(table.name)
        return name, known.partitions.get(name) if known else None

    def _drop_partitions(self, change: DropPartitions, event_id: int) -> None:
        for values in change.values:
            self._remove_partition(change.table, values, event_id)

    def _remove_partition(self, table: Table, values: tuple[str, ...], event_id: int) -> None:
        name, there = self._partition(table, values)
        if there and there.lo < event_id:
            del self._partitions(table.name)[name]
        elif there:
            self._partitions(table.name)[name] = _relisted(there, event_id)

    def _alter_partitions(self, change: AlterPartitions, event_id: int) -> None:
        for after in change.after:
            name, there = self._partition(change.table, after.values)
            if there:
                altered = _altered(there, after, event_id, truncates=change.truncates)
                self._partitions(change.table.name)[name] = altered

    def _rename_partition(self, change: RenamePartition, event_id: int) -> None:
        """Give the partition its new name; its files move along, and the event does not list them."""
        self._remove_partition(change.table, change.before.values, event_id)
        content = Content(event_id, unsure=change.table.has_files)
        self._put_partition(change.table, PartitionState(change.after, event_id, content))

    # Files.

    def _insert(self, change: Insert, event_id: int) -> None:
        if change.partition is not None:
            name, there = self._partition(change.table, change.partition.values)
            if there:
                content = self._inserted(there.content, there.partition, change, event_id)
                self._partitions(change.table.name)[name] = replace(there, content=content)
            return
        known = self._tables.get(change.table.name)
        if known:
            content = self._inserted(known.content, known.table, change, event_id)
            self._tables[change.table.name] = replace(known, content=content)

    def _inserted(self, content: Content, recorded: Table | Partition, change: Insert, event_id: int) -> Content:
        """Add or replace files. An insert into another place than the recorded one says too little."""
        if content.lo >= event_id:
            return content
        location = (change.partition or change.table).location
        new = _taken(change.files, location, event_id)
        unsure = location != recorded.location or _without_checksum(new)
        if change.replaces:
            return Content(event_id, new, unsure)
        files = self._own(content.files)
        files |= new
        return Content(event_id, files, unsure or content.unsure)

    def _partitions(self, name: TableName) -> dict[str, PartitionState]:
        """Return the partitions of a table as a dictionary that may be changed."""
        known = self._tables[name]
        partitions = self._own(known.partitions)
        if partitions is not known.partitions:
            self._tables[name] = replace(known, partitions=partitions)
        return partitions

    def _own(self, mapping: Mapping[str, T]) -> dict[str, T]:
        """Return the mapping itself where this fold has made it, else a copy."""
        own = self._owned.get(id(mapping))
        if own is None:
            own = dict(mapping)
            self._owned[id(own)] = own
        return own


def _unread(table: Table, event_id: int) -> TableState:
    return TableState(table, event_id, Content(event_id), {}, event_id, unsure=True, constraints_lo=event_id)


def event_content(files: Iterable[EventFile], table: Table, location: str | None, event_id: int) -> Content:
    """Take the files of a creation. The directory has to be listed all the same: no event names what lies deeper."""
    return Content(event_id, _taken(files, location, event_id), unsure=table.has_files)


def _taken(files: Iterable[EventFile], location: str | None, event_id: int) -> dict[str, SourceFile]:
    named = (SourceFile.of_event(file, location, event_id) for file in files)
    return {file.relative: file for file in named}


def _without_checksum(files: dict[str, SourceFile]) -> bool:
    return any(file.checksum is None for file in files.values())


def _doubted(state: PartitionState, event_id: int) -> PartitionState:
    """Mark a partition last read before a change of the table's columns: CASCADE is in no message."""
    return replace(state, unsure=True) if state.lo < event_id else state


def _altered(there: PartitionState, after: Partition, event_id: int, *, truncates: bool) -> PartitionState:
    moved = there.partition.location != after.location
    if there.lo >= event_id:
        return _relisted(there, event_id) if truncates or moved else there
    content = there.content
    if truncates and content.lo < event_id:
        content = Content(event_id)
    if moved:
        content = Content(event_id, content.files, unsure=True)
    return PartitionState(after, event_id, content)


def _relisted(there: PartitionState, event_id: int) -> PartitionState:
    """Mark the files of a partition that was read after this event, if they were listed before it."""
    if there.content.lo >= event_id:
        return there
    return replace(there, content=Content(event_id, unsure=True))
