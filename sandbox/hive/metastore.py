"""Run a cluster's Hive metastore."""

from collections.abc import Mapping
from pathlib import Path

from fb303 import FacebookService
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from sandbox.configuration import LOOPBACK, Database, hadoop_client, metastore, with_twins, write_site_files
from sandbox.jvm.java_server import JavaServer
from sandbox.layout import Layout
from sandbox.ports import PortBlock, accepts

_ALIVE = 2


class Metastore(JavaServer):
    """Be a cluster's metastore."""

    main = "org.apache.hadoop.hive.metastore.HiveMetaStore"

    def __init__(self, cluster: str, layout: Layout, block: PortBlock, database: Database, jars: list[Path]) -> None:
        super().__init__(f"{cluster}-metastore", layout, jars, ["-Xmx512m", "-Xss4m"])
        # It ends at once when its file system does not answer.
        self.depends_on = ("postgres", f"{cluster}-namenode", f"{cluster}-datanode")
        self._cluster = cluster
        self._block = block
        self._database = database
        self._port = block.cluster(cluster).metastore
        self.ports = {"thrift": self._port}

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Write the configuration; an override counts for Hadoop's files and for Hive's."""
        super().prepare(overrides)
        hive = metastore(self._cluster, self._port, self._database)
        hive |= with_twins(overrides, hive)
        write_site_files(self._conf, {**hadoop_client(self._cluster, self._block), **overrides}, hive)

    def arguments(self) -> list[str]:
        """Return the arguments of the main class."""
        return ["-p", str(self._port)]

    def is_ready(self) -> bool:
        """Tell whether it calls itself alive."""
        if not accepts(self._port):
            return False
        socket = TSocket(LOOPBACK, self._port)
        socket.setTimeout(5000)
        transport = TBufferedTransport(socket)
        try:
            transport.open()
            return bool(FacebookService.Client(TBinaryProtocol(transport)).getStatus() == _ALIVE)
        except (TException, OSError):
            return False
        finally:
            transport.close()
