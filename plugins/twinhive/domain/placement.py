"""Decide where a table and its files lie on the replica.

A managed table lies where the replica's Hive would put it: below the managed directory of its
database. Its partitions keep their path below the table; one that lies elsewhere at the source
moves to its default place, because a managed table owns its files.
"""

import json
from dataclasses import dataclass

from twinhive.domain.files import is_below, join, relative_to
from twinhive.domain.marks import Stamp, stamped
from twinhive.domain.names import escape_path_name
from twinhive.domain.objects import Parameters, Partition, Table
from twinhive.domain.policy import Policy

_STATISTICS_CLAIM = "COLUMN_STATS_ACCURATE"


def relative_place(table: Table, partition: Partition) -> str:
    """Return where a partition goes below its table's directory on the replica."""
    location = partition.location
    if location and table.location and is_below(location, table.location):
        return relative_to(location, table.location)
    return partition.name(table.partition_keys)


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
        replica = table.at(name, directory).with_parameters(_replica_parameters(table.parameters, stamp))
        return cls(table, replica, directory, join(build_root, escape_path_name(name.table)))

    def relative(self, partition: Partition) -> str:
        """Return a partition's directory relative to the table's, on the replica."""
        return relative_place(self.source, partition)

    def partition(self, partition: Partition, stamp: Stamp) -> Partition:
        """Place a partition."""
        location = join(self.directory, self.relative(partition))
        moved = partition.at(self.replica.name, location)
        return moved.with_parameters(_replica_parameters(partition.parameters, stamp))


def place_view(view: Table, policy: Policy, stamp: Stamp) -> Table:
    """Place a view: only its name and its marks change, its text stays as it is."""
    moved = view.at(policy.on_replica(view.name), None)
    return moved.with_parameters(stamped(view.parameters, stamp))


def _replica_parameters(parameters: Parameters, stamp: Stamp) -> dict[str, str]:
    """Stamp a source object's parameters, without the claim that column statistics are accurate.

    Column statistics are not replicated yet; a query planner must not believe that they are there.
    """
    kept = stamped(parameters, stamp)
    try:
        claims = json.loads(kept.get(_STATISTICS_CLAIM, "{}"))
    except ValueError:
        claims = {}
    if isinstance(claims, dict) and "COLUMN_STATS" in claims:
        kept[_STATISTICS_CLAIM] = json.dumps({key: value for key, value in claims.items() if key != "COLUMN_STATS"})
    return kept
