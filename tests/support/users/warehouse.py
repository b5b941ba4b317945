"""Fill a real cluster with databases, tables and files, quickly and without Spark."""

import uuid
from collections.abc import Mapping, Sequence

from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from sandbox import Cluster
from twinhive.core.model.names import partition_name
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles

_TEXT = ttypes.SerDeInfo(
    name="text",
    serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
    parameters={"field.delim": ",", "serialization.format": ","},
)


class Warehouse:
    """Write one cluster as a careless user of its metastore and file system would."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.files = HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
        self.reconnect()

    def reconnect(self) -> None:
        """Open a new connection, after the metastore was restarted."""
        cluster = self.cluster
        self._transport = TBufferedTransport(TSocket(cluster.metastore_host, cluster.metastore_port))
        self._transport.open()
        self.client = ThriftHiveMetastore.Client(TBinaryProtocol(self._transport))
        self.client.set_ugi(cluster.user, [])

    def close(self) -> None:
        self._transport.close()

    def create_database(self, prefix: str = "db", **fields: object) -> str:
        """Create a database with a name of its own."""
        name = f"{prefix}_{uuid.uuid4().hex[:8]}"
        self.client.create_database(ttypes.Database(name=name, **fields))
        return name

    def location(self, database: str, table: str) -> str:
        """Return where a managed table belongs."""
        return f"{self.cluster.managed_warehouse}/{database}.db/{table}"

    def create_table(
        self,
        database: str,
        name: str,
        *,
        keys: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        location: str | None = None,
        kind: str = "MANAGED_TABLE",
        parameters: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> ttypes.Table:
        """Create a text table with its files; `keys` are the partition keys."""
        table = ttypes.Table(
            dbName=database,
            tableName=name,
            owner="ann",
            tableType=kind,
            parameters={**(parameters or {}), **({"EXTERNAL": "TRUE"} if kind == "EXTERNAL_TABLE" else {})},
            partitionKeys=[ttypes.FieldSchema(key, "string", None) for key in keys],
            sd=self._storage(location or self.location(database, name), comment),
        )
        for path, content in (files or {}).items():
            self.files.write(f"{table.sd.location}/{path}", content)
        self.client.create_table(table)
        return table

    def create_view(self, database: str, name: str, text: str) -> None:
        """Create a view."""
        table = ttypes.Table(
            dbName=database,
            tableName=name,
            tableType="VIRTUAL_VIEW",
            owner="ann",
            parameters={},
            partitionKeys=[],
            viewOriginalText=text,
            viewExpandedText=text,
            sd=ttypes.StorageDescriptor(cols=[ttypes.FieldSchema("a", "string", None)], serdeInfo=ttypes.SerDeInfo()),
        )
        self.client.create_table(table)

    def add_partition(
        self, table: ttypes.Table, *values: str, files: Mapping[str, bytes] | None = None, location: str | None = None
    ) -> None:
        """Add one partition with its files."""
        keys = tuple(key.name for key in table.partitionKeys)
        place = location or f"{table.sd.location}/{partition_name(keys, values)}"
        for path, content in (files or {}).items():
            self.files.write(f"{place}/{path}", content)
        self.client.add_partitions(
            [
                ttypes.Partition(
                    values=list(values),
                    dbName=table.dbName,
                    tableName=table.tableName,
                    parameters={"note": values[0]},
                    sd=self._storage(place, None),
                )
            ]
        )

    def _storage(self, location: str, comment: str | None) -> ttypes.StorageDescriptor:
        return ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema("a", "string", comment), ttypes.FieldSchema("b", "int", None)],
            location=location,
            inputFormat="org.apache.hadoop.mapred.TextInputFormat",
            outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
            serdeInfo=_TEXT,
            numBuckets=-1,
            bucketCols=[],
            sortCols=[],
            parameters={},
        )
