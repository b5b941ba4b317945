"""Suspect tables whose partitions may overlap, by hashes of their places: few bytes for each partition.

A suspect may be innocent, because two paths have one hash; a table that is none has no overlap. Whoever holds the
places as text (`DistinctPlaces`) then need look at suspects alone.
"""

from collections.abc import Callable, Iterable, Iterator

from twinhive.core.model.files import is_below, parent
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.replication.bootstrap.directory_overlaps import relative_place
from twinhive.replication.dump.hashed_paths import HashedPaths


class OverlapSuspects:
    """Look at the partitions of one table after the other."""

    def __init__(self, digest: Callable[[str], int] = hash) -> None:
        self._digest = digest
        self._table: TableName | None = None
        self._sources = self._above = self._targets = HashedPaths(digest)
        self.tables: set[TableName] = set()

    def look_at(self, table: Table, partitions: Iterable[Partition]) -> None:
        """Suspect a table when a partition meets an earlier one. The slices of one table come one after the other."""
        if table.name != self._table:
            self._table = table.name
            self._sources, self._above, self._targets = (HashedPaths(self._digest) for _ in range(3))
        for partition in partitions:
            source, target = partition.location or "", relative_place(table, partition)
            above = list(_above(source, table.location or ""))
            if self._meets(source, target, above) or is_below(f"{table.location}/", source):
                self.tables.add(table.name)
            self._sources.add(source)
            self._targets.add(target)
            for directory in above:
                self._above.add(directory)

    def _meets(self, source: str, target: str, above: list[str]) -> bool:
        shares = source in self._sources or target in self._targets
        return shares or source in self._above or any(directory in self._sources for directory in above)


def _above(place: str, table: str) -> Iterator[str]:
    """Yield the directories above a place, for one in its table's directory those inside of that."""
    within = table if is_below(place, table) else ""
    above = parent(place)
    while above and (not within or is_below(above, within)):
        yield above
        above = parent(above)
