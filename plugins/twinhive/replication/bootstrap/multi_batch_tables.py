"""Bring a table of several batches up to an event by those of its partitions that events name, and no others.

So a table of a hundred thousand partitions is never in memory as a whole: what no event names goes from the old dump to
the new one batch by batch, and most batches as they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from twinhive.core.model.batches import Batch, Slice
from twinhive.core.model.changes.affected_objects import names_of, partitions_named
from twinhive.core.model.changes.contents import TableState
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DropPartitions,
    DropTable,
    Insert,
    NoContent,
    RenamePartition,
)
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.bootstrap.dump_states import read_partitions
from twinhive.replication.dump.batch_records import write_file_list
from twinhive.replication.dump.dump_layout import DumpLayout
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.shards import TableRecord, encode_objects, unpack_lines
from twinhive.transfer.staged.staged_files import CopyItem


def wide_tables(dump: Dump) -> Mapping[TableName, tuple[Batch, ...]]:
    """Return the tables that have several batches of their own, with these."""
    found: dict[TableName, tuple[Batch, ...]] = {}
    shared: set[TableName] = set()
    for batch in dump.manifest.batches:
        names = {slice_.table for slice_ in batch.slices}
        if len(batch.slices) > 1:
            shared |= names
        for name in names:
            found[name] = (*found.get(name, ()), batch)
    return {name: batches for name, batches in found.items() if len(batches) > 1 and name not in shared}


def partitions_concerned(change: Change) -> frozenset[str] | None:
    """Return the partitions that a change is about, None for one that is about the table as a whole."""
    match change:
        case AddPartitions(table=table) | DropPartitions(table=table) | AlterPartitions(table=table):
            return frozenset(names_of(table, partitions_named(change)))
        case RenamePartition(table=table) | Insert(table=table, partition=Partition()):
            return frozenset(names_of(table, partitions_named(change)))
        case AlterTable():
            return frozenset() if _leaves_partitions(change) else None
        case NoContent():
            return frozenset()
        case CreateTable() | DropTable() | Insert():
            return None
        case _:
            assert_never(change)


def _leaves_partitions(change: AlterTable) -> bool:
    """True when all that changed is said by the event, and of the table alone: its parameters, its owner."""
    before, after = change.before, change.after
    same_rows = (before.name, before.location, before.kind) == (after.name, after.location, after.kind)
    return same_rows and not change.changes_columns and not change.truncates


@dataclass(frozen=True)
class WideTable:
    """A table of which the named partitions are known; `named` holds them by the batch that has them, '' for none.

    `listed` is the table as the dump has it.
    """

    batches: tuple[Batch, ...]
    listed: Table
    named: Mapping[str, frozenset[str]]

    @classmethod
    def read(cls, files: FileReader, dump: Dump, batches: tuple[Batch, ...]) -> tuple["WideTable", TableState]:
        """Read a table without any of its partitions."""
        state = read_partitions(files, dump, batches[0], ())
        return cls(batches, state.table, {}), state

    @property
    def all_named(self) -> frozenset[str]:
        """Return all partitions that events have named."""
        return frozenset().union(*self.named.values())

    def with_names(
        self, files: FileReader, dump: Dump, names: frozenset[str], state: TableState
    ) -> tuple["WideTable", TableState]:
        """Return the table with more partitions read from the dump, one batch in memory at a time."""
        wide, new = self, names - self.all_named
        for batch in self.batches if new else ():
            here = read_partitions(files, dump, batch, new)
            wide, state = wide._with(batch.name, frozenset(here.partitions)), _joined(state, here)
            new -= here.partitions.keys()
        return wide._with("", new), state

    def with_batch(
        self, files: FileReader, dump: Dump, batch: Batch, state: TableState
    ) -> tuple["WideTable", TableState]:
        """Return the table with all partitions of a batch of which none has been named yet."""
        here = read_partitions(files, dump, batch, None)
        return self._with(batch.name, frozenset(here.partitions)), _joined(state, here)

    def _with(self, batch: str, names: frozenset[str]) -> "WideTable":
        return replace(self, named={**self.named, batch: self.named.get(batch, frozenset()) | names})

    def rewritten(self, state: TableState) -> list[Batch]:
        """Return the batches of which some partition was named; all of them when the table itself has changed."""
        is_altered = state.table != self.listed
        return [batch for batch in self.batches if is_altered or self.named.get(batch.name)]

    def write(
        self,
        files: FileWriter,
        old: Dump,
        layout: DumpLayout,
        state: TableState,
        names: Iterator[str],
        end: int,
        most: int,
    ) -> Iterator[Batch]:
        """Write the batches that are not what they were, and what is new; yield them, named by `names`."""
        for batch in self.rewritten(state):
            yield self._written(files, old, layout, batch, state, next(names), end)
        added = sorted(self.named.get("", frozenset()) & state.partitions.keys())
        for start in range(0, len(added), most):
            yield _added(files, layout, state, added[start : start + most], next(names), end)

    def _written(
        self, files: FileWriter, old: Dump, layout: DumpLayout, batch: Batch, state: TableState, name: str, end: int
    ) -> Batch:
        named, keys = self.named.get(batch.name, frozenset()), state.table.partition_keys
        (record,) = old.objects(files, batch.name)
        untouched = [one for one in record.partitions if one.name(keys) not in named]
        changed = sorted(named & state.partitions.keys())
        partitions = (*untouched, *(state.partitions[part].partition for part in changed))
        lines = unpack_lines(files.read(old.layout.files(batch.name)))
        items = (item for item in map(CopyItem.from_line, lines) if item.partition not in named)
        whole = TableRecord(state.table, tuple(partitions), record.carries_table, end, end)
        _write(files, layout, whole, [*items, *_items(state, changed)], name, end)
        (slice_,) = batch.slices
        return Batch(name, batch.label, (replace(slice_, last=slice_.first + len(partitions)),))


def _joined(state: TableState, more: TableState) -> TableState:
    return replace(state, partitions={**state.partitions, **more.partitions})


def _added(
    files: FileWriter, layout: DumpLayout, state: TableState, names: Sequence[str], name: str, end: int
) -> Batch:
    # Not from the first partition on: the table itself is in another batch.
    table, first = state.table, 1
    record = TableRecord(table, tuple(state.partitions[part].partition for part in names), False, end, end)
    _write(files, layout, record, list(_items(state, names)), name, end)
    label = f"{table.name} ({len(names)} new partitions)"
    return Batch(name, label, (Slice(table.name, first, first + len(names), first + len(names)),))


def _write(
    files: FileWriter, layout: DumpLayout, record: TableRecord, items: list[CopyItem], name: str, end: int
) -> None:
    files.write(layout.objects(name), encode_objects([record]))
    write_file_list(files, layout, name, items, end)


def _items(state: TableState, names: Iterable[str]) -> Iterator[CopyItem]:
    for part in names:
        for file in state.partitions[part].content.files.values():
            yield CopyItem.of(file, state.table.name, part)
