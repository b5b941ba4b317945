"""A small metastore that really speaks Thrift: databases, tables and partition names in memory."""

import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport import TTransport
from thrift.transport.TSocket import TSocket

from tests.support.servers.loopback_server import LoopbackServer


class Contents:
    """What one metastore has, and what it was asked."""

    def __init__(self, name: str) -> None:
        self.name = self.log_id = name
        self.tables: dict[tuple[str, str], ttypes.Table] = {}
        self.partitions: dict[tuple[str, str], list[str]] = {}
        self.databases: list[str] = ["default"]
        self.asked: Counter[str] = Counter()
        self.users: list[str] = []
        self.last: Any = None
        self.gate = threading.Event()
        """Unset: calls wait."""
        self.gate.set()

    def add(self, database: str, table: str, comment: str = "", partitions: tuple[str, ...] = ()) -> None:
        """Add a table, with its database."""
        if database not in self.databases:
            self.databases.append(database)
        sd = ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema("id", "int", comment)],
            location=f"hdfs://{self.name}/{database}/{table}",
            serdeInfo=ttypes.SerDeInfo(parameters={}),
            parameters={},
        )
        self.tables[database, table] = ttypes.Table(
            tableName=table,
            dbName=database,
            catName="hive",
            owner=self.name,
            sd=sd,
            partitionKeys=[],
            parameters={"comment": comment},
            tableType="EXTERNAL_TABLE",
        )
        self.partitions[database, table] = list(partitions)

    def add_view(self, database: str, view: str, text: str, **parameters: str) -> None:
        """Add a view as Spark keeps one; a dot of its settings is written as two underscores."""
        self.add(database, view)
        table = self.tables[database, view]
        table.tableType, table.viewOriginalText, table.viewExpandedText = "VIRTUAL_VIEW", text, text
        table.parameters |= {key.replace("__", "."): value for key, value in parameters.items()}


def _bare(name: str) -> str:
    return name.partition("#")[2] if name.startswith("@") else name


class _Handler:
    def __init__(self, contents: Contents) -> None:
        self._of = contents

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if not name.startswith("_"):
            of = super().__getattribute__("_of")
            of.asked[name] += 1
            assert of.gate.wait(30)
        return found

    def set_ugi(self, user_name: str, group_names: list[str]) -> list[str]:
        self._of.users.append(user_name)
        return group_names

    def setMetaConf(self, key: str, value: str) -> None:
        self._of.last = (key, value)

    def get_config_value(self, name: str, defaultValue: str) -> str:
        return defaultValue

    def get_metastore_db_uuid(self) -> str:
        return self._of.log_id

    def get_database_req(self, request: Any) -> Any:
        if _bare(request.name).lower() not in self._of.databases:
            raise ttypes.NoSuchObjectException(f"database {request.name} not found")
        return ttypes.Database(name=request.name, locationUri=f"hdfs://{self._of.name}/{request.name}")

    def get_all_databases(self) -> list[str]:
        return self._of.databases

    def get_all_tables(self, db_name: str) -> list[str]:
        return sorted(table for database, table in self._of.tables if database == _bare(db_name))

    def get_table_req(self, req: Any) -> Any:
        found = self._of.tables.get((_bare(req.dbName).lower(), req.tblName.lower()))
        if found is None:
            raise ttypes.NoSuchObjectException(f"{req.dbName}.{req.tblName} table not found")
        return ttypes.GetTableResult(found)

    def get_table_objects_by_name_req(self, req: Any) -> Any:
        found = (self._of.tables.get((_bare(req.dbName), name)) for name in req.tblNames)
        return ttypes.GetTablesResult([one for one in found if one is not None])

    def get_partition_names(self, db_name: str, tbl_name: str, max_parts: int) -> list[str]:
        return self._of.partitions.get((_bare(db_name), tbl_name), [])

    def get_table_meta(self, db_patterns: str, tbl_patterns: str, tbl_types: Any) -> list[Any]:
        wanted = re.compile(db_patterns.replace("*", ".*"))
        return [
            ttypes.TableMeta(database, table, "EXTERNAL_TABLE")
            for database, table in sorted(self._of.tables)
            if wanted.fullmatch(database)
        ]

    def get_valid_write_ids(self, rqst: Any) -> Any:
        self._of.last = rqst
        ids = [ttypes.TableValidWriteIds(name, 7, [], abortedBits=b"") for name in rqst.fullTableNames]
        return ttypes.GetValidWriteIdsResponse(ids)

    def drop_table(self, dbname: str, name: str, deleteData: bool) -> None:
        del self._of.tables[dbname, name]

    def create_table(self, tbl: Any) -> None:
        self._of.tables[tbl.dbName, tbl.tableName] = tbl


class WireMetastore(LoopbackServer):
    """Serve contents on a loopback port, one thread a connection."""

    def __init__(self, contents: Contents, port: int = 0) -> None:
        self._processor = ThriftHiveMetastore.Processor(_Handler(contents))
        super().__init__(port)

    def _serve(self, client: socket.socket) -> None:
        handle = TSocket()
        handle.setHandle(client)
        protocol = TBinaryProtocolAccelerated(TTransport.TBufferedTransport(handle))
        try:
            while True:
                self._processor.process(protocol, protocol)
        except (TTransport.TTransportException, OSError, AttributeError):
            pass


@contextmanager
def client_of(port: int, timeout: float = 20) -> Iterator[Any]:
    """Yield a client of a metastore, or of a gateway."""
    handle = TSocket("127.0.0.1", port)
    handle.setTimeout(timeout * 1_000)
    transport = TTransport.TBufferedTransport(handle)
    transport.open()
    try:
        yield ThriftHiveMetastore.Client(TBinaryProtocolAccelerated(transport))
    finally:
        transport.close()
