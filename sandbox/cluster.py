"""Describe a cluster to those who use it."""

from dataclasses import dataclass
from pathlib import Path

from sandbox.configuration import (
    CMROOT,
    EXTERNAL_WAREHOUSE,
    LOOPBACK,
    MANAGED_WAREHOUSE,
    USER,
    hadoop_client,
    metastore_client,
    write_site_files,
)
from sandbox.layout import Layout
from sandbox.ports import PortBlock


@dataclass(frozen=True)
class Cluster:
    """Say how to reach one cluster."""

    name: str
    metastore_port: int
    hadoop_properties: dict[str, str]
    """What a Hadoop client must know; the logical names of all clusters are in it."""
    hive_properties: dict[str, str]
    """What a client of the metastore must know."""
    conf_dir: Path
    """Directory with the same as core-site.xml, hdfs-site.xml and hive-site.xml, written by `up`."""
    metastore_host: str = LOOPBACK
    user: str = USER

    @property
    def hdfs_uri(self) -> str:
        """Return the file system's logical address, which holds no port."""
        return f"hdfs://{self.name}"

    @property
    def metastore_uri(self) -> str:
        """Return the metastore's address."""
        return f"thrift://{self.metastore_host}:{self.metastore_port}"

    @property
    def managed_warehouse(self) -> str:
        """Return the directory of managed tables."""
        return self.hdfs_uri + MANAGED_WAREHOUSE

    @property
    def external_warehouse(self) -> str:
        """Return the directory of external tables."""
        return self.hdfs_uri + EXTERNAL_WAREHOUSE

    @property
    def cmroot(self) -> str:
        """Return the change manager's directory."""
        return self.hdfs_uri + CMROOT

    def write_configuration(self) -> None:
        """Write the files of `conf_dir`."""
        write_site_files(self.conf_dir, self.hadoop_properties, self.hive_properties)


def describe_cluster(name: str, block: PortBlock, layout: Layout) -> Cluster:
    """Describe the cluster called `name`."""
    return Cluster(
        name=name,
        metastore_port=block.cluster(name).metastore,
        hadoop_properties=hadoop_client(name, block),
        hive_properties=metastore_client(name, block),
        conf_dir=layout.configuration / f"client-{name}",
    )
