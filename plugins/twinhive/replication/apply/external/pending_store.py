"""What waits of external tables while events are applied, and write it before the position passes them."""

from collections.abc import Iterable
from typing import Protocol

from twinhive.core.model.names import TableName
from twinhive.replication.replica.pending_tables import PendingTable, PurgeNote


class PendingRecords(Protocol):
    """Keep the records durably, one for each source table."""

    def tables(self) -> Iterable[str]:
        """Return the names of the source tables that have a record."""
        ...

    def read(self, table: str) -> PendingTable:
        """Return the record of a table that has one."""
        ...

    def write(self, record: PendingTable) -> None:
        """Write a record over the one before."""
        ...

    def remove(self, table: str) -> None:
        """Delete a record; one that is not there is fine."""
        ...

    def note_purge(self, note: PurgeNote) -> None:
        """Ask for the data of a dropped object to be deleted."""
        ...


class PendingStore:
    """Read each record once, and write what has changed when `flush` is called."""

    def __init__(self, records: PendingRecords) -> None:
        self._records = records
        self._kept = set(records.tables())
        self._known: dict[str, PendingTable] = {}
        self._unwritten: set[str] = set()
        self._changed: set[str] = set()

    @property
    def tables(self) -> tuple[str, ...]:
        """The source tables of which something waits, sorted."""
        known = {table for table, record in self._known.items() if not record.is_empty}
        return tuple(sorted((self._kept - self._known.keys()) | known))

    @property
    def changed(self) -> tuple[str, ...]:
        """Those whose record was changed since this store was made."""
        return tuple(table for table in self.tables if table in self._changed)

    def get(self, name: TableName) -> PendingTable:
        """Return the record of a source table, an empty one when nothing waits."""
        if name.table not in self._known:
            there = name.table in self._kept
            self._known[name.table] = self._records.read(name.table) if there else PendingTable(name)
        return self._known[name.table]

    def put(self, record: PendingTable) -> None:
        """Replace the record of a source table."""
        if record != self.get(record.name):
            self._known[record.name.table] = record
            self._unwritten.add(record.name.table)
            self._changed.add(record.name.table)

    def flush(self) -> None:
        """Write what has changed; what is empty goes last, because a rename has brought it under another name."""
        for table in sorted(self._unwritten, key=lambda table: (self._known[table].is_empty, table)):
            self.settle(self._known[table])

    def settle(self, record: PendingTable) -> None:
        """Write the record of one table at once, or remove an empty one; threads may do so for several tables."""
        table = record.name.table
        if not record.is_empty:
            self._records.write(record)
            self._kept.add(table)
        elif table in self._kept:
            self._records.remove(table)
            self._kept.discard(table)
        self._known[table] = record
        self._changed.add(table)
        self._unwritten.discard(table)

    def release(self, name: TableName) -> None:
        """Hold a record no longer that is as it was written: it is read again when it is asked for."""
        if name.table not in self._unwritten:
            self._known.pop(name.table, None)

    def note_purge(self, note: PurgeNote) -> None:
        """Write at once that data is to be deleted: what told of it is about to be dropped."""
        self._records.note_purge(note)
