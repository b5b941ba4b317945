"""The metastore in memory, spoken to over Thrift: the few calls that tests of a cluster's port make."""

from typing import Any

from hive_metastore import ttypes

from tests.support.hive.fake_metastore import InMemoryMetastore
from twinhive.core.model import thrift_objects as objects
from twinhive.core.model.names import TableName
from twinhive.hive.adapters.hive.thrift_json import struct_of, tree_of


class SpokenMetastore:
    """A handler for the bindings' processor."""

    def __init__(self, metastore: InMemoryMetastore) -> None:
        self._of = metastore
        self.asked: list[str] = []

    def get_table_req(self, req: Any) -> Any:
        table = self._of.table(TableName(req.dbName, req.tblName))
        if table is None:
            raise ttypes.NoSuchObjectException(f"{req.dbName}.{req.tblName}")
        return ttypes.GetTableResult(struct_of(ttypes.Table, objects.fresh_table(table)))

    def get_partitions(self, db_name: str, tbl_name: str, max_parts: int) -> list[Any]:
        name = TableName(db_name, tbl_name)
        found = self._of.partitions(name, self._of.partition_names(name))
        return [struct_of(ttypes.Partition, objects.fresh_partition(one)) for one in found]

    def get_partitions_by_expr(self, req: Any) -> Any:
        if req.expr == b"broken":
            raise ttypes.MetaException("no expression")
        return ttypes.PartitionsByExprResult(self.get_partitions(req.dbName, req.tblName, -1), True)

    def get_partitions_spec_by_expr(self, req: Any) -> Any:
        raise AssertionError("is never asked")

    def get_partitions_pspec(self, db_name: str, tbl_name: str, max_parts: int) -> list[Any]:
        raise AssertionError("is never asked")

    def get_database(self, name: str) -> Any:
        database = self._of.database(name)
        if database is None:
            raise ttypes.NoSuchObjectException(name)
        return struct_of(ttypes.Database, objects.fresh_database(database))

    def create_database(self, database: Any) -> None:
        self.asked.append("create_database")
        self._of.create_database(objects.read_database(tree_of(database)))

    def alter_database(self, dbname: str, db: Any) -> None:
        self.asked.append("alter_database")
        self._of.alter_database(objects.read_database(tree_of(db)))

    def create_table(self, tbl: Any) -> None:
        self.asked.append("create_table")
        self._of.create_table(objects.read_table(tree_of(tbl)))

    def alter_table(self, dbname: str, tbl_name: str, new_tbl: Any) -> None:
        self.asked.append("alter_table")
        self._of.alter_table(TableName(dbname, tbl_name), objects.read_table(tree_of(new_tbl)))

    def drop_table(self, dbname: str, name: str, deleteData: bool) -> None:
        self.asked.append("drop_table")
        self._of.drop_table(TableName(dbname, name), delete_data=deleteData)

    def drop_database(self, name: str, deleteData: bool, cascade: bool) -> None:
        self.asked.append("drop_database")

    def get_next_notification(self, rqst: Any) -> Any:
        raise AssertionError("is never asked")
