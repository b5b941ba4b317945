"""Write the partitions of a Hive metastore's tables."""

from collections.abc import Sequence

from hive_metastore import ttypes

from twinhive.core.model import thrift_objects as objects
from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition
from twinhive.hive.adapters.hive.hive_reader import CATALOG
from twinhive.hive.adapters.hive.hive_writing import WritingMetastore, keeping_statistics, restated
from twinhive.hive.adapters.hive.thrift_json import struct_of


class PartitionWrites(WritingMetastore):
    """Add, alter, rename and drop partitions."""

    def add_partitions(self, partitions: Sequence[Partition]) -> None:
        """Add partitions of one table, all or none. Raises AlreadyThere, Missing."""
        if not partitions:
            return
        table = _only_table(partitions)
        request = ttypes.AddPartitionsRequest(
            dbName=table.database,
            tblName=table.table,
            parts=[_struct(partition) for partition in partitions],
            ifNotExists=False,
            needResult=False,
        )
        doing = f"adding {len(partitions)} partitions to {table}"
        try:
            self._write(doing, lambda client: client.add_partitions_req(request))
        except Refused as refusal:
            if self.table(table) is None:
                raise restated(refusal, Missing, f"{doing}: there is no such table") from refusal
            raise

    def alter_partitions(self, partitions: Sequence[Partition]) -> None:
        """Replace partitions of one table, found by their values, all or none. Raises Missing."""
        if not partitions:
            return
        table = _only_table(partitions)
        request = ttypes.AlterPartitionsRequest(
            dbName=table.database,
            tableName=table.table,
            partitions=[_struct(partition) for partition in partitions],
            environmentContext=keeping_statistics(),
        )
        doing = f"altering {len(partitions)} partitions of {table}"
        try:
            self._write(doing, lambda client: client.alter_partitions_req(request))
        except Refused as refusal:
            there = self._those_there(table, [partition.values for partition in partitions])
            if there is None:
                raise restated(refusal, Missing, f"{doing}: there is no such table") from refusal
            if gone := [partition.values for partition in partitions if partition.values not in there]:
                raise restated(refusal, Missing, f"{doing}: there is no partition {gone[0]}") from refusal
            raise

    def rename_partition(self, values: Sequence[str], partition: Partition) -> None:
        """Give the partition with `values` the values and all else of `partition`.

        A managed table's partition is moved to its default place below the table, whatever location
        it is given; one of an external table keeps the location it has. Where the default place
        exists already, registered or not, nothing is renamed. File statistics that differ from those
        it had are counted anew by the server. Raises Missing, AlreadyThere, Refused.
        """
        old = tuple(values)
        request = ttypes.RenamePartitionRequest(
            catName=CATALOG,
            dbName=partition.table.database,
            tableName=partition.table.table,
            partVals=list(old),
            newPart=_struct(partition),
        )
        doing = f"renaming partition {old} of {partition.table} to {partition.values}"
        try:
            self._write(doing, lambda client: client.rename_partition_req(request))
        except Refused as refusal:
            there = self._those_there(partition.table, [old, partition.values])
            if there is None or old not in there:
                raise restated(refusal, Missing, f"{doing}: there is no such partition") from refusal
            if partition.values in there:
                raise restated(refusal, AlreadyThere, f"{doing}: that one exists already") from refusal
            raise

    def drop_partitions(self, table: TableName, names: Sequence[str], *, delete_data: bool) -> None:
        """Drop partitions by name, in one call; those that do not exist are fine, a missing table is not."""
        if not names:
            return
        request = ttypes.DropPartitionsRequest(
            dbName=table.database,
            tblName=table.table,
            parts=ttypes.RequestPartsSpec(names=list(names)),
            deleteData=delete_data,
            ifExists=True,
            needResult=False,
        )
        self._write(f"dropping {len(names)} partitions of {table}", lambda client: client.drop_partitions_req(request))

    def _those_there(self, table: TableName, values: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]] | None:
        """Return which of the partitions exist, None without the table."""
        found = self.table(table)
        if found is None:
            return None
        keys = found.partition_keys
        names = [partition_name(keys, each) for each in values if len(each) == len(keys)]
        return {partition.values for partition in self.partitions(table, names)}


def _struct(partition: Partition) -> object:
    return struct_of(ttypes.Partition, objects.fresh_partition(partition))


def _only_table(partitions: Sequence[Partition]) -> TableName:
    tables = {partition.table for partition in partitions}
    if len(tables) > 1:
        raise ValueError(f"one call writes partitions of one table, got {sorted(map(str, tables))}")
    return tables.pop()
