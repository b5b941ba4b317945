"""Write a Hive metastore (4.1 or later) through its Thrift API."""

from hive_metastore import ttypes

from twinhive.core.model import thrift_objects as objects
from twinhive.core.model.errors import AlreadyThere, ChangedMeanwhile, Missing, Refused
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function, Parameters, Table
from twinhive.core.model.text import Clear
from twinhive.hive.adapters.hive.hive_constraints import ConstraintWrites
from twinhive.hive.adapters.hive.hive_partitions import PartitionWrites
from twinhive.hive.adapters.hive.hive_statistics import StatisticsWrites
from twinhive.hive.adapters.hive.hive_writing import keeping_statistics, restated
from twinhive.hive.adapters.hive.thrift_connection import AS_STORED
from twinhive.hive.adapters.hive.thrift_json import struct_of


class ThriftMetastore(PartitionWrites, ConstraintWrites, StatisticsWrites):
    """Read and write one metastore. Threads may share an instance."""

    def create_database(self, database: Database) -> None:
        """Create a database. Raises AlreadyThere."""
        struct = struct_of(ttypes.Database, objects.fresh_database(database))
        self._write(f"creating database {database.name}", lambda client: client.create_database(struct))

    def set_database_parameters(self, name: str, parameters: Parameters) -> None:
        """Replace all parameters of a database. Raises Missing."""
        struct = self._database(name)
        struct.parameters = dict(parameters)
        self._write(f"setting parameters of database {name}", lambda client: client.alter_database(name, struct))

    def alter_database(self, database: Database) -> None:
        """Replace owner, comment and parameters of a database; its locations stay. Raises Missing.

        A comment or an owner is replaced, never taken away: the server keeps the comment, and a database
        without an owner is one that it can never alter again.
        """
        struct = self._database(database.name)
        given = struct_of(ttypes.Database, objects.fresh_database(database))
        struct.description, struct.parameters = given.description, given.parameters
        struct.ownerName = given.ownerName or struct.ownerName
        struct.ownerType = given.ownerType or struct.ownerType
        self._write(f"altering database {database.name}", lambda client: client.alter_database(database.name, struct))

    def create_table(self, table: Table) -> None:
        """Create a table or view. Raises AlreadyThere, and Missing without the database."""
        request = ttypes.CreateTableRequest(
            table=struct_of(ttypes.Table, objects.fresh_table(table, is_new=True)), envContext=keeping_statistics()
        )
        doing = f"creating table {table.name}"
        try:
            self._write(doing, lambda client: client.create_table_req(request))
        except Refused as refusal:
            if self.database(table.name.database) is None:
                raise restated(refusal, Missing, f"{doing}: there is no such database") from refusal
            raise

    def alter_table(
        self, name: TableName, table: Table, *, expected: str | None = None, of_key: str = STAMP, cascade: bool = False
    ) -> None:
        """Replace the table `name` by `table`, which may have another name, location or columns.

        With `expected` the change happens only if the table's parameter `of_key` still has that value; `table`
        must carry that parameter then. With `cascade`, partitions get the columns, but only if those of the
        table change by this call. A new location moves no file. A new name moves the files of a managed
        table at its default place (`<database's directory>/<name>`) and the locations of the
        partitions below it, and of no other table. Raises Missing, AlreadyThere, ChangedMeanwhile.
        """
        environment = {"CASCADE": "true"} if cascade else {}
        if expected is not None:
            environment |= {"expected_parameter_key": of_key, "expected_parameter_value": expected}
        request = ttypes.AlterTableRequest(
            dbName=name.database,
            tableName=name.table,
            table=struct_of(ttypes.Table, objects.fresh_table(table)),
            environmentContext=keeping_statistics(**environment),
            processorCapabilities=AS_STORED,
        )
        try:
            self._write(f"altering table {name}", lambda client: client.alter_table_req(request))
        except Refused as refusal:
            self._explain_alter(refusal, name, table, expected, of_key)
            raise

    def drop_table(self, name: TableName, *, delete_data: bool) -> None:
        """Drop a table; one that does not exist is fine."""
        try:
            self._write(
                f"dropping table {name}",
                lambda client: client.drop_table_with_environment_context(
                    name.database, name.table, delete_data, ttypes.EnvironmentContext()
                ),
            )
        except Missing:
            return

    def create_function(self, function: Function) -> None:
        """Create a permanent function. Raises AlreadyThere, and Missing without the database."""
        struct = struct_of(ttypes.Function, objects.fresh_function(function))
        self._write(
            f"creating function {function.database}.{function.name}", lambda client: client.create_function(struct)
        )

    def drop_function(self, database: str, name: str) -> None:
        """Drop a permanent function; one that does not exist is fine."""
        try:
            self._write(f"dropping function {database}.{name}", lambda client: client.drop_function(database, name))
        except Missing:
            return

    def _explain_alter(
        self, refusal: Refused, name: TableName, table: Table, expected: str | None, of_key: str
    ) -> None:
        """Raise what reading back shows to be the reason; return when it shows none."""
        there = self.table(name)
        if there is None:
            raise restated(refusal, Missing, f"altering table {name}: there is no such table") from refusal
        if expected is not None and (found := there.parameters.get(of_key)) != expected:
            raise ChangedMeanwhile(
                f"altering table {name}: it is not what it was when it was read",
                found=f"{of_key}={found}",
                expected=f"{of_key}={expected}",
                next_step="see who else writes it; then " + Clear("the task"),
            ) from refusal
        if table.name != name and self.database(table.name.database) is None:
            raise restated(refusal, Missing, f"renaming {name} to {table.name}: there is no such database") from refusal
        if table.name != name and self.table(table.name) is not None:
            raise restated(refusal, AlreadyThere, f"renaming {name} to {table.name}: it exists already") from refusal
