"""Describe what one notification event says, as one typed value per kind of change.

A change carries the objects and files *of that event*, never what is there now (seed 002,
'Solution for Rubber Banding'). What replication cannot apply is a value too (`NotReplicated`),
so that nothing is lost without a word.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from twinhive.core.model.changes.events import Position
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function, Partition, Table


@dataclass(frozen=True)
class EventFile:
    """A file as an event names it: `<path>#<checksum>#<cmroot>#<subdirectory>`.

    `checksum` (hex, HDFS's identity form) is None when the writer gave none; such an entry says
    nothing about content. `cmroot` is the directory of the change manager that would keep it.
    """

    path: str
    checksum: str | None = None
    cmroot: str | None = None
    subdirectory: str = ""


Files = tuple[EventFile, ...]


class NoContent:
    """A change that touches no table's definition, no partition and no file."""


class DatabaseChange(NoContent):
    """A change of the database itself."""


class FunctionChange(NoContent):
    """A change of a permanent function."""


class DetailChange(NoContent):
    """A change of what is said of a table beside its definition: constraints, column statistics."""


@dataclass(frozen=True)
class CreateDatabase(DatabaseChange):
    """The database was created."""

    database: Database


@dataclass(frozen=True)
class AlterDatabase(DatabaseChange):
    """Owner, comment, location or parameters of the database changed."""

    before: Database
    after: Database


@dataclass(frozen=True)
class DropDatabase(DatabaseChange):
    """The database was dropped."""

    name: str


@dataclass(frozen=True)
class CreateTable:
    """A table or view was created; `files` were in its directory at that moment."""

    table: Table
    files: Files = ()


@dataclass(frozen=True)
class DropTable:
    """A table or view was dropped, with all its partitions."""

    table: Table


@dataclass(frozen=True)
class AlterTable:
    """A table or view changed; a rename has two names. `truncates`: its files were removed."""

    before: Table
    after: Table
    truncates: bool = False

    @property
    def renames(self) -> bool:
        """True when the name changed."""
        return self.before.name != self.after.name

    @property
    def changes_columns(self) -> bool:
        """True when columns were added, replaced or retyped."""
        return self.before.columns != self.after.columns


@dataclass(frozen=True)
class AddedPartition:
    """A partition that was added, with the files in its directory at that moment."""

    partition: Partition
    files: Files = ()


@dataclass(frozen=True)
class AddPartitions:
    """Partitions of one table were added, by one call."""

    table: Table
    added: tuple[AddedPartition, ...]


@dataclass(frozen=True)
class DropPartitions:
    """Partitions of one table were dropped, by one call; each by its values."""

    table: Table
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class AlterPartitions:
    """Partitions of one table changed. `truncates`: their files were removed.

    `before` are the partitions as they were, in the same order, where the event says it. `moved` are those that got
    another location, by values, with the files there: no event names them, who cut the window has looked.
    """

    table: Table
    after: tuple[Partition, ...]
    truncates: bool = False
    before: tuple[Partition, ...] = ()
    moved: Mapping[tuple[str, ...], Files] = field(default_factory=dict)


@dataclass(frozen=True)
class RenamePartition:
    """One partition got other values."""

    table: Table
    before: Partition
    after: Partition


@dataclass(frozen=True)
class Insert:
    """Files were added to a table or to one partition; `replaces`: they took the place of all others."""

    table: Table
    partition: Partition | None
    files: Files
    replaces: bool = False

    @property
    def replaces_unknown(self) -> bool:
        """True when rows were replaced by files of which one has no checksum: nobody can tell what they held."""
        return self.replaces and any(file.checksum is None for file in self.files)


@dataclass(frozen=True)
class CreateFunction(FunctionChange):
    """A permanent function was created."""

    function: Function


@dataclass(frozen=True)
class DropFunction(FunctionChange):
    """A permanent function was dropped."""

    database: str
    name: str


@dataclass(frozen=True)
class AddConstraints(DetailChange):
    """Constraints of one kind were added to a table.

    `kind` is one of primary_key, foreign_key, unique, not_null, default, check; `constraints` are
    the Thrift structs (SQLPrimaryKey and so on) in TJSON.
    """

    table: TableName
    kind: str
    constraints: tuple[str, ...]


@dataclass(frozen=True)
class DropConstraint(DetailChange):
    """A constraint of a table was dropped."""

    table: TableName
    name: str


@dataclass(frozen=True)
class UpdateStatistics(DetailChange):
    """Column statistics of a table, or of one partition (`values`), were written.

    `statistics` is the Thrift struct ColumnStatistics in TJSON.
    """

    table: TableName
    values: tuple[str, ...] | None
    statistics: str


@dataclass(frozen=True)
class DeleteStatistics(DetailChange):
    """The statistics of one column (None: of all) of a table or partition were deleted."""

    table: TableName
    values: tuple[str, ...] | None
    column: str | None


@dataclass(frozen=True)
class NotReplicated(NoContent):
    """An event whose effect replication does not carry over; `reason` is for people."""

    table: TableName | None
    reason: str


Change = (
    CreateDatabase
    | AlterDatabase
    | DropDatabase
    | CreateTable
    | DropTable
    | AlterTable
    | AddPartitions
    | DropPartitions
    | AlterPartitions
    | RenamePartition
    | Insert
    | CreateFunction
    | DropFunction
    | AddConstraints
    | DropConstraint
    | UpdateStatistics
    | DeleteStatistics
    | NotReplicated
)


OfPartitions = AddPartitions | DropPartitions | AlterPartitions | RenamePartition
OfDatabases = CreateDatabase | AlterDatabase | DropDatabase
OfFunctions = CreateFunction | DropFunction
OfDetails = AddConstraints | DropConstraint | UpdateStatistics | DeleteStatistics


@dataclass(frozen=True)
class Event:
    """One decoded event: its place in the log, its type as the log names it, and what it says."""

    position: Position
    event_type: str
    change: Change = field(repr=False)

    @property
    def event_id(self) -> int:
        """Return the event's id."""
        return self.position.event_id

    def __str__(self) -> str:
        return f"{self.event_id} {self.event_type}"
