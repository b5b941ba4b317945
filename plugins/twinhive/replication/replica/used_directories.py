"""Know which directories the tables and partitions of a replica use, without holding their locations as text."""

import re
from collections.abc import Callable
from contextlib import suppress
from posixpath import normpath

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import is_below, parent
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import MetastoreReader
from twinhive.replication.dump.hashed_paths import HashedPaths
from twinhive.replication.replica.source_scope import tables_in_bulk

_WITHOUT_HOST = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?")


class UsedPlaces:
    """The directories below a root that hold rows of something registered, and those above one of these.

    Two paths of one hash are taken for one: then a directory counts as used that is not, never the other way round.
    """

    def __init__(self, root: str, digest: Callable[[str], int] = hash) -> None:
        self._root = _path(root)
        self._rows = HashedPaths(digest)
        self._above = HashedPaths(digest)

    @classmethod
    def read(cls, replica: MetastoreReader, policy: Policy, root: str) -> "UsedPlaces":
        """Ask for all tables of a policy's replica and where their partitions lie, table by table.

        Tables that have come by the end are asked for too: one may have got another name meanwhile.
        """
        places, database = cls(root), policy.replica.database
        known: set[str] = set()
        while new := sorted(set(replica.table_names(database)) - known):
            for table in tables_in_bulk(replica, database, new):
                places._add(replica, table)
            known.update(new)
        return places

    def _add(self, replica: MetastoreReader, table: Table) -> None:
        if not table.location:
            return
        if not table.partition_keys:
            self.add_rows(table.location)
            return
        self.add_above(table.location)
        # Dropped meanwhile: what it has used is found unused by the next sweep.
        with suppress(Missing):
            for _, location in replica.partition_locations(table):
                self.add_rows(location or "")

    def add_rows(self, directory: str) -> None:
        """Note that a directory holds rows, and so what lies between it and the root."""
        directory = _path(directory)
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
        self._above.add(_path(directory))

    def holds_rows(self, directory: str) -> bool:
        """Return True where a directory is in use with all that is below it."""
        return _path(directory) in self._rows

    def is_above(self, directory: str) -> bool:
        """Return True where a directory is in use, and each one below it used or not by itself."""
        return _path(directory) in self._above


def _path(directory: str) -> str:
    """Return the path alone: whoever writes a place may leave out the host, or name another port, or too many slashes.

    What lies at the same path elsewhere is taken for this: too much counts as used, never too little.
    """
    return f"/{normpath(_WITHOUT_HOST.sub('', directory)).lstrip('/')}"
