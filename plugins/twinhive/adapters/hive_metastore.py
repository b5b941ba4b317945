"""Write a Hive metastore (4.1 or later) through its Thrift API."""

from collections.abc import Callable, Sequence
from typing import Any

from hive_metastore import ttypes

from twinhive.adapters.hive_reader import ThriftMetastoreReader
from twinhive.adapters.thrift_connection import Request
from twinhive.adapters.thrift_json import struct_of
from twinhive.domain import thrift_objects as objects
from twinhive.domain.errors import Missing, Refused
from twinhive.domain.names import TableName
from twinhive.domain.objects import Database, Parameters, Partition, Table

_KEEP_STATISTICS = {"DO_NOT_UPDATE_STATS": "true"}
"""Without this the server lists a location that exists and replaces the statistics in the parameters."""


class ThriftMetastore(ThriftMetastoreReader):
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

    def create_table(self, table: Table) -> None:
        """Create a table or view. Raises AlreadyThere, and Missing without the database."""
        request = ttypes.CreateTableRequest(
            table=struct_of(ttypes.Table, objects.fresh_table(table)),
            envContext=ttypes.EnvironmentContext(_KEEP_STATISTICS),
        )
        try:
            self._write(f"creating table {table.name}", lambda client: client.create_table_req(request))
        except Refused as error:
            if self.database(table.name.database) is None:
                raise Missing(f"creating table {table.name}: there is no such database", found=error.found) from error
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

    def add_partitions(self, partitions: Sequence[Partition]) -> None:
        """Add partitions of one table, all or none. Raises AlreadyThere, Missing."""
        tables = {partition.table for partition in partitions}
        if not tables:
            return
        if len(tables) > 1:
            raise ValueError(f"partitions of one table are added in one call, got {sorted(map(str, tables))}")
        table = tables.pop()
        request = ttypes.AddPartitionsRequest(
            dbName=table.database,
            tblName=table.table,
            parts=[struct_of(ttypes.Partition, objects.fresh_partition(partition)) for partition in partitions],
            ifNotExists=False,
            needResult=False,
        )
        try:
            self._write(
                f"adding {len(partitions)} partitions to {table}", lambda client: client.add_partitions_req(request)
            )
        except Refused as error:
            if self.table(table) is None:
                raise Missing(f"adding partitions to {table}: there is no such table", found=error.found) from error
            raise

    def _write(self, doing: str, call: Callable[[Any], Any]) -> Any:
        return self.connections.write(Request(doing, call))
