"""Write the column statistics of a Hive metastore's tables and partitions."""

from hive_metastore import ttypes

from twinhive.adapters.hive_reader import CATALOG
from twinhive.adapters.hive_writing import WritingMetastore, restated
from twinhive.adapters.thrift_json import struct_of
from twinhive.domain.errors import Missing, Refused
from twinhive.domain.names import TableName
from twinhive.domain.tjson import from_text

_HIVE = "hive"
_EVERY_ENGINE = None
"""Impala, for one, keeps statistics of its own beside Hive's."""


class StatisticsWrites(WritingMetastore):
    """Set and delete column statistics."""

    def set_statistics(self, table: TableName, statistics: str) -> None:
        """Write column statistics (ColumnStatistics in TJSON) of the table or of one of its partitions.

        The server notes in the object's `COLUMN_STATS_ACCURATE` which columns have them. Raises Missing.
        """
        struct = struct_of(ttypes.ColumnStatistics, from_text(statistics))
        description = struct.statsDesc
        description.dbName, description.tableName, description.catName = table.database, table.table, CATALOG
        struct.engine = struct.engine or _HIVE
        request = ttypes.SetPartitionsStatsRequest(colStats=[struct], needMerge=False, engine=struct.engine)
        doing = f"writing statistics of {table}" + (
            f", partition {description.partName}" if description.partName else ""
        )
        try:
            if description.isTblLevel:
                self._write(doing, lambda client: client.update_table_column_statistics_req(request))
            else:
                self._write(doing, lambda client: client.update_partition_column_statistics_req(request))
        except Refused as refusal:
            if self.table(table) is None:
                raise restated(refusal, Missing, f"{doing}: there is no such table") from refusal
            raise

    def delete_statistics(self, table: TableName, partition: str | None, column: str | None) -> None:
        """Delete the statistics of one column (None: all) of a table or partition; absent ones are fine.

        All columns are as many calls: one without a column's name is answered with yes and deletes nothing.
        """
        found = self.table(table)
        if found is None:
            return
        for name in [column] if column else [name for name, _ in found.columns]:
            self._delete_of_column(table, partition, name)

    def _delete_of_column(self, table: TableName, partition: str | None, column: str) -> None:
        own = (table.database, table.table)
        doing = f"deleting statistics of column {column} of {table}"
        try:
            if partition is None:
                self._write(doing, lambda client: client.delete_table_column_statistics(*own, column, _EVERY_ENGINE))
            else:
                self._write(
                    f"{doing}, partition {partition}",
                    lambda client: client.delete_partition_column_statistics(*own, partition, column, _EVERY_ENGINE),
                )
        except Missing:
            return
        except Refused:
            # Without the table, the server answers with an error that the bindings do not know.
            if self.table(table) is not None:
                raise
