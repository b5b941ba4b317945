"""Decide where a table and its files lie on the replica.

A managed table lies where the replica's Hive would put it: below the managed directory of its
database. Its partitions keep their path below the table; one that lies elsewhere at the source
moves to its default place, because a managed table owns its files.
"""

from dataclasses import dataclass

from twinhive.domain.files import is_below, join, relative_to
from twinhive.domain.marks import Stamp, stamped
from twinhive.domain.names import escape_path_name
from twinhive.domain.objects import Partition, Table
from twinhive.domain.policy import Policy


@dataclass(frozen=True)
class TablePlacement:
    """A source table and its place on the replica.

    `directory` is the final directory, `building` the one below staging in which the table's
    files are put together before the whole directory is renamed in.
    """

    source: Table
    replica: Table
    directory: str
    building: str

    @classmethod
    def plan(cls, table: Table, policy: Policy, managed_root: str, build_root: str, stamp: Stamp) -> "TablePlacement":
        """Place a managed table below `managed_root`."""
        name = policy.on_replica(table.name)
        directory = join(managed_root, escape_path_name(name.table))
        replica = table.at(name, directory).with_parameters(stamped(table.parameters, stamp))
        return cls(table, replica, directory, join(build_root, escape_path_name(name.table)))

    def relative(self, partition: Partition) -> str:
        """Return a partition's directory relative to the table's, on the replica."""
        table_location, location = self.source.location, partition.location
        if location and table_location and is_below(location, table_location):
            return relative_to(location, table_location)
        return partition.name(self.source.partition_keys)

    def partition(self, partition: Partition, stamp: Stamp) -> Partition:
        """Place a partition."""
        location = join(self.directory, self.relative(partition))
        moved = partition.at(self.replica.name, location)
        return moved.with_parameters(stamped(partition.parameters, stamp))


def place_view(view: Table, policy: Policy, stamp: Stamp) -> Table:
    """Place a view: only its name and its marks change, its text stays as it is."""
    moved = view.at(policy.on_replica(view.name), None)
    return moved.with_parameters(stamped(view.parameters, stamp))
