"""Remove a database of the demo, so that a later one has something to do."""

from hive_metastore import ThriftHiveMetastore
from hive_metastore.ttypes import NoSuchObjectException
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from demo.names import DATABASE
from sandbox import Cluster
from twinhive.core.model.marks import SOURCE_FOR


def remove_database(cluster: Cluster, name: str = DATABASE) -> bool:
    """Drop a database of a cluster, by default that of the demo, with all its data; False when there was none."""
    transport = TBufferedTransport(TSocket(cluster.metastore_host, cluster.metastore_port))
    client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
    transport.open()
    try:
        database = client.get_database(name)
        # After a failover of the tour it was a source, which Hive keeps from being dropped.
        if (database.parameters or {}).pop(SOURCE_FOR, None) is not None:
            client.alter_database(name, database)
        client.drop_database(name, deleteData=True, cascade=True)
    except NoSuchObjectException:
        return False
    finally:
        transport.close()
    return True
