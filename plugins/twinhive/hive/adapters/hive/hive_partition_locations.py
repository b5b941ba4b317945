"""Read where the partitions of a table lie, a hundred thousand of them in seconds."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hive_metastore import ttypes

from twinhive.core.model.errors import Refused, Unreachable
from twinhive.core.model.names import partition_name
from twinhive.core.model.objects import Table
from twinhive.hive.adapters.hive.thrift_connection import AS_STORED, Request
from twinhive.hive.adapters.hive.thrift_failover import Connections

NamedLocations = list[tuple[str, str]]

_ONLY = ["values", "sd.location"]
_EVERYTHING: list[str] = []


class PartitionLocations:
    """Ask one metastore by the cheapest call that it answers, and remember which one that was.

    `by_names` reads partitions by their names, which every metastore answers. The calls before it may be refused: a
    server without the library for projections ends the connection, one with `metastore.limit.partition.request`
    gives no table whole.
    """

    def __init__(self, connections: Connections, by_names: Callable[[Table], NamedLocations]) -> None:
        self._connections = connections
        self._projects_by_name = True
        self._ways: list[Callable[[Table], NamedLocations]] = [
            lambda table: self._at_once(table, _ONLY),
            lambda table: self._at_once(table, _EVERYTHING),
            by_names,
        ]

    def read(self, table: Table) -> NamedLocations:
        """Return names and locations of all partitions, sorted by name. Raises what the last way raises."""
        *others, last = tuple(self._ways)
        for way in others:
            try:
                found = way(table)
            except (Refused, Unreachable):
                continue
            self._settle_on(way)
            return sorted(found)
        found = sorted(last(table))
        self._settle_on(last)
        return found

    def read_of(self, table: Table, names: Sequence[str]) -> NamedLocations | None:
        """Return names and locations of some partitions, sorted; None where another call has to tell.

        That is from a metastore that does not answer this one, or answers with others than were asked for: one of them
        may have been dropped meanwhile.
        """
        if not self._projects_by_name:
            return None
        by_names = ttypes.GetPartitionsFilterSpec(filterMode=ttypes.PartitionFilterMode.BY_NAMES, filters=list(names))
        try:
            found = sorted(self._at_once(table, _ONLY, by_names))
        except (Refused, Unreachable):
            self._projects_by_name = False
            return None
        return found if [name for name, _ in found] == sorted(names) else None

    def _settle_on(self, way: Callable[[Table], NamedLocations]) -> None:
        ways = self._ways
        if way in ways:  # another thread may have settled on a later one
            self._ways = ways[ways.index(way) :]

    def _at_once(
        self, table: Table, fields: list[str], some: ttypes.GetPartitionsFilterSpec | None = None
    ) -> NamedLocations:
        request = ttypes.GetPartitionsRequest(
            catName="hive",
            dbName=table.name.database,
            tblName=table.name.table,
            projectionSpec=ttypes.GetProjectionsSpec(fieldList=fields),
            filterSpec=some or ttypes.GetPartitionsFilterSpec(),
            processorCapabilities=AS_STORED,
        )
        doing = f"reading where the partitions of {table.name} lie"
        answer = self._connections.read(Request(doing, lambda client: client.get_partitions_with_specs(request)))
        return [
            (partition_name(table.partition_keys, tuple(values)), location)
            for spec in answer.partitionSpec
            for values, location in _located(spec)
        ]


def _located(spec: Any) -> Iterator[tuple[list[str], str]]:
    """Yield values and location: below a root that some share, or each with a storage descriptor of its own."""
    if spec.sharedSDPartitionSpec:
        root = spec.sharedSDPartitionSpec.sd.location or spec.rootPath or ""
        for partition in spec.sharedSDPartitionSpec.partitions:
            yield partition.values, root + (partition.relativePath or "")
    if spec.partitionList:
        for partition in spec.partitionList.partitions:
            yield partition.values, partition.sd.location
