"""Know which directories of a source its tables use, so that its users make no two managed tables in one.

Hive leaves the directory of a renamed table where it is when its name is spelled otherwise there (`..` in `-46--46-`),
and partitions stay behind when their table is given another location: a later table of the earlier name would
share the directory with them. Twinhive refuses such tables, and no user makes them on purpose.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from twinhive.core.model.files import is_below
from twinhive.core.model.objects import TableKind
from twinhive.core.ports import MetastoreReader


@dataclass(frozen=True)
class Places:
    """The directories of one database's managed tables and of their partitions, each with its table."""

    used: Collection[tuple[str, str]]

    @classmethod
    def of(cls, metastore: MetastoreReader, database: str) -> "Places":
        """Read them."""
        return cls(frozenset(_used(metastore, database)))

    def users(self, directory: str) -> set[str]:
        """Return the tables that use a directory, one in it or one that it is in."""
        return {table for place, table in self.used if _overlap(place, directory)}

    def shared(self) -> list[str]:
        """Say which tables share directories."""
        users = {place: sorted(self.users(place)) for place, _ in self.used}
        return sorted(f"tables {' and '.join(some)} share {place}" for place, some in users.items() if len(some) > 1)


def _used(metastore: MetastoreReader, database: str) -> Iterator[tuple[str, str]]:
    for table in metastore.tables(database, metastore.table_names(database)):
        if table.kind is TableKind.MANAGED and table.location:
            yield table.location, table.name.table
            for _, place in metastore.partition_locations(table) if table.partition_keys else ():
                yield place, table.name.table


def _overlap(one: str, other: str) -> bool:
    return one == other or is_below(one, other) or is_below(other, one)
