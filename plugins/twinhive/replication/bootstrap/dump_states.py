"""Read the tables of a dump with their files as states that events can be folded into, and write them back."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from twinhive.core.model.batches import Batch, Slice, TableSize, cut_batches
from twinhive.core.model.changes.contents import Content, PartitionState, SourceFile, TableState
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.batch_records import listed_batch, write_file_list
from twinhive.replication.dump.dump_layout import DumpKind, DumpLayout
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.shards import TableRecord, encode_objects, unpack_lines
from twinhive.transfer.staged.staged_files import CopyItem

FilesByOwner = dict[tuple[str, str | None], dict[str, SourceFile]]


def read_states(files: FileReader, dump: Dump, batches: Iterable[Batch]) -> dict[TableName, TableState]:
    """Return the tables of some batches; slices of one table become one state."""
    states: dict[TableName, TableState] = {}
    for batch in batches:
        lo = _content_bound(files, dump, batch.name)
        owned = _files_by_owner(files, dump, batch.name)
        for record in dump.objects(files, batch.name):
            state = _state(record, owned, lo, object_bound(dump, record))
            there = states.get(record.table.name)
            states[record.table.name] = state if there is None else _merged(there, state)
    return states


def read_partitions(files: FileReader, dump: Dump, batch: Batch, names: Collection[str] | None) -> TableState:
    """Return the table of a batch of its own, with those of its partitions that are named and there; None: with all."""
    (record,) = dump.objects(files, batch.name)
    keys = record.table.partition_keys
    named = tuple(one for one in record.partitions if names is None or one.name(keys) in names)
    owned = _files_by_owner(files, dump, batch.name) if named else {}
    lo = _content_bound(files, dump, batch.name)
    return _state(replace(record, partitions=named), defaultdict(dict, owned), lo, object_bound(dump, record))


def _merged(one: TableState, other: TableState) -> TableState:
    lo = min(one.content.lo, other.content.lo)
    content = Content(lo, {**one.content.files, **other.content.files})
    return replace(one, partitions={**one.partitions, **other.partitions}, content=content)


def object_bound(dump: Dump, record: TableRecord) -> int:
    """Return the event up to which the log says nothing new of what a record tells.

    A consolidated dump is exact at its end, whenever its parts were read.
    """
    return dump.manifest.end.event_id if dump.manifest.kind is DumpKind.CONSOLIDATE else record.lo


def _content_bound(files: FileReader, dump: Dump, batch: str) -> int:
    if dump.manifest.kind is DumpKind.CONSOLIDATE:
        return dump.manifest.end.event_id
    listed = listed_batch(files, dump.layout, batch)
    return listed.lo if listed else 0


def _files_by_owner(files: FileReader, dump: Dump, batch: str) -> FilesByOwner:
    owned: FilesByOwner = defaultdict(dict)
    for line in unpack_lines(files.read(dump.layout.files(batch))):
        item = CopyItem.from_line(line)
        owned[item.table, item.partition][item.relative] = item.file
    return owned


def _state(record: TableRecord, owned: FilesByOwner, content_lo: int, lo: int) -> TableState:
    table = record.table
    own = Content(content_lo, owned.get((str(table.name), None), {}))
    partitions = {}
    for partition in record.partitions:
        name = partition.name(table.partition_keys)
        content = Content(content_lo, owned.get((str(table.name), name), {}))
        partitions[name] = PartitionState(partition, lo, content)
    return TableState(table, lo, own, partitions, lo, constraints_lo=lo)


def write_states(
    files: FileWriter, layout: DumpLayout, policy: Policy, states: Sequence[TableState], prefix: str, end: int
) -> tuple[Batch, ...]:
    """Write tables as batches of a dump, with their lists of files; return the batches."""
    by_name = {state.table.name: state for state in states}
    cut = cut_batches(
        [_size(state) for state in states],
        most_objects=policy.options.batch_objects,
        most_weight=policy.options.batch_bytes,
    )
    batches = tuple(replace(batch, name=f"{prefix}{batch.name}") for batch in cut)
    for batch in batches:
        records = [_record(by_name[slice_.table], slice_, end) for slice_ in batch.slices]
        files.write(layout.objects(batch.name), encode_objects(records))
        items = [item for record in records for item in _items(by_name[record.table.name], record)]
        write_file_list(files, layout, batch.name, items, end)
    return batches


def _size(state: TableState) -> TableSize:
    every = [*state.content.files.values(), *(f for p in state.partitions.values() for f in p.content.files.values())]
    return TableSize(state.table.name, len(state.partitions), sum(file.length for file in every), len(every))


def _record(state: TableState, slice_: Slice, end: int) -> TableRecord:
    names = sorted(state.partitions)[slice_.first : slice_.last]
    partitions = tuple(state.partitions[name].partition for name in names)
    return TableRecord(state.table, partitions, slice_.is_first, end, end)


def _items(state: TableState, record: TableRecord) -> Iterator[CopyItem]:
    table = state.table
    if record.carries_table and not table.partition_keys:
        yield from (CopyItem.of(file, table.name, None) for file in state.content.files.values())
    for partition in record.partitions:
        name = partition.name(table.partition_keys)
        yield from (CopyItem.of(file, table.name, name) for file in state.partitions[name].content.files.values())


def batches_with(dump: Dump, names: Collection[TableName]) -> list[Batch]:
    """Return the batches of a dump that hold a part of one of the tables."""
    return [batch for batch in dump.manifest.batches if any(slice_.table in names for slice_ in batch.slices)]
