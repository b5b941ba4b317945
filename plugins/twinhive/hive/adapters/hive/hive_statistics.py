"""Write the column statistics of a Hive metastore's tables and partitions."""

from twinhive.core.model.errors import Missing, Refused
from twinhive.core.model.names import TableName
from twinhive.core.model.tjson import Tree, from_text
from twinhive.hive.adapters.hive.hive_reader import CATALOG
from twinhive.hive.adapters.hive.hive_writing import WritingMetastore, restated
from twinhive.hive.adapters.hive.thrift_binary import arguments_of, call_with

_HIVE = "hive"
# ColumnStatistics, ColumnStatisticsDesc
_DESCRIPTION, _ENGINE = "1", "4"
_IS_OF_TABLE = "1"
_OF_TABLE, _OF_PARTITION = "update_table_column_statistics_req", "update_partition_column_statistics_req"
_EVERY_ENGINE = None
"""Impala, for one, keeps statistics of its own beside Hive's."""


class StatisticsWrites(WritingMetastore):
    """Set and delete column statistics."""

    def set_statistics(self, table: TableName, statistics: str) -> None:
        """Write column statistics (ColumnStatistics in TJSON) of the table or of one of its partitions.

        They come with what the bindings do not know (histograms). The server notes in the object's
        `COLUMN_STATS_ACCURATE` which columns have them. Raises Missing, Refused.
        """
        doing = f"writing statistics of {table}"
        try:
            method, request = _request(table, from_text(statistics))
            arguments = arguments_of(method, request)
        except (ValueError, KeyError, TypeError) as error:
            raise Refused(
                f"{doing}: they cannot be read",
                found=f"{error!r:.200}",
                expected="ColumnStatistics in Thrift's JSON",
                next_step="skip their event, and ANALYZE the table at the source",
            ) from error
        try:
            self._write(doing, lambda client: call_with(client, method, arguments))
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


def _request(table: TableName, given: Tree) -> tuple[str, Tree]:
    """Return the method for statistics, and its SetPartitionsStatsRequest for a table of this name."""
    own = {"2": {"str": table.database}, "3": {"str": table.table}, "6": {"str": CATALOG}}
    description = given[_DESCRIPTION]["rec"] | own
    engine = given.get(_ENGINE) or {"str": _HIVE}
    struct = given | {_DESCRIPTION: {"rec": description}, _ENGINE: engine}
    method = _OF_TABLE if description[_IS_OF_TABLE]["tf"] else _OF_PARTITION
    return method, {"1": {"lst": ["rec", 1, struct]}, "2": {"tf": 0}, "5": engine}
