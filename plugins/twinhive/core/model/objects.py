"""Describe databases, tables and partitions as values.

Each object carries `thrift`, its Thrift struct in TJSON text exactly as the metastore gave it,
so that fields which this version does not understand survive a read and a write. The named
fields are the ones that replication decides upon; where both say something, the field wins
(adapters put the fields back into the struct when they write).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from twinhive.core.model.constraints import Constraint, TablePair
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.table_formats import RowFiles, row_files

Parameters = Mapping[str, str]
DDL_TIME = "transient_lastDdlTime"
"""When a table was altered last, in seconds since 1970: Hive and Spark take it off, and the metastore sets it anew."""

USER = 1
"""The kind of an owner of whom no other is said, by Hive's number."""


class TableKind(Enum):
    """What a table is to replication."""

    MANAGED = "managed"
    """Hive owns the files: metadata and files follow the event log."""
    EXTERNAL = "external"
    """Somebody else owns the files: metadata in the log, files by directory sync."""
    VIEW = "view"
    """A query: metadata only."""
    MATERIALIZED_VIEW = "materialized view"
    """A query with files that Hive rebuilds; not replicated."""
    TRANSACTIONAL = "transactional"
    """A managed ACID table: its files mean nothing without the transaction tables."""
    HANDLER = "storage handler"
    """Its rows are not plain files of its directory (Iceberg, HBase, JDBC): a copy of that would not be the table."""
    OPEN_FORMAT = "open format"
    """A managed table of Delta or Hudi: a log that no event tells of says which of its files count."""

    @property
    def why_left_out(self) -> str | None:
        """Say why no policy replicates such tables, None for a kind that replication follows."""
        return _LEFT_OUT.get(self)

    @property
    def has_files(self) -> bool:
        """True when its rows are in files of its own."""
        return self not in (TableKind.VIEW, TableKind.MATERIALIZED_VIEW)

    @property
    def is_all_in_log(self) -> bool:
        """True when the log's events bring all of it: its definition, and its files if it has any."""
        return self in (TableKind.MANAGED, TableKind.VIEW)

    @property
    def has_logged_files(self) -> bool:
        """True when the log's events bring its files: nobody but Hive writes them."""
        return self is TableKind.MANAGED

    @property
    def has_comparable_files(self) -> bool:
        """True when files of two sides that differ tell of a write without an event: the log alone changes them."""
        return self is TableKind.MANAGED

    @property
    def has_listed_content(self) -> bool:
        """True when constraints, partitions and files are listed at the source, and again where the log is unsure."""
        return self in (TableKind.MANAGED, TableKind.EXTERNAL)

    @property
    def has_plain_files(self) -> bool:
        """True when its rows are the files of its directories: a copy of these is a copy of the table."""
        return self in (TableKind.MANAGED, TableKind.EXTERNAL)


_LEFT_OUT = {
    TableKind.TRANSACTIONAL: "transactional table: not replicated yet",
    TableKind.HANDLER: "table of a storage handler, a catalog or a list of files: its rows are not in its directory",
    TableKind.OPEN_FORMAT: "managed table of Delta or Hudi: no event tells of the log that says which files count",
    TableKind.MATERIALIZED_VIEW: "materialized view: the replica's Hive has to build it",
}
_MANAGED, _EXTERNAL, _VIEW = "MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW"
_KINDS = {
    _MANAGED: TableKind.MANAGED,
    _EXTERNAL: TableKind.EXTERNAL,
    _VIEW: TableKind.VIEW,
    "MATERIALIZED_VIEW": TableKind.MATERIALIZED_VIEW,
}


def stored_type(said: str | None, parameters: Parameters, *, is_query: bool) -> str:
    """Return the type that the metastore gives a table of which a client said these things (`is_query`: a view's text).

    The parameter EXTERNAL alone decides between managed and external (ObjectStore, convertToMTable). What has no type
    is a view if it has the text of one (convertToTable). Any other type is stored as it was said.
    """
    if said is None and is_query:
        return _VIEW
    if said in (None, _MANAGED, _EXTERNAL):
        return _EXTERNAL if _says_external(parameters) else _MANAGED
    return said


def _says_external(parameters: Parameters) -> bool:
    return parameters.get("EXTERNAL", "").lower() == "true"


