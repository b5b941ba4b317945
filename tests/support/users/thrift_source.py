"""Be a real metastore with the calls that only writers of a source make."""

from collections.abc import Mapping, Sequence

from hive_metastore import ttypes

from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition
from twinhive.core.model.thrift_objects import fresh_partition
from twinhive.hive.adapters.hive.hive_table_writer import ThriftTableWriter
from twinhive.hive.adapters.hive.hive_writing import keeping_statistics
from twinhive.hive.adapters.hive.thrift_json import struct_of


class ThriftSource(ThriftTableWriter):
    """Read and write one metastore as users of a source do."""

    def drop_database(self, name: str) -> None:
        """Drop a database with all that is in it."""
        self._write(f"dropping database {name}", lambda client: client.drop_database(name, True, True))

    def truncate_table(self, name: TableName, partition_names: Sequence[str] | None = None) -> None:
        """Remove all files of a table, or of some of its partitions."""
        names = None if partition_names is None else list(partition_names)
        request = ttypes.TruncateTableRequest(dbName=name.database, tableName=name.table, partNames=names)
        self._write(f"truncating {name}", lambda client: client.truncate_table_req(request))

    def alter_partition(self, partition: Partition) -> None:
        """Replace one partition by the call that is made for one alone."""
        name = partition.table
        struct = struct_of(ttypes.Partition, fresh_partition(partition))
        self._write(
            f"altering partition {partition.values} of {name}",
            lambda client: client.alter_partition_with_environment_context(
                name.database, name.table, struct, keeping_statistics()
            ),
        )

    def exchange_partitions(self, specification: Mapping[str, str], source: TableName, destination: TableName) -> None:
        """Move the partitions with these values, and their directories, into another table."""
        self._write(
            f"exchanging {dict(specification)} of {source} into {destination}",
            lambda client: client.exchange_partitions(
                dict(specification), source.database, source.table, destination.database, destination.table
            ),
        )

    def fire_insert(
        self,
        name: TableName,
        values: Sequence[str] | None,
        files: Sequence[tuple[str, str | None]],
        *,
        replaces: bool = False,
    ) -> None:
        """Log that files (each with its checksum) were written; with one checksum missing, all are."""
        checksums = [checksum for _, checksum in files if checksum is not None]
        data = ttypes.InsertEventRequestData(
            replace=replaces,
            filesAdded=[path for path, _ in files],
            filesAddedChecksum=checksums if len(checksums) == len(files) else None,
        )
        request = ttypes.FireEventRequest(
            successful=True,
            data=ttypes.FireEventRequestData(insertData=data),
            dbName=name.database,
            tableName=name.table,
            partitionVals=None if values is None else list(values),
        )
        self._write(f"logging an insert into {name}", lambda client: client.fire_listener_event(request))

    def column_statistics(self, table: TableName, partition: str | None = None) -> set[str]:
        """Return the names of the columns that have statistics."""
        found = self.table(table)
        assert found is not None
        columns = [name for name, _ in found.columns]
        doing = f"reading statistics of {table}"
        if partition is None:
            request = ttypes.TableStatsRequest(table.database, table.table, columns, engine="hive")
            answer = self._read(doing, lambda client: client.get_table_statistics_req(request))
            return {statistics.colName for statistics in answer.tableStats}
        of_partition = ttypes.PartitionsStatsRequest(table.database, table.table, columns, [partition], engine="hive")
        answer = self._read(doing, lambda client: client.get_partitions_statistics_req(of_partition))
        return {statistics.colName for statistics in answer.partStats.get(partition, ())}
