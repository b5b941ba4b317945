"""Fold events into what was read of the source, so that it says what the source was after the last of them.

Seed 002, 'Bootstrap, Revisited', approach 2. Each event is an idempotent statement: it sets, adds or
removes what it names, whatever was read before it and nothing that was read after it. What the log
does not spell out is marked `unsure` and has to be read again with new bounds.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from twinhive.domain.changes import (
    AddedPartition,
    AddPartitions,
    AlterPartitions,
    AlterTable,
    CreateTable,
    DropPartitions,
    DropTable,
    Event,
    EventFile,
    Insert,
    RenamePartition,
    tables_of,
)
from twinhive.domain.contents import Content, PartitionState, Shard, SourceFile, TableState
from twinhive.domain.names import TableName, partition_name
from twinhive.domain.objects import Partition, Table


def fold(shard: Shard, events: Iterable[Event]) -> Shard:
    """Return the shard after the events, which come in the order of the log; the given shard stays as it is."""
    some = list(events)
    touched = {name for event in some for name in tables_of(event.change)}
    tables = {
        name: replace(state, partitions=dict(state.partitions)) if name in touched else state
        for name, state in shard.tables.items()
    }
    folding = _Folding(tables, shard.names_lo)
    for event in some:
        folding.apply(event)
    return Shard(folding.tables, shard.names_lo)


class _Folding:
    """Hold the shard while it changes; partitions of touched tables are dictionaries of its own."""

    def __init__(self, tables: dict[TableName, TableState], names_lo: int) -> None:
        self.tables = tables
        self.names_lo = names_lo
        self._handlers: dict[type, Callable[[Any, int], None]] = {
            CreateTable: self._create_table,
            DropTable: self._drop_table,
            AlterTable: self._alter_table,
            AddPartitions: self._add_partitions,
            DropPartitions: self._drop_partitions,
            AlterPartitions: self._alter_partitions,
            RenamePartition: self._rename_partition,
            Insert: self._insert,
        }

    def apply(self, event: Event) -> None:
        """Apply one event; kinds that change no table and no file of one are passed over."""
        handler = self._handlers.get(type(event.change))
        if handler is not None:
            handler(event.change, event.event_id)

    def _create_table(self, change: CreateTable, event_id: int) -> None:
        name = change.table.name
        known = self.tables.get(name)
        content = event_content(change.files, change.table, change.table.location, event_id)
        if known is not None and known.lo >= event_id:
            self.tables[name] = _begun_anew(known, content)
        elif known is not None or event_id > self.names_lo:
            self.tables[name] = TableState(change.table, event_id, content, {}, event_id)

    def _drop_table(self, change: DropTable, event_id: int) -> None:
        name = change.table.name
        known = self.tables.get(name)
        if known is None:
            return
        if known.lo < event_id:
            del self.tables[name]
        else:
            self.tables[name] = _begun_anew(known, Content(event_id))

    def _alter_table(self, change: AlterTable, event_id: int) -> None:
        if change.renames:
            self._rename_table(change, event_id)
            return
        known = self.tables.get(change.after.name)
        if known is None:
            return
        if change.truncates and known.content.lo < event_id:
            known = replace(known, content=Content(event_id))
        if known.lo < event_id:
            moved = change.before.location != change.after.location
            known = replace(known, table=change.after, lo=event_id, unsure=known.unsure or moved)
            if change.changes_columns:
                _doubt_partitions(known, event_id)
        self.tables[change.after.name] = known

    def _rename_table(self, change: AlterTable, event_id: int) -> None:
        """Move the table to its new name, to be read again: the log does not say where its partitions are now."""
        old = self.tables.get(change.before.name)
        if old is not None and old.lo < event_id:
            del self.tables[change.before.name]
        elif old is not None:
            self.tables[change.before.name] = _begun_anew(old, Content(event_id))
        new = self.tables.get(change.after.name)
        if new is None and event_id <= self.names_lo:
            return
        if new is None or new.lo < event_id:
            fresh = TableState(change.after, event_id, Content(event_id), {}, event_id, unsure=True)
            self.tables[change.after.name] = fresh

    def _add_partitions(self, change: AddPartitions, event_id: int) -> None:
        known = self.tables.get(change.table.name)
        if known is None:
            return
        for added in change.added:
            name = added.partition.name(change.table.partition_keys)
            merged = _added(known, name, added, event_id)
            if merged is not None:
                _set(known, name, merged)

    def _drop_partitions(self, change: DropPartitions, event_id: int) -> None:
        known = self.tables.get(change.table.name)
        for values in change.values if known else ():
            _remove(known, partition_name(change.table.partition_keys, values), event_id)

    def _alter_partitions(self, change: AlterPartitions, event_id: int) -> None:
        known = self.tables.get(change.table.name)
        for after in change.after if known else ():
            name = after.name(change.table.partition_keys)
            there = known.partitions.get(name) if known else None
            if known and there:
                _set(known, name, _altered(there, after, event_id, truncates=change.truncates))

    def _rename_partition(self, change: RenamePartition, event_id: int) -> None:
        known = self.tables.get(change.table.name)
        if known is None:
            return
        keys = change.table.partition_keys
        _remove(known, change.before.name(keys), event_id)
        name = change.after.name(keys)
        # Its files have moved with it; where to is in no event.
        merged = _added(known, name, AddedPartition(change.after, (EventFile(""),)), event_id)
        if merged is not None:
            _set(known, name, merged)

    def _insert(self, change: Insert, event_id: int) -> None:
        known = self.tables.get(change.table.name)
        if known is None:
            return
        if change.partition is None:
            content = _inserted(known.content, change, change.table.location, event_id)
            self.tables[change.table.name] = replace(known, content=content)
            return
        name = change.partition.name(change.table.partition_keys)
        there = known.partitions.get(name)
        if there is not None:
            content = _inserted(there.content, change, change.partition.location, event_id)
            _set(known, name, replace(there, content=content))


def event_content(files: Iterable[EventFile], table: Table, location: str | None, event_id: int) -> Content:
    """Take the files of a creation. Without any, or without checksums, the directory has to be listed."""
    taken = _taken(files, location, event_id)
    return Content(event_id, taken, unsure=table.has_files and (not taken or _without_checksum(taken)))


def _taken(files: Iterable[EventFile], location: str | None, event_id: int) -> dict[str, SourceFile]:
    named = (SourceFile.of_event(file, location, event_id) for file in files)
    return {file.relative: file for file in named}


def _without_checksum(files: dict[str, SourceFile]) -> bool:
    return any(file.checksum is None for file in files.values())


def _begun_anew(known: TableState, content: Content) -> TableState:
    """Take from a table what was read before an event that made or removed it; `content.lo` is that event."""
    event_id = content.lo
    kept = {name: _emptied(state, event_id) for name, state in known.partitions.items() if state.lo >= event_id}
    return replace(known, content=content if known.content.lo < event_id else known.content, partitions=kept)


def _emptied(state: PartitionState, event_id: int) -> PartitionState:
    return replace(state, content=Content(event_id)) if state.content.lo < event_id else state


def _doubt_partitions(known: TableState, event_id: int) -> None:
    """Mark partitions read before a change of columns: CASCADE is not in the message."""
    for name, state in known.partitions.items():
        if state.lo < event_id:
            _set(known, name, replace(state, unsure=True))


def _added(known: TableState, name: str, added: AddedPartition, event_id: int) -> PartitionState | None:
    there = known.partitions.get(name)
    content = event_content(added.files, known.table, added.partition.location, event_id)
    if there is None:
        return PartitionState(added.partition, event_id, content) if event_id > known.partitions_lo else None
    if there.lo < event_id:
        return PartitionState(added.partition, event_id, content)
    return replace(there, content=content) if there.content.lo < event_id else there


def _altered(there: PartitionState, after: Partition, event_id: int, *, truncates: bool) -> PartitionState:
    if truncates and there.content.lo < event_id:
        there = replace(there, content=Content(event_id))
    if there.lo >= event_id:
        return there
    moved = there.partition.location != after.location
    content = replace(there.content, unsure=True) if moved else there.content
    return replace(there, partition=after, lo=event_id, content=content)


def _inserted(content: Content, change: Insert, location: str | None, event_id: int) -> Content:
    if content.lo >= event_id:
        return content
    new = _taken(change.files, location, event_id)
    files = new if change.replaces else {**content.files, **new}
    unsure = _without_checksum(new) or (content.unsure and not change.replaces)
    return Content(event_id, files, unsure)


def _remove(known: TableState | None, name: str, event_id: int) -> None:
    there = known.partitions.get(name) if known else None
    if known is None or there is None:
        return
    if there.lo < event_id:
        del _own(known)[name]
    else:
        _set(known, name, _emptied(there, event_id))


def _set(known: TableState, name: str, state: PartitionState) -> None:
    _own(known)[name] = state


def _own(known: TableState) -> dict[str, PartitionState]:
    """Return the partitions of a touched table: `fold` has made a dictionary of their own for each."""
    assert isinstance(known.partitions, dict)
    return known.partitions