@dataclass(frozen=True)
class Database:
    """A database. Locations are URIs without a trailing slash, or None where not set."""

    name: str
    location: str | None
    managed_location: str | None
    parameters: Parameters
    thrift: str = field(repr=False)
    comment: str | None = None
    owner: str | None = None
    owner_type: int | None = None
    """What the owner is, by Hive's number (PrincipalType): USER, 2 a role, 3 a group; None where nothing is said."""
    connector: str | None = None
    """Of a database of type REMOTE: the data connector that it is reached by, if it names one."""


@dataclass(frozen=True)
class Table:
    """A table or a view. `location` is None for views; `columns` are (name, type) pairs.

    `constraints` are None where nobody has read them: they are no part of the struct, and an event that tells of a
    table tells them apart.
    """

    name: TableName
    table_type: str
    location: str | None
    partition_keys: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    parameters: Parameters
    thrift: str = field(repr=False)
    constraints: tuple[Constraint, ...] | None = None

    @property
    def kind(self) -> TableKind:
        """Classify by type and by the `transactional` parameter; a type that Hive does not know goes by EXTERNAL."""
        odd = TableKind.EXTERNAL if _says_external(self.parameters) else TableKind.MANAGED
        kind = _KINDS.get(self.table_type, odd)
        if kind is TableKind.MANAGED and self.parameters.get("transactional", "").lower() == "true":
            return TableKind.TRANSACTIONAL
        if kind in (TableKind.MANAGED, TableKind.EXTERNAL) and self.row_files is RowFiles.ELSEWHERE:
            return TableKind.HANDLER
        if kind is TableKind.MANAGED and self.row_files is RowFiles.LOGGED:
            return TableKind.OPEN_FORMAT
        return kind

    @cached_property
    def row_files(self) -> RowFiles:
        """How its rows follow from its directory."""
        return row_files(self.parameters, self.thrift)

    @property
    def has_plain_files(self) -> bool:
        """True when the visible files of its directories are its rows: a copy of these is a copy of the table."""
        return self.kind.has_plain_files and self.row_files is RowFiles.ALL

    @property
    def is_external(self) -> bool:
        """True when somebody else owns the files."""
        return self.kind is TableKind.EXTERNAL

    @property
    def purges(self) -> bool:
        """True when a drop of this external table deletes its data (Hive's `external.table.purge`)."""
        return self.parameters.get("external.table.purge", "").lower() == "true"

    @property
    def foreign_keys(self) -> tuple[TablePair, ...]:
        """The table with each other one that a foreign key of it refers to."""
        return tuple(
            (self.name, parent) for parent in sorted({one.parent for one in self.constraints or () if one.parent})
        )

    @property
    def has_files(self) -> bool:
        """True for a table whose rows are in files of its own."""
        return self.kind.has_files

    def at(self, name: TableName, location: str | None) -> "Table":
        """Return the same table under another name and location."""
        return replace(self, name=name, location=location)

    def with_constraints(self, constraints: tuple[Constraint, ...] | None) -> "Table":
        """Return the same table with these constraints instead of its own."""
        return replace(self, constraints=constraints)

    def with_parameters(self, parameters: Parameters) -> "Table":
        """Return the same table with these parameters instead of its own."""
        return replace(self, parameters=parameters)


@dataclass(frozen=True)
class Partition:
    """A partition of a table, by its values in the order of the table's partition keys."""

    table: TableName
    values: tuple[str, ...]
    location: str | None
    parameters: Parameters
    thrift: str = field(repr=False)

    def name(self, keys: tuple[str, ...]) -> str:
        """Return the partition's name, which is its default directory below the table's."""
        return partition_name(keys, self.values)

    def at(self, table: TableName, location: str | None) -> "Partition":
        """Return the same partition of another table at another location."""
        return replace(self, table=table, location=location)

    def with_parameters(self, parameters: Parameters) -> "Partition":
        """Return the same partition with these parameters instead of its own."""
        return replace(self, parameters=parameters)


@dataclass(frozen=True)
class Function:
    """A permanent function. `resources` are the URIs of its jars, files and archives."""

    database: str
    name: str
    class_name: str
    resources: tuple[str, ...]
    thrift: str = field(repr=False)

    def at(self, database: str, resources: tuple[str, ...]) -> "Function":
        """Return the same function in another database, with its resources elsewhere."""
        return replace(self, database=database, resources=resources)
