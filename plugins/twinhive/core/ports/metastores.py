"""State what the steps need of a metastore."""

from collections.abc import Sequence
from typing import Protocol

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.constraints import Constraint
from twinhive.core.model.failover.left_mark import LeftMark
from twinhive.core.model.log_access import LogAccess
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function, Parameters, Partition, Table
from twinhive.core.model.remotes.data_connectors import DataConnector


class EventLog(Protocol):
    """Read a notification log."""

    def current_event_id(self) -> int:
        """Return the id of the newest event, 0 for a log that never held one."""
        ...

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        """Return at most `limit` rows with an id above `event_id`, ascending, unfiltered."""
        ...


class MetastoreReader(EventLog, Protocol):
    """Read one metastore. Reads are repeated on other addresses when one does not answer."""

    def addresses(self) -> tuple[str, ...]:
        """Return the `host:port` of every configured address."""
        ...

    def configuration(self, address: str, key: str) -> str:
        """Return one configuration value of one address, '' where it is not set."""
        ...

    def log_access(self, address: str) -> LogAccess:
        """Read the end of the notification log at one address. Raises Refused when we may not."""
        ...

    def log_id(self) -> str:
        """Return the identity of the metastore's database, and so of its notification log."""
        ...

    def database(self, name: str) -> Database | None:
        """Return a database, or None when there is none of this name."""
        ...

    def database_names(self) -> list[str]:
        """Return the names of all databases, sorted."""
        ...

    def connector(self, name: str) -> DataConnector | None:
        """Return a data connector, or None when there is none of this name."""
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

    def partition_names_with(self, table: TableName, values: Sequence[str]) -> list[str]:
        """Return the names of partitions with these values, sorted.

        There is a value for each key, in the order of the table's keys; '' stands for any. Raises Missing without such
        a table.
        """
        ...

    def partitions(self, table: TableName, names: Sequence[str]) -> list[Partition]:
        """Return the named partitions that exist, in the order of their names."""
        ...

    def partition_locations(self, table: Table) -> Sequence[tuple[str, str]]:
        """Return names and locations of all partitions of a table, sorted by name. Raises Missing without the table.

        Made for 100,000 partitions: nothing else of them is read.
        """
        ...

    def partition_locations_of(self, table: Table, names: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return names and locations of the named partitions that exist, sorted by name; nothing else is read.

        Made for tables of which all at once are too many. Raises Missing, or returns nothing, without the table.
        """
        ...

    def constraints(self, table: TableName) -> tuple[Constraint, ...]:
        """Return the constraints of a table, foreign keys last; none without the table."""
        ...

    def functions(self, database: str) -> list[Function]:
        """Return all permanent functions of a database, sorted by name."""
        ...

    def function_names(self, database: str) -> list[str]:
        """Return the names of all permanent functions, sorted: also of those that cannot be read."""
        ...

    def function(self, database: str, name: str) -> Function | None:
        """Return one permanent function, or None."""
        ...


class UnreadWriter(Protocol):
    """Write what no method of MetastoreReader returns; what a call is about comes first."""

    def set_statistics(self, table: TableName, /, statistics: str) -> None:
        """Write column statistics (ColumnStatistics in TJSON) of the table or of one of its partitions."""
        ...

    def delete_statistics(self, table: TableName, /, partition: str | None, column: str | None) -> None:
        """Delete the statistics of one column (None: all) of a table or partition; absent ones are fine."""
        ...


class MetastoreWriter(MetastoreReader, UnreadWriter, Protocol):
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
        self, name: TableName, table: Table, *, expected: str | None = None, of_key: str = STAMP, cascade: bool = False
    ) -> None:
        """Replace the table `name` by `table`, which may have another name, location or columns.

        With `expected` the change happens only if the table's parameter `of_key` still has that
        value (compare and set in the metastore); `table` must carry that parameter then. `cascade` gives all
        partitions the columns that this very call changes. Statistics in the parameters stay as given.
        Raises Missing, AlreadyThere (a rename onto a table that exists), ChangedMeanwhile (another value).
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
        """Add constraints of one kind (`twinhive.core.model.changes.kinds.AddConstraints`) to a table.

        The structs get the table's name; a foreign key's other table keeps its name and gets the
        database of `table` when it was in the database that the struct names for its own side.
        Raises AlreadyThere, Missing.
        """
        ...

    def drop_constraint(self, table: TableName, name: str) -> None:
        """Drop a constraint; one that does not exist is fine."""
        ...


class SourceMarker(Protocol):
    """The writes to a source metastore: our id in a database's `repl.source.for` list, marks of fence and failover.

    The first makes the source's change manager keep dropped and overwritten files from then on.
    """

    def mark(self, database: str, policy: str) -> None:
        """Add a policy to the list; its replica has not taken over (any more). Raises Refused when it did not stay."""
        ...

    def unmark(self, database: str, policy: str) -> None:
        """Take a policy off the database; one that is not there, or a dropped database, is fine."""
        ...

    def fence(self, database: str, mark: str | None) -> None:
        """Say at the database that writers are kept away, or no more; read back. Raises Missing, Refused."""
        ...

    def leave(self, database: str, mark: LeftMark) -> None:
        """Say at the database that a replica has taken over from it. Raises Missing; Refused for another one's mark."""
        ...
