"""Create tables, partitions and views on the replica, and read back what became of them.

No call is repeated blindly: what exists is read first and compared by its stamp.
"""

import threading
from collections.abc import Collection, Mapping, Sequence

from twinhive.core.model.errors import ActNow, Foreign, Missing
from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.text import Clear
from twinhive.core.ports import MetastoreWriter
from twinhive.replication.apply.create_guard import absent_before, is_as_made, made_otherwise
from twinhive.replication.replica.replica_locations import TablePlacement


class Tables:
    """Register each table once, though several threads may come with parts of its partitions."""

    def __init__(self, replica: MetastoreWriter) -> None:
        self._replica = replica
        self._looking = threading.Lock()
        self._of_table: dict[TableName, threading.Lock] = {}
        self._is_new: dict[TableName, bool] = {}

    def put(self, table: Table) -> bool:
        """Create a table unless it is there; True when it was created here, so that all its partitions are ours."""
        with self._looking:
            lock = self._of_table.setdefault(table.name, threading.Lock())
        with lock:
            if table.name not in self._is_new:
                self._is_new[table.name] = register_table(self._replica, table)
            return self._is_new[table.name]


def register_table(replica: MetastoreWriter, table: Table) -> bool:
    """Create a table or view unless it is there with the same stamp; check type and location.

    Returns whether it was created.
    """
    is_new = _present(replica, table) is None
    if is_new:
        with absent_before():
            replica.create_table(table)
    made = _present(replica, table)
    if made is None:
        raise Missing(
            f"table {table.name} vanished right after it was created",
            found="no such table",
            expected="the table that was created",
            next_step="find out who drops tables of the replica, then " + Clear("the task load"),
        )
    if not is_as_made(table, made):
        replica.drop_table(table.name, delete_data=False)
        raise made_otherwise(table, made, "load")
    return is_new


def _present(replica: MetastoreWriter, table: Table) -> Table | None:
    found = replica.table(table.name)
    if found is not None and found.parameters.get(STAMP) != table.parameters[STAMP]:
        raise Foreign(
            f"table {table.name} exists on the replica and is not of this dump",
            found=f"{STAMP} = {found.parameters.get(STAMP, '(not set)')}",
            expected=f"no such table, or {STAMP} = {table.parameters[STAMP]}",
            next_step="move the table away or drop it, then " + Clear("the task load"),
        )
    return found


def register_partitions(
    replica: MetastoreWriter,
    placement: TablePlacement,
    partitions: Sequence[Partition],
    stamp: Stamp,
    *,
    is_new: bool = False,
) -> int:
    """Add those of some partitions that are not there yet, in one call; return their number.

    A table that `is_new`, made by this very load, has none of them.
    """
    table = placement.replica
    placed = {p.name(table.partition_keys): placement.partition(p, stamp) for p in partitions}
    present = {} if is_new else _locations(replica, table.name, placed)
    absent = [partition for partition in placed.values() if partition.values not in present]
    if absent:
        with absent_before():
            replica.add_partitions(absent)
    _check_locations(table.name, placed, _locations(replica, table.name, placed))
    return len(absent)


def _locations(replica: MetastoreWriter, table: TableName, names: Collection[str]) -> dict[tuple[str, ...], str | None]:
    return {partition.values: partition.location for partition in replica.partitions(table, sorted(names))}


def _check_locations(
    table: TableName, expected: Mapping[str, Partition], found: Mapping[tuple[str, ...], str | None]
) -> None:
    for name, wanted in expected.items():
        if found.get(wanted.values) != wanted.location:
            raise ActNow(
                f"partition {name} of {table} is not where it was put on the replica",
                found=found.get(wanted.values, "no such partition"),
                expected=wanted.location,
                next_step="look for another writer of the replica's database, then " + Clear("the task load"),
            )
