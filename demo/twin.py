"""Remove the demo's twin, so that a later demo has something to do."""

from hive_metastore import ThriftHiveMetastore
from hive_metastore.ttypes import NoSuchObjectException
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from demo.names import DATABASE
from sandbox import Cluster


def remove_twin(cluster: Cluster) -> bool:
    """Drop the database of the demo on the replica with all its data; False when there was none."""
    transport = TBufferedTransport(TSocket(cluster.metastore_host, cluster.metastore_port))
    client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
    transport.open()
    try:
        client.drop_database(DATABASE, deleteData=True, cascade=True)
    except NoSuchObjectException:
        return False
    finally:
        transport.close()
    return True
