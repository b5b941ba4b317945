"""Remove a database of the demo, so that a later one has something to do."""

from hive_metastore import ThriftHiveMetastore
from hive_metastore.ttypes import NoSuchObjectException
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from demo.names import DATABASE
from sandbox import Cluster


def remove_database(cluster: Cluster, name: str = DATABASE) -> bool:
    """Drop a database of a cluster, by default that of the demo, with all its data; False when there was none."""
    transport = TBufferedTransport(TSocket(cluster.metastore_host, cluster.metastore_port))
    client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
    transport.open()
    try:
        client.drop_database(name, deleteData=True, cascade=True)
    except NoSuchObjectException:
        return False
    finally:
        transport.close()
    return True
