"""Know which directories the tables and partitions of a replica use, without holding their locations as text."""

from collections.abc import Callable, Iterator

from twinhive.domain.files import is_below, parent
from twinhive.domain.objects import Table
from twinhive.domain.policy import Policy
from twinhive.ports import MetastoreReader
from twinhive.steps.hashed_paths import HashedPaths


class UsedPlaces:
    """The directories below a root that hold rows of something registered, and those above one of these.

    Two paths of one hash are taken for one: then a directory counts as used that is not, never the other way round.
    """

    def __init__(self, root: str, digest: Callable[[str], int] = hash) -> None:
        self._root = root
        self._rows = HashedPaths(digest)
        self._above = HashedPaths(digest)

    @classmethod
    def read(cls, replica: MetastoreReader, policy: Policy, root: str) -> "UsedPlaces":
        """Ask for all tables and partitions of a policy's replica, `partitions_per_call` at a time."""
        places, database = cls(root), policy.replica.database
        for table in replica.tables(database, replica.table_names(database)):
            if table.location and table.partition_keys:
                places.add_above(table.location)
                for location in _locations(replica, table, policy.options.partitions_per_call):
                    places.add_rows(location)
            elif table.location:
                places.add_rows(table.location)
        return places

    def add_rows(self, directory: str) -> None:
        """Note that a directory holds rows, and so what lies between it and the root."""
        if not is_below(directory, self._root):
            return
        self._rows.add(directory)
        above = parent(directory)
        # All the way up: one that seems to be known may only have the hash of another.
        while is_below(above, self._root):
            self._above.add(above)
            above = parent(above)

    def add_above(self, directory: str) -> None:
        """Note that a directory is in use, and that what is below it is used or not by itself."""
        self._above.add(directory)

    def holds_rows(self, directory: str) -> bool:
        """Return True where a directory is in use with all that is below it."""
        return directory in self._rows

    def is_above(self, directory: str) -> bool:
        """Return True where a directory is in use, and each one below it used or not by itself."""
        return directory in self._above


def _locations(replica: MetastoreReader, table: Table, per_call: int) -> Iterator[str]:
    names = replica.partition_names(table.name)
    for start in range(0, len(names), per_call):
        for partition in replica.partitions(table.name, names[start : start + per_call]):
            yield partition.location or ""
