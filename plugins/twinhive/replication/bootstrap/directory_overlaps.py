"""Refuse managed tables and partitions whose directories overlap.

A managed table owns its files. When two of them share a directory, or one lies inside another's,
the same file would have two owners on the replica, and dropping one would take the other's rows.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from twinhive.core.model.errors import ActNow
from twinhive.core.model.file_names import partition_path
from twinhive.core.model.files import is_below, relative_to
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.text import Clear, Exclude
from twinhive.core.model.untrusted_paths import leads_elsewhere


def relative_place(table: Table, partition: Partition) -> str:
    """Return where a partition lies below its table's directory, by its own name where it lies elsewhere."""
    location = partition.location
    if location and table.location and is_below(location, table.location):
        relative = relative_to(location, table.location)
        # What only looks as if it lay below the table lies elsewhere.
        if not leads_elsewhere(relative):
            return relative
    return partition_path(partition.name(table.partition_keys))


class DistinctPlaces:
    """Remember where partitions are at the source and where they go, table by table."""

    def __init__(self) -> None:
        self._table: TableName | None = None
        self._sources: dict[str, str] = {}
        self._targets: dict[str, str] = {}

    def check_tables(self, tables: Sequence[Table]) -> None:
        """Raise ActNow when two tables share a directory, or one lies inside an unpartitioned one's."""
        placed = sorted(((_components(table.location), table) for table in tables if table.location), key=_first)
        for (one, outer), (other, inner) in pairwise(placed):
            if one == other or (other[: len(one)] == one and not outer.partition_keys):
                raise _overlap(f"{outer.name} and {inner.name}", f"{outer.location} and {inner.location}", inner.name)

    def check_partitions(self, table: Table, partitions: Iterable[Partition]) -> None:
        """Raise ActNow when a partition shares its directory, here or on the replica.

        The slices of one table come one after the other, and `check_nesting` after the last.
        """
        if table.name != self._table:
            self._table, self._sources, self._targets = table.name, {}, {}
        for partition in partitions:
            name = partition.name(table.partition_keys)
            target = relative_place(table, partition)
            source = partition.location or ""
            for seen, place in ((self._sources, source), (self._targets, target)):
                other = seen.setdefault(place, name)
                if other != name:
                    raise _overlap(f"partitions {other} and {name} of {table.name}", place, table.name)

    def check_nesting(self) -> None:
        """Raise ActNow when a partition of the table lies inside another one's directory."""
        for outer, inner in pairwise(sorted(self._sources, key=_components)):
            if outer and is_below(inner, outer) and self._table:
                one, other = self._sources[outer], self._sources[inner]
                raise _overlap(f"partitions {one} and {other} of {self._table}", f"{outer} and {inner}", self._table)


def _components(path: str) -> list[str]:
    """Split a path, so that whatever lies below a directory is sorted right behind it."""
    return path.split("/")


def _first(pair: tuple[list[str], Table]) -> list[str]:
    return pair[0]


def _overlap(what: str, where: str, table: TableName) -> ActNow:
    return ActNow(
        f"{what} overlap, which cannot be replicated as managed tables",
        found=f"one directory, or one inside the other: {where}",
        expected="a directory of its own for each table and each partition",
        next_step="move one of them, or "
        + Exclude(table.table)
        + "; then "
        + Clear("the task list_objects with all tasks after it"),
    )
