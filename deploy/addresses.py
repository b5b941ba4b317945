"""Say where each server of docker-compose.yml listens: its service's name, and its usual port."""

from sandbox.ports import ClusterPorts

EVERYWHERE = "0.0.0.0"  # noqa: S104 (inside of a container: only what docker-compose.yml publishes leaves it)
POSTGRES = "postgres"
POSTGRES_PORT = 5432
SUPERUSER = "twinhive"
SPARK_MASTER = "spark-master"
SPARK_MASTER_PORT = 7077
BROKER = "broker"
BROKER_PORT = 61_613
CLUSTER_PORTS = ClusterPorts(
    namenode=8020, namenode_http=9870, datanode=9866, datanode_ipc=9867, datanode_http=9864, metastore=9083
)


def namenode(cluster: str) -> str:
    """Name the service of a cluster's NameNode."""
    return f"{cluster}-namenode"


def datanode(cluster: str) -> str:
    """Name the service of a cluster's DataNode."""
    return f"{cluster}-datanode"


def metastore(cluster: str) -> str:
    """Name the service of a cluster's metastore."""
    return f"{cluster}-metastore"


def namenode_url(cluster: str) -> str:
    """Return where a NameNode answers HTTP."""
    return f"http://{namenode(cluster)}:{CLUSTER_PORTS.namenode_http}"
