"""Know the replica's objects while events are applied: read in bulk, kept in step with what is written.

Only the holder of the policy's lease writes, so what was read stays true until it writes itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.kinds import DeleteStatistics, UpdateStatistics
from twinhive.core.model.errors import ChangedMeanwhile, Foreign, Missing
from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.next_steps import RETRIES, resync
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import MetastoreReader
from twinhive.replication.apply.actions import Action, Add, Drop, EditPartitions, EditTable, Single


class ReplicaCache:
    """Hold tables by their replica's names, and partitions by table and name; None is an absent one."""

    def __init__(self, replica: MetastoreReader, policy: Policy, log_id: str) -> None:
        self._replica = replica
        self._policy = policy
        self._log_id = log_id
        self._tables: dict[TableName, Table | None] = {}
        self._partitions: dict[TableName, dict[str, Partition | None]] = defaultdict(dict)

    def look_ahead(self, actions: Sequence[Action]) -> None:
        """Read what the actions will ask for, in few calls."""
        tables: set[TableName] = set()
        partitions: dict[TableName, set[str]] = defaultdict(set)
        for action in actions:
            found = (name for event in action.events for name in tables_of(event.change))
            names = {self._policy.on_replica(name) for name in found if self._policy.follows(name)}
            tables |= names
            for table, some in _partitions_of(action):
                partitions[self._policy.on_replica(table)].update(some)
        self._read_tables(sorted(tables - self._tables.keys()))
        for described, values in _described(actions):
            there = self._tables.get(self._policy.on_replica(described))
            # Before an earlier action here renames, or drops and creates, a table with other keys may have the name.
            if there is not None and len(there.partition_keys) == len(values):
                partitions[there.name].add(partition_name(there.partition_keys, values))
        for table, wanted in partitions.items():
            if self._tables.get(table) is not None:
                self._read_partitions(table, sorted(wanted - self._partitions[table].keys()))

    def table(self, name: TableName) -> Table | None:
        """Return a table of the replica, None for an absent one. Raises Foreign for somebody else's.

        So is one that people have made another kind of: a policy brings no such table, whatever stamp it bears.
        """
        found = self.any_table(name)
        other_kind = found.kind.why_left_out if found is not None else None
        if found is not None and (other_kind or self.stamp_of(found) is None):
            raise Foreign(
                f"table {name} exists on {self._policy.replica.cluster} and was not made by policy {self._policy.name}",
                found=other_kind or f"{STAMP} = {found.parameters.get(STAMP, '(not set)')}",
                expected=f"no such table, or a stamp of source log {self._log_id}",
                next_step="move that table away; then: " + resync(self._policy.name, name.table),
            )
        return found

    def any_table(self, name: TableName) -> Table | None:
        """Return a table of the replica, whosever it is; None for an absent one."""
        if name not in self._tables:
            self._read_tables([name])
        return self._tables[name]

    def known_table(self, name: TableName) -> Table | None:
        """Return a table that was read before, whosever it is; None for an absent one and for one that was not read."""
        return self._tables.get(name)

    def known_partition(self, table: TableName, name: str) -> Partition | None:
        """Return a partition that was read before; None for an absent one and for one that was not read."""
        return self._partitions[table].get(name)

    def existing(self, name: TableName) -> Table:
        """Return a table of the replica. Raises Missing naming the command that brings it back."""
        found = self.table(name)
        if found is None:
            raise Missing(
                f"table {name} is missing on {self._policy.replica.cluster}",
                found="no such table",
                expected="the table as the events so far have made it",
                next_step="bring it back with: " + resync(self._policy.name, name.table),
            )
        return found

    def partitions(self, table: TableName, names: Sequence[str]) -> dict[str, Partition | None]:
        """Return partitions by name, None for absent ones."""
        known = self._partitions[table]
        self._read_partitions(table, sorted(set(names) - known.keys()))
        return {name: known[name] for name in names}

    def stamp_of(self, found: Table | Partition | None) -> Stamp | None:
        """Return an object's stamp; one of another log counts as none."""
        stamp = Stamp.parse(found.parameters.get(STAMP)) if found is not None else None
        return stamp if stamp is not None and stamp.log_id == self._log_id else None

    def is_at(self, found: Table | Partition | None, event_id: int) -> bool:
        """True when an object is at or past an event."""
        stamp = self.stamp_of(found)
        return stamp is not None and stamp.event_id >= event_id

    def look_for(self, names: Iterable[TableName]) -> None:
        """Read tables, in one call."""
        self._read_tables(sorted(names))

    def put_table(self, table: Table) -> None:
        """Remember a table that was written."""
        self._tables[table.name] = table

    def drop_table(self, name: TableName) -> None:
        """Remember that a table is gone, and its partitions with it."""
        self._tables[name] = None
        self._partitions.pop(name, None)

    def forget_table(self, name: TableName) -> None:
        """Read a table and its partitions again when they are asked for."""
        self._tables.pop(name, None)
        self._partitions.pop(name, None)

    def forget(self, table: TableName, partition: str | None) -> None:
        """Read one partition again when it is asked for, or (None) a table, whose partitions stay known."""
        if partition is None:
            self._tables.pop(table, None)
        else:
            self._partitions[table].pop(partition, None)

    def put_partition(self, table: TableName, name: str, partition: Partition | None) -> None:
        """Remember a partition that was written, or dropped (None)."""
        self._partitions[table][name] = partition

    def _read_tables(self, names: Sequence[TableName]) -> None:
        if names:
            found = self._replica.tables(self._policy.replica.database, [name.table for name in names])
            self._tables |= dict.fromkeys(names) | {table.name: table for table in found}

    def _read_partitions(self, table: TableName, names: Sequence[str]) -> None:
        if not names:
            return
        read = self._tables.get(table)
        found = self._replica.partitions(table, names) if read is not None else []
        keys = read.partition_keys if read is not None else ()
        if any(len(one.values) != len(keys) for one in found):
            raise ChangedMeanwhile(
                f"table {table} on {self._policy.replica.cluster} is not what it was a moment ago",
                found="partitions with other keys than the table had",
                expected="nobody else who changes it while this run holds the lease",
                next_step=RETRIES,
            )
        self._partitions[table] |= dict.fromkeys(names) | {one.name(keys): one for one in found}


def _described(actions: Iterable[Action]) -> Iterator[tuple[TableName, tuple[str, ...]]]:
    """Yield the partitions whose statistics change, by the source's table and their values."""
    for event in (action.what.event for action in actions if isinstance(action.what, Single)):
        change = event.change
        if isinstance(change, UpdateStatistics | DeleteStatistics) and change.values:
            yield change.table, change.values


def _partitions_of(action: Action) -> Iterable[tuple[TableName, Iterable[str]]]:
    match action.what:
        case EditPartitions(table=table, edits=named):
            yield table.name, named
        case Add(table=table, added=added):
            yield table.name, added
        case Drop(table=table, dropped=dropped):
            yield table.name, dropped
        case EditTable() | Single():
            return
        case _:
            assert_never(action.what)
