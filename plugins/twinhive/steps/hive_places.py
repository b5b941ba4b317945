"""Move a replica's tables and partitions to the places where Hive's own REPL LOAD will look for them.

Hive believes that a managed table of a replica lies in its default place, and its partitions below it: replaying an
event, it sets their locations to that. Twinhive gives each content a directory of its own. So a replica is handed back
to Hive only after this. What a table or partition lies in is renamed, then the metastore is told: in between, for the
time of two calls, readers of it find nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from twinhive.applying.places import managed_root
from twinhive.domain.files import base_name, join, parent, short_hash
from twinhive.domain.marks import DIRECTORY_MARK, STAMP, Stamp
from twinhive.domain.names import default_directory
from twinhive.domain.objects import Partition, Table
from twinhive.domain.placement import silent_key, table_directory
from twinhive.domain.policy import Policy
from twinhive.ports import Lease, WritePorts
from twinhive.steps.source_scope import tables_in_bulk


def move_to_hives_places(ports: WritePorts, policy: Policy, log_id: str, event_id: int, lease: Lease) -> int:
    """Move what lies elsewhere; return how many tables and partitions were moved. May be repeated from any point."""
    moving = _Moving(ports, policy, managed_root(ports.replica, policy), event_id, lease)
    database = policy.replica.database
    moved = 0
    for table in tables_in_bulk(ports.replica, database, ports.replica.table_names(database)):
        stamp = Stamp.parse(table.parameters.get(STAMP))
        if table.has_files and not table.is_external and stamp is not None and stamp.log_id == log_id:
            moved += moving.table(table)
    return moved


@dataclass(frozen=True)
class _Moving:
    ports: WritePorts
    policy: Policy
    root: str
    event_id: int
    lease: Lease

    def table(self, table: Table) -> int:
        place = join(self.root, default_directory(table.name.table))
        moved = sum(self._partitions(table, some, place) for some in self._chunks(table))
        if table.location == place:
            return moved
        if table.partition_keys:
            # Its rows are in its partitions, which have been moved one by one.
            self.ports.replica_files.make_directories(place)
        else:
            self._rename(table.location or "", place)
        self.lease.confirm()
        self.ports.replica.alter_table(table.name, table.at(table.name, place))
        return moved + 1

    def _chunks(self, table: Table) -> Iterator[Sequence[Partition]]:
        names = self.ports.replica.partition_names(table.name) if table.partition_keys else []
        per_call = self.policy.options.partitions_per_call
        for start in range(0, len(names), per_call):
            yield self.ports.replica.partitions(table.name, names[start : start + per_call])

    def _partitions(self, table: Table, partitions: Sequence[Partition], place: str) -> int:
        elsewhere = []
        for partition in partitions:
            target = join(place, partition.name(table.partition_keys))
            if partition.location != target:
                self._rename(partition.location or "", target)
                elsewhere.append(partition.at(table.name, target))
        if elsewhere:
            self.lease.confirm()
            self.ports.replica.alter_partitions(elsewhere)
        return len(elsewhere)

    def _rename(self, directory: str, place: str) -> None:
        """Rename a directory; what stands in its place, and nothing registered uses, goes to a name of ours first."""
        files = self.ports.replica_files
        if files.status(directory) is None:
            return  # An earlier try has renamed it.
        self.lease.confirm()
        if files.status(place) is not None:
            aside = table_directory(self.root, base_name(place), silent_key(self.event_id, short_hash(place, 8)))
            files.rename(place, aside)
            files.set_attribute(aside, DIRECTORY_MARK, f"{self.policy.name}:events")
        files.make_directories(parent(place))
        files.rename(directory, place)
