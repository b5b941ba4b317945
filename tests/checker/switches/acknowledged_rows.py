"""Keep which rows writers were told of, and have not removed themselves: none of them may be nowhere."""

from collections.abc import Iterable

from tests.checker.switches.foreign_things import KEPT
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hive.fake_metastore import InMemoryMetastore
from twinhive.core.model.files import base_name, is_hidden
from twinhive.core.model.names import TableName

Row = tuple[str, bytes]
"""The name of a file and its bytes: names are never used twice, bytes may be."""


def visible(
    metastore: InMemoryMetastore, files: InMemoryFiles, database: str | None = None, without: Iterable[TableName] = ()
) -> set[Row]:
    """Return the rows that readers find: in one database, or in all, but for some tables."""
    found: set[Row] = set()
    left_out = set(without)
    for name, table in list(metastore._tables.items()):
        if name in left_out or (database is not None and name.database != database):
            continue
        places = [table.location]
        if table.partition_keys:
            places = [one.location for one in metastore._partitions[name].values()]
        for place in places:
            for status in files._tree.children(place) if place and place.rstrip("/") in files._nodes else ():
                if not status.is_directory and status.length and not is_hidden(base_name(status.path)):
                    found.add((base_name(status.path), files._nodes[status.path].content))
    return found


def kept(metastore: InMemoryMetastore, files: InMemoryFiles) -> set[Row]:
    """Return the rows of the databases in which an old primary's rows are kept."""
    names = [name for name in metastore._databases if KEPT in name]
    return {row for name in names for row in visible(metastore, files, name)}
