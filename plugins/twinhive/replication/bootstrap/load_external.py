"""Hand the external tables of a dump to the pending ones: each is published when its data is there, some at once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from twinhive.core.model.names import TableName
from twinhive.replication.dump.shards import TableRecord
from twinhive.replication.replica.pending_tables import PendingTable, Waiting


def pending_tables(records: Iterable[TableRecord], end: int, pieces: Mapping[TableName, int]) -> Iterator[PendingTable]:
    """Yield the external tables of a dump that is exact at `end`, each when the last of its `pieces` is read.

    A record says nothing of when its object came to its location, only that it was there when it was read: a copy
    that began after that brings what is needed.
    """
    tables: dict[TableName, PendingTable] = {}
    left = dict(pieces)
    for record in records:
        if record.table.is_external:
            name = record.table.name
            tables[name] = _with_record(tables.get(name, PendingTable(name)), record, end)
            left[name] -= 1
            if left[name] == 0:
                yield tables.pop(name)
    yield from tables.values()


def _with_record(pending: PendingTable, record: TableRecord, end: int) -> PendingTable:
    keys = record.table.partition_keys
    partitions = {one.name(keys): Waiting(one, end, record.hi) for one in record.partitions}
    return replace(
        pending,
        table=pending.table or Waiting(record.table, end, record.hi),
        partitions={**pending.partitions, **partitions},
    )
