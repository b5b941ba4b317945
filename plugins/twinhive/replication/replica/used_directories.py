"""Know which directories tables and partitions use, without holding their locations as text.

A directory goes only when nobody in the whole metastore uses it. That is asked in three steps, each dearer than the
next is often: the replica's own database, to find what may be unused; all databases, when something is to go; and right
before one goes the table and the partition that it bears the name of.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from posixpath import normpath

from twinhive.core.model.errors import Missing
from twinhive.core.model.file_names import is_cut
from twinhive.core.model.files import is_below, parent, relative_to
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.tjson import from_text
from twinhive.core.ports import MetastoreReader
from twinhive.replication.dump.hashed_paths import HashedPaths
from twinhive.replication.replica.replica_locations import CONTENTS, table_of_directory
from twinhive.replication.replica.source_scope import tables_in_bulk

_TABLES_AT_ONCE = 200
_REMOTE = {"i32": 2}
"""What a database's struct says of its type (field 11) where another catalog keeps its tables."""
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
        known: set[TableName] = set()
        while new := {TableName(database, name) for name in replica.table_names(database)} - known:
            for table in _tables(replica, new):
                places.add_table(replica, table)
            known |= new
        return places

    @classmethod
    def read_whole(
        cls, replica: MetastoreReader, policy: Policy, root: str, may_go_on: Callable[[], bool] = lambda: True
    ) -> "UsedPlaces | None":
        """Ask all databases of the metastore; None when it was not to go on to the end.

        What a table of another database lies in is in use with all that is below it: its users write there.
        """
        places, own = cls(root), policy.replica.database.lower()
        known: set[TableName] = set()
        while new := _all_names(replica) - known:
            for table in _tables(replica, new):
                if not may_go_on():
                    return None
                if table.name.database != own and table.location:
                    places.add_rows(table.location)
                places.add_table(replica, table)
            known |= new
        return places

    def add_table(self, replica: MetastoreReader, table: Table) -> None:
        """Note where a table and its partitions lie."""
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
        self.add_above(parent(directory))

    def add_above(self, directory: str) -> None:
        """Note that a directory is in use, and that what is below it is used or not by itself."""
        directory = _path(directory)
        # All the way up: one that seems to be known may only have the hash of another.
        while is_below(directory, self._root):
            self._above.add(directory)
            directory = parent(directory)

    def holds_rows(self, directory: str) -> bool:
        """Return True where a directory is in use with all that is below it."""
        return _path(directory) in self._rows

    def is_above(self, directory: str) -> bool:
        """Return True where a directory is in use, and each one below it used or not by itself."""
        return _path(directory) in self._above

    def uses(self, directory: str) -> bool:
        """Return True where something registered lies in a directory, is it, or lies around it with its rows."""
        if self.is_above(directory):
            return True
        directory = _path(directory)
        while is_below(directory, self._root):
            if directory in self._rows:
                return True
            directory = parent(directory)
        return False


def used_by_name(replica: MetastoreReader, database: str, root: str, directory: str) -> bool:
    """Ask for the table, and the partition, that a directory below the root bears the name of, as they are now.

    True where one of them lies in the directory, is it, or lies around it.
    """
    top, _, below = relative_to(directory, root).partition("/")
    table = replica.table(TableName(database, table_of_directory(top)))
    if table is None or not table.location:
        return False
    if not table.partition_keys:
        return _meet(table.location, directory)
    if _meet(directory, table.location) and not is_below(_path(directory), _path(table.location)):
        return True
    names = below.split("/")[2 if below.partition("/")[0] == CONTENTS else 0 :]
    with suppress(Missing):
        is_one = len(names) == len(table.partition_keys) and not is_cut(below)
        found = (
            replica.partition_locations_of(table, ["/".join(names)]) if is_one else replica.partition_locations(table)
        )
        return any(_meet(location, directory) for _, location in found if location)
    return False


def _meet(one: str, other: str) -> bool:
    one, other = _path(one), _path(other)
    return one == other or is_below(one, other) or is_below(other, one)


def _all_names(replica: MetastoreReader) -> set[TableName]:
    """Return the names of all tables of a metastore; those of other catalogs have no directories here."""
    found = (replica.database(name) for name in replica.database_names())
    here = [one for one in found if one is not None and not _is_remote(one)]
    return {TableName(one.name, table) for one in here for table in replica.table_names(one.name)}


def _is_remote(database: Database) -> bool:
    return database.connector is not None or from_text(database.thrift).get("11") == _REMOTE


def _tables(replica: MetastoreReader, names: set[TableName]) -> Iterator[Table]:
    """Yield tables, those of one database after the other, some at a time."""
    by_database: dict[str, list[str]] = {}
    for name in sorted(names):
        by_database.setdefault(name.database, []).append(name.table)
    for database, some in by_database.items():
        for start in range(0, len(some), _TABLES_AT_ONCE):
            yield from tables_in_bulk(replica, database, some[start : start + _TABLES_AT_ONCE])


def _path(directory: str) -> str:
    """Return the path alone: whoever writes a place may leave out the host, or name another port, or too many slashes.

    What lies at the same path elsewhere is taken for this: too much counts as used, never too little.
    """
    return f"/{normpath(_WITHOUT_HOST.sub('', directory)).lstrip('/')}"
