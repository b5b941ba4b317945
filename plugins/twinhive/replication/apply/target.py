"""What every change of the replica needs: its ports, its places, its stamps."""

from dataclasses import dataclass, field, replace
from typing import TypeVar

from twinhive.core.directory_marks.directories import mark_table, table_mark
from twinhive.core.model.files import parent
from twinhive.core.model.marks import LAST_ID, STAMP, Stamp
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, Lease, MetastoreWriter
from twinhive.replication.apply.file_moves import Placing
from twinhive.replication.apply.function_files import FunctionSources
from twinhive.replication.apply.replica_cache import ReplicaCache
from twinhive.replication.replica.replica_locations import replica_parameters

T = TypeVar("T", Table, Partition)


@dataclass(frozen=True)
class Target:
    """The replica of one policy, held under its lease."""

    policy: Policy
    log_id: str
    replica: MetastoreWriter
    files: FileWriter
    source_files: FileReader
    lease: Lease
    twin: ReplicaCache
    placing: Placing
    root: str
    functions: FunctionSources
    marked: dict[str, bool] = field(default_factory=dict)
    """Which directories of tables bear our mark, of those that were asked for: nobody else marks while we hold it."""

    def apart(self) -> "Target":
        """Return the same replica for another thread, which knows for itself what is there."""
        return replace(self, twin=ReplicaCache(self.replica, self.policy, self.log_id))

    def stamp(self, event_id: int) -> Stamp:
        """Return the stamp of an event of the source's log."""
        return Stamp(self.log_id, event_id)

    def own(self, directory: str) -> None:
        """Mark a table's directory as this policy's: only such directories are ever removed."""
        mark_table(self.files, directory, f"{self.policy.name}:events")
        self.marked[directory] = True

    def owns(self, directory: str) -> bool:
        """True for a table's directory that bears this policy's mark."""
        if directory not in self.marked:
            self.marked[directory] = table_mark(self.files, directory) == self.policy.name
        return self.marked[directory]

    def own_table(self, directory: str) -> None:
        """Mark a directory if it is a table's; those of partitions lie in one that is marked."""
        if parent(directory) == self.root:
            self.own(directory)

    def on_replica(self, table: str) -> TableName:
        """Return the replica's name of a source table."""
        return TableName(self.policy.replica.database, table)

    def table(self, table: Table, location: str | None, event_id: int) -> Table:
        """Return a source table as the replica has it."""
        moved = table.at(self.policy.on_replica(table.name), location)
        return moved.with_parameters(replica_parameters(table.parameters, self.stamp(event_id)))

    def partition(self, partition: Partition, location: str | None, event_id: int) -> Partition:
        """Return a source partition as the replica has it."""
        moved = partition.at(self.policy.on_replica(partition.table), location)
        return moved.with_parameters(replica_parameters(partition.parameters, self.stamp(event_id)))

    def restamped(self, thing: T, event_id: int) -> T:
        """Return an object of the replica, as it is, with the stamp of an event."""
        marks = {STAMP: str(self.stamp(event_id)), LAST_ID: str(event_id)}
        return thing.with_parameters({**thing.parameters, **marks})
