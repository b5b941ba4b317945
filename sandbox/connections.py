"""Write the clusters as Airflow connections in environment variables."""

import json
from collections.abc import Iterable, Mapping

from sandbox.brokers.broker import NAME as BROKER
from sandbox.brokers.broker import broker_connections
from sandbox.cluster import Cluster, describe_cluster
from sandbox.configuration import CLUSTERS, LOOPBACK, NORTH, USER
from sandbox.layout import Layout
from sandbox.ports import PortBlock
from sandbox.running import processes
from sandbox.spark_servers import MASTER


def connection_environment(clusters: Iterable[Cluster], spark_master_port: int | None = None) -> dict[str, str]:
    """Return every connection of every cluster, and the user to act as."""
    connections: dict[str, Mapping[str, object]] = {}
    for cluster in clusters:
        prefix = cluster.name.upper()
        connections[f"{prefix}_METASTORE"] = _metastore(cluster)
        connections[f"{prefix}_HDFS"] = _hdfs(cluster)
        connections[f"{prefix}_SPARK"] = {"conn_type": "spark", "host": "local[2]"}
        if spark_master_port is not None:
            connections[f"{prefix}_SPARK_STANDALONE"] = {
                "conn_type": "spark",
                "host": f"spark://{LOOPBACK}",
                "port": spark_master_port,
            }
    encoded = {f"AIRFLOW_CONN_{name}": json.dumps(connection) for name, connection in connections.items()}
    return {**encoded, "HADOOP_USER_NAME": USER}


def instance_environment(layout: Layout, block: PortBlock) -> dict[str, str]:
    """Return the connections of an instance as they are now: Spark's standalone cluster and `north` while they run."""
    has_north = processes.read_record(layout.pid_file(f"{NORTH}-namenode")) is not None
    clusters = [describe_cluster(name, block, layout) for name in (*CLUSTERS, *([NORTH] if has_north else []))]
    has_spark = processes.read_record(layout.pid_file(MASTER)) is not None
    has_broker = processes.read_record(layout.pid_file(BROKER)) is not None
    brokers = broker_connections(block.broker) if has_broker else {}
    return {**connection_environment(clusters, block.spark_master if has_spark else None), **brokers}


def _metastore(cluster: Cluster) -> Mapping[str, object]:
    return {"conn_type": "hive_metastore", "host": cluster.metastore_host, "port": cluster.metastore_port}


def _hdfs(cluster: Cluster) -> Mapping[str, object]:
    extra = {"uri": cluster.hdfs_uri, "user": cluster.user, "hadoop": cluster.hadoop_properties}
    return {"conn_type": "hdfs", "host": cluster.name, "extra": extra}
