"""Read the objects that a message holds, and refuse those that lack what replication decides upon."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from twinhive.core.model import thrift_objects
from twinhive.core.model.files import authority, qualified
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function, Partition, Table
from twinhive.core.model.tjson import Tree
from twinhive.hive.events.event_errors import unreadable
from twinhive.hive.events.fields import MessageFields


def database(tree: Tree, text: str) -> Database:
    """Read a database, with its name in lower case. Raises ValueError."""
    read = thrift_objects.read_database(tree, text)
    _require_texts("name", read.name)
    _require_pairs(read.parameters)
    return replace(read, name=read.name.lower())


def table(tree: Tree, text: str) -> Table:
    """Read a table or view, as the metastore stores it: CREATE_TABLE and ALTER_TABLE tell what a client said.

    Raises ValueError.
    """
    stored = thrift_objects.as_stored(tree)
    read = thrift_objects.read_table(stored, text if stored is tree else None)
    _require_texts("name", read.name.database, read.name.table)
    _require_texts("partition key", *read.partition_keys)
    _require_texts("column", *(name for name, _ in read.columns))
    _require_pairs(read.parameters)
    return read


def partition_of(owner: Table) -> Callable[[Tree, str], Partition]:
    """Return what reads a partition of a table. It raises ValueError."""

    def partition(tree: Tree, text: str) -> Partition:
        read = thrift_objects.read_partition(tree, text)
        _require_pairs(read.parameters)
        if not all(isinstance(value, str) for value in read.values):
            raise ValueError(f"the partition values {read.values!r:.80} are not texts")
        if len(read.values) != len(owner.partition_keys):
            raise ValueError(f"the partition values {read.values!r:.80} are not those of {owner.partition_keys}")
        return read.at(owner.name, _place(read.location, owner))

    return partition


def _place(location: str | None, owner: Table) -> str | None:
    """Complete a location that names no host: it is on the cluster's file system, as all that is managed."""
    if location and owner.location and owner.kind.has_logged_files:
        return qualified(location, authority(owner.location))
    return location


def function(tree: Tree, text: str) -> Function:
    """Read a function. Raises ValueError."""
    read = thrift_objects.read_function(tree, text)
    _require_texts("name, class or resource", read.database, read.name, read.class_name, *read.resources)
    return read


def table_name(tree: Tree, database_id: str, table_id: str) -> TableName:
    """Read the name of a table out of two fields of a struct. Raises ValueError."""
    database, name = (tree.get(field_id, {}).get("str") for field_id in (database_id, table_id))
    if not (database and name):
        raise ValueError("the name of a table is missing")
    return TableName(database.lower(), name.lower())


def table_of_row(message: MessageFields) -> TableName:
    """Return the table that the event is filed under. Raises ActNow when it is filed under none."""
    row = message.row
    if not (row.database and row.table):
        raise unreadable(row, f"filed under {row.database!r}, {row.table!r}", "a database and a table")
    return TableName(row.database.lower(), row.table.lower())


def _require_texts(what: str, *texts: object) -> None:
    if not all(isinstance(text, str) and text for text in texts):
        raise ValueError(f"a {what} is missing")


def _require_pairs(parameters: Mapping[str, object]) -> None:
    if not all(isinstance(value, str) for value in parameters.values()):
        raise ValueError("the value of a parameter is not a text")
