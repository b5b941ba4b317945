"""State what the steps need from the outside world.

Reading and writing are different types, so that a planning step, which is handed readers only,
cannot write: the type checker says so. Every implementation raises only errors of
`twinhive.domain.errors`: `Unreachable` when a call may be tried again, `Refused` when not.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from twinhive.domain.events import EventRow
from twinhive.domain.files import ChecksumForm, FileStatus, Space, Usage
from twinhive.domain.names import TableName
from twinhive.domain.objects import Database, Function, Parameters, Partition, Table


class MetastoreReader(Protocol):
    """Read one metastore. Reads are repeated on other addresses when one does not answer."""

    def addresses(self) -> tuple[str, ...]:
        """Return the `host:port` of every configured address."""
        ...

    def configuration(self, address: str, key: str) -> str:
        """Return one configuration value of one address, '' where it is not set."""
        ...

    def log_id(self) -> str:
        """Return the identity of the metastore's database, and so of its notification log."""
        ...

    def current_event_id(self) -> int:
        """Return the id of the newest event, 0 for a log that never held one."""
        ...

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        """Return at most `limit` rows with an id above `event_id`, ascending, unfiltered."""
        ...

    def database(self, name: str) -> Database | None:
        """Return a database, or None when there is none of this name."""
        ...

    def table_names(self, database: str) -> list[str]:
        """Return the names of all tables and views, sorted."""
        ...

    def tables(self, database: str, names: Sequence[str]) -> list[Table]:
        """Return the named tables that exist, sorted by name."""
        ...

    def table(self, name: TableName) -> Table | None:
        """Return one table or view, or None."""
        ...

    def partition_names(self, table: TableName) -> list[str]:
        """Return the names of all partitions, sorted. Raises Missing without such a table."""
        ...

    def partitions(self, table: TableName, names: Sequence[str]) -> list[Partition]:
        """Return the named partitions that exist, in the order of their names."""
        ...

    def functions(self, database: str) -> list[Function]:
        """Return all permanent functions of a database, sorted by name."""
        ...


class MetastoreWriter(MetastoreReader, Protocol):
    """Write one metastore. No call is repeated blindly: read, compare, decide, then call again."""

    def create_database(self, database: Database) -> None:
        """Create a database. Raises AlreadyThere."""
        ...

    def set_database_parameters(self, name: str, parameters: Parameters) -> None:
        """Replace all parameters of a database. Raises Missing."""
        ...

    def alter_database(self, database: Database) -> None:
        """Replace owner, comment and parameters of a database; its locations stay. Raises Missing.

        An owner or a comment cannot be taken away: None leaves what is there.
        """
        ...

    def create_table(self, table: Table) -> None:
        """Create a table or view. Raises AlreadyThere."""
        ...

    def drop_table(self, name: TableName, *, delete_data: bool) -> None:
        """Drop a table; one that does not exist is fine."""
        ...

    def add_partitions(self, partitions: Sequence[Partition]) -> None:
        """Add partitions of one table, all or none. Raises AlreadyThere, Missing."""
        ...

    def alter_table(
        self, name: TableName, table: Table, *, expected_stamp: str | None = None, cascade: bool = False
    ) -> None:
        """Replace the table `name` by `table`, which may have another name, location or columns.

        With `expected_stamp` the change happens only if the table's `twinhive.stamp` still has that
        value (compare and set in the metastore); `table` must carry a stamp then. `cascade` gives all
        partitions the columns that this very call changes. Statistics in the parameters stay as given.
        Raises Missing, AlreadyThere (a rename onto a table that exists), ChangedMeanwhile (another stamp).
        """
        ...

    def alter_partitions(self, partitions: Sequence[Partition]) -> None:
        """Replace partitions of one table, found by their values, all or none. Raises Missing."""
        ...

    def rename_partition(self, values: Sequence[str], partition: Partition) -> None:
        """Give the partition with `values` the values and parameters of `partition`.

        The metastore moves a managed table's partition to its default place below the table, whatever
        the location given; anything that stands there is Refused. Raises Missing, AlreadyThere.
        """
        ...

    def drop_partitions(self, table: TableName, names: Sequence[str], *, delete_data: bool) -> None:
        """Drop partitions by name, in one call; those that do not exist are fine, a missing table is not."""
        ...

    def create_function(self, function: Function) -> None:
        """Create a permanent function. Raises AlreadyThere."""
        ...

    def drop_function(self, database: str, name: str) -> None:
        """Drop a permanent function; one that does not exist is fine."""
        ...

    def add_constraints(self, table: TableName, kind: str, constraints: Sequence[str]) -> None:
        """Add constraints of one kind (`twinhive.domain.changes.AddConstraints`) to a table.

        The structs get the table's name; a foreign key's other table keeps its name and gets the
        database of `table` when it was in the database that the struct names for its own side.
        Raises AlreadyThere, Missing.
        """
        ...

    def drop_constraint(self, table: TableName, name: str) -> None:
        """Drop a constraint; one that does not exist is fine."""
        ...

    def set_statistics(self, table: TableName, statistics: str) -> None:
        """Write column statistics (ColumnStatistics in TJSON) of the table or of one of its partitions."""
        ...

    def delete_statistics(self, table: TableName, partition: str | None, column: str | None) -> None:
        """Delete the statistics of one column (None: all) of a table or partition; absent ones are fine."""
        ...


