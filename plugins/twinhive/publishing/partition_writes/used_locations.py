"""Know where the partitions of a table lie now: what lies there is not to be taken away."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from twinhive.core.model.files import is_below, without_port
from twinhive.core.model.objects import Table
from twinhive.core.ports.table_writers import TableWriter


@dataclass(frozen=True)
class PlacesInUse:
    """The places of all partitions of a table, sorted."""

    places: Sequence[str]

    @classmethod
    def read(cls, metastore: TableWriter, table: Table) -> "PlacesInUse":
        """Ask the metastore, by one call."""
        return cls.of(place for _, place in metastore.partition_locations(table))

    @classmethod
    def of(cls, places: Iterable[str]) -> "PlacesInUse":
        """Know some places, however their file system is spelled: a port may be named, and left out in another one."""
        return cls(sorted(map(without_port, places)))

    def hold(self, directory: str) -> bool:
        """True for a directory in which a partition lies, or below which one does."""
        directory = without_port(directory)
        return self._has(directory) or self._has_below(directory)

    def _has(self, directory: str) -> bool:
        at = bisect_left(self.places, directory)
        return self.places[at : at + 1] == [directory]

    def _has_below(self, directory: str) -> bool:
        at = bisect_left(self.places, directory + "/")
        return any(is_below(place, directory) for place in self.places[at : at + 1])
