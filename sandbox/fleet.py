"""Build every server of an instance."""

from functools import partial
from pathlib import Path

from sandbox.airflow.airflow_server import AirflowServer
from sandbox.brokers.broker import ActiveMq
from sandbox.configuration import CLUSTERS, NORTH
from sandbox.connections import instance_environment
from sandbox.hadoop.hdfs import DataNode, NameNode
from sandbox.hadoop.yarn import JobHistory, NodeManager, ResourceManager
from sandbox.hive.metastore import Metastore
from sandbox.jvm.jars import jar_files
from sandbox.layout import InstanceRecord, Layout
from sandbox.ports import PortBlock
from sandbox.postgres import AIRFLOW_DATABASE, JOURNAL_DATABASE, Postgres, metastore_database
from sandbox.server import Server
from sandbox.spark_servers import SparkMaster, SparkWorker

_CLUSTER_ROLES = ("namenode", "datanode", "metastore")
DEFAULT_SERVERS = ("postgres", *(f"{cluster}-{role}" for cluster in CLUSTERS for role in _CLUSTER_ROLES))

GROUPS = {NORTH: (f"{NORTH}-namenode", f"{NORTH}-datanode")}
"""Names of several servers that are of use only together."""


def postgres_server(layout: Layout, record: InstanceRecord, shared: Path, jars: list[Path]) -> Postgres:
    """Build the database server."""
    return Postgres(layout, PortBlock(record.port_base).postgres, record.postgres_password, shared, jars)


def build_servers(layout: Layout, record: InstanceRecord, shared: Path, cache: Path) -> dict[str, Server]:
    """Build all servers, by name, dependencies first."""
    block = PortBlock(record.port_base)
    jars = jar_files(cache)
    postgres = postgres_server(layout, record, shared, jars)
    servers: list[Server] = [postgres]
    for cluster in (*CLUSTERS, NORTH):
        ports = block.cluster(cluster)
        servers.append(NameNode(cluster, layout, ports, jars))
        servers.append(DataNode(cluster, layout, ports, jars))
    for cluster in CLUSTERS:
        database = postgres.database(metastore_database(cluster))
        servers.append(Metastore(cluster, layout, block, database, jars))
    servers += [SparkMaster(layout, block), SparkWorker(layout, block)]
    servers += [
        ResourceManager(layout, block, cache),
        JobHistory(layout, block, cache),
        NodeManager(layout, block, cache),
    ]
    servers.append(ActiveMq(layout, block, cache))
    own, journal = (postgres.database(name).sqlalchemy_url for name in (AIRFLOW_DATABASE, JOURNAL_DATABASE))
    servers.append(AirflowServer(layout, block, own, journal, partial(instance_environment, layout, block)))
    return {server.name: server for server in servers}