class FileReader(Protocol):
    """Read one file system. Paths are full URIs."""

    @property
    def root(self) -> str:
        """Scheme and authority: `hdfs://east`."""
        ...

    def in_safe_mode(self) -> bool:
        """True while the file system refuses writes by itself."""
        ...

    def status(self, path: str) -> FileStatus | None:
        """Return the status of a path, or None when it does not exist."""
        ...

    def list_directories(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        """Yield the direct children of each directory, sorted, or None for a missing one.

        Directories come in the given order and in bulk calls where the file system has them.
        """
        ...

    def usage(self, path: str) -> Usage:
        """Return what is below a path. Raises Missing."""
        ...

    def space(self, path: str) -> Space:
        """Return free space for writes below a path; the nearest existing ancestor counts."""
        ...

    def checksum(self, path: str, form: ChecksumForm) -> str | None:
        """Return a file's checksum in hex, None where the file system has none. Raises Missing."""
        ...

    def read(self, path: str) -> bytes:
        """Return a whole (small) file. Raises Missing."""
        ...

    def open(self, path: str) -> Any:
        """Open a file as a stream that a writer of the same kind can copy from. Raises Missing."""
        ...

    def attribute(self, path: str, name: str) -> str | None:
        """Return an extended attribute of a path, or None. Raises Missing."""
        ...


class FileWriter(FileReader, Protocol):
    """Write one file system."""

    def write(self, path: str, content: bytes) -> None:
        """Write a (small) file as a whole, replacing one of the same name; parents are made."""
        ...

    def create_from(self, stream: Any, path: str, *, block_size: int = 0) -> int:
        """Write what `stream` holds into a new file, close both, return the bytes written.

        Parents are made. Raises AlreadyThere.
        """
        ...

    def make_directories(self, path: str) -> None:
        """Make a directory and its parents; one that exists is fine."""
        ...

    def rename(self, source: str, target: str) -> bool:
        """Rename without overwriting; False when the target exists or the source is gone."""
        ...

    def delete(self, path: str) -> bool:
        """Delete a file or a whole directory for good; False when there was none."""
        ...

    def set_attribute(self, path: str, name: str, value: str) -> None:
        """Set an extended attribute. Raises Missing."""
        ...


class Lease(Protocol):
    """The right to write to a policy's replica, held until released or taken over."""

    def confirm(self) -> None:
        """Prove that the lease is still ours; raises LeaseLost. Called before each batch of changes."""
        ...


class LeaseKeeper(Protocol):
    """Hand out the lease of a policy: one holder at a time, the newest wins."""

    def hold(self, directory: str, holder: Mapping[str, str]) -> AbstractContextManager[Lease]:
        """Take the lease kept in `directory`, from whoever has it, for the length of the context."""
        ...

    def holder(self, directory: str) -> str | None:
        """Say who has not released the lease (alive or killed), None when nobody holds it."""
        ...


class SourceMarker(Protocol):
    """The one write to a source metastore: our id in the database's `repl.source.for` list.

    It makes the source's change manager keep dropped and overwritten files from then on.
    """

    def mark(self, database: str, policy: str) -> None:
        """Add a policy to the list and read it back; Raises Refused when it did not stay."""
        ...

    def unmark(self, database: str, policy: str) -> None:
        """Take a policy out of the list; one that is not in it, or a dropped database, is fine."""
        ...


@dataclass(frozen=True)
class ReadPorts:
    """What a planning step may use: readers of both clusters, and the dump."""

    source: MetastoreReader
    replica: MetastoreReader
    source_files: FileReader
    replica_files: FileReader
    dump_files: FileWriter


@dataclass(frozen=True)
class WritePorts(ReadPorts):
    """What a step that changes the replica may use."""

    replica: MetastoreWriter
    replica_files: FileWriter
    lease: LeaseKeeper
    source_marker: SourceMarker
