"""Derive what the containers are configured with from what the sandbox runs with: the same keys, other addresses."""

import json
from collections.abc import Mapping
from pathlib import Path

from deploy import addresses
from deploy.addresses import CLUSTER_PORTS, EVERYWHERE
from sandbox import configuration
from sandbox.cluster import Cluster
from sandbox.configuration import CLUSTERS, Database, Properties
from sandbox.connections import connection_environment
from sandbox.ports import PortBlock
from sandbox.postgres import metastore_database

STORAGE = Path("/data")
PASSWORD_VARIABLE = "METASTORE_DB_PASSWORD"  # noqa: S105 (its name)
_NO_BLOCK = PortBlock(0)  # the ports in it are all replaced


def hdfs_server(cluster: str) -> Properties:
    """Configure a NameNode and a DataNode."""
    namenode = addresses.namenode(cluster)
    changes = {
        "fs.defaultFS": f"hdfs://{namenode}:{CLUSTER_PORTS.namenode}",
        "dfs.namenode.rpc-address": f"{namenode}:{CLUSTER_PORTS.namenode}",
        "dfs.namenode.rpc-bind-host": EVERYWHERE,
        "dfs.namenode.http-address": f"{namenode}:{CLUSTER_PORTS.namenode_http}",
        "dfs.namenode.http-bind-host": EVERYWHERE,
        "dfs.datanode.address": f"{EVERYWHERE}:{CLUSTER_PORTS.datanode}",
        "dfs.datanode.ipc.address": f"{EVERYWHERE}:{CLUSTER_PORTS.datanode_ipc}",
        "dfs.datanode.http.address": f"{EVERYWHERE}:{CLUSTER_PORTS.datanode_http}",
        "dfs.datanode.hostname": addresses.datanode(cluster),
        "dfs.datanode.data.dir": (STORAGE / "data").as_uri(),
        # Tests may lose what a power cut takes; this set may not.
        "dfs.namenode.edits.noeditlogchannelflush": "false",
    }
    return _with(changes, configuration.hdfs_server(CLUSTER_PORTS, STORAGE))


def hadoop_client(cluster: str) -> Properties:
    """Configure a client of both clusters whose default file system is `cluster`'s."""
    changes = {
        f"dfs.namenode.rpc-address.{name}.nn1": f"{addresses.namenode(name)}:{CLUSTER_PORTS.namenode}"
        for name in CLUSTERS
    }
    return _with(changes, configuration.hadoop_client(cluster, _NO_BLOCK, CLUSTERS))


def metastore(cluster: str) -> Properties:
    """Configure a metastore server; Hadoop's configuration reads the password from the environment."""
    database = metastore_tables(cluster, f"${{env.{PASSWORD_VARIABLE}}}")
    changes = {"metastore.thrift.bind.host": EVERYWHERE}
    return _with(changes, configuration.metastore(cluster, CLUSTER_PORTS.metastore, database))


def metastore_tables(cluster: str, password: str) -> Database:
    """Say where a metastore keeps its tables; its user is called like its database."""
    name = metastore_database(cluster)
    return Database(addresses.POSTGRES_PORT, name, name, password, addresses.POSTGRES)


def cluster(name: str) -> Cluster:
    """Describe a cluster to those who use it from another container."""
    host, port = addresses.metastore(name), CLUSTER_PORTS.metastore
    changes = dict.fromkeys(("hive.metastore.uris", "metastore.thrift.uris"), f"thrift://{host}:{port}")
    return Cluster(
        name=name,
        metastore_port=port,
        hadoop_properties=hadoop_client(name),
        hive_properties=_with(changes, configuration.metastore_client(name, _NO_BLOCK)),
        conf_dir=Path(__file__).with_name("conf") / name / "metastore",
        metastore_host=host,
    )


def connections() -> dict[str, str]:
    """Return the connections as variables of Airflow's containers."""
    spark = {"conn_type": "spark", "host": f"spark://{addresses.SPARK_MASTER}", "port": addresses.SPARK_MASTER_PORT}
    changes = {f"AIRFLOW_CONN_{name.upper()}_SPARK": json.dumps(spark) for name in CLUSTERS}
    return _with(changes, connection_environment(cluster(name) for name in CLUSTERS))


def _with(changes: Mapping[str, str], base: Mapping[str, str]) -> Properties:
    """Change values of the sandbox. Raises KeyError for a key that it does not have: nothing here is only ours."""
    if unknown := changes.keys() - base.keys():
        raise KeyError(f"the sandbox does not set {', '.join(sorted(unknown))}")
    return {**base, **changes}
