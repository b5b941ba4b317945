"""Run a cluster's NameNode and DataNode."""

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import httpx

from sandbox.configuration import (
    CMROOT,
    EXTERNAL_WAREHOUSE,
    LOOPBACK,
    MANAGED_WAREHOUSE,
    USER,
    hdfs_server,
    write_site_files,
)
from sandbox.errors import SandboxError
from sandbox.jvm.java_server import JavaServer
from sandbox.layout import Layout
from sandbox.plain_http import NO_TLS
from sandbox.ports import ClusterPorts
from sandbox.running import processes
from sandbox.server import Launch

_MEMORY_FLAGS = ["-Xmx256m", "-Xss512k"]
_SECONDS = 60.0
"""For one request while the cluster starts: many servers may do so at the same time."""
DIRECTORIES = {
    "/tmp": "1777",  # noqa: S108 (a directory in HDFS)
    f"/user/{USER}": "755",
    MANAGED_WAREHOUSE: "755",
    EXTERNAL_WAREHOUSE: "1777",
    CMROOT: "700",
}


class HdfsServer(JavaServer):
    """Be one of the two HDFS servers of a cluster."""

    def __init__(self, name: str, cluster: str, layout: Layout, ports: ClusterPorts, jars: list[Path]) -> None:
        webapps = layout.configuration / "hdfs-webapps"
        super().__init__(name, layout, [*jars, webapps], _MEMORY_FLAGS)
        self._cluster = cluster
        self._webapps = webapps
        self._storage = layout.storage(f"{cluster}-hdfs")
        self._cluster_ports = ports

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Write the configuration."""
        super().prepare(overrides)
        self._storage.mkdir(parents=True, exist_ok=True)
        write_site_files(self._conf, {**hdfs_server(self._cluster_ports, self._storage), **overrides})
        # What they tell of themselves is at most this old; ten seconds by default.
        (self._conf / "hadoop-metrics2.properties").write_text("*.periodMillis=200\n")
        # The servers insist on a web application of their name, which their jar does not hold.
        for webapp in ("hdfs", "datanode"):
            descriptor = self._webapps / "webapps" / webapp / "WEB-INF" / "web.xml"
            descriptor.parent.mkdir(parents=True, exist_ok=True)
            descriptor.write_text("<web-app/>\n")

    def launch(self) -> Launch:
        """Return the command to run."""
        return replace(super().launch(), directory=self._storage)

    def _takes_writes(self) -> bool:
        """Tell whether the NameNode is out of safe mode, which needs a DataNode."""
        return _bean(self._namenode_url, "NameNode", "NameNodeInfo").get("Safemode") == ""

    @property
    def _namenode_url(self) -> str:
        return f"http://{LOOPBACK}:{self._cluster_ports.namenode_http}"


class NameNode(HdfsServer):
    """Be a cluster's NameNode."""

    def __init__(self, cluster: str, layout: Layout, ports: ClusterPorts, jars: list[Path]) -> None:
        super().__init__(f"{cluster}-namenode", cluster, layout, ports, jars)
        self.main = "org.apache.hadoop.hdfs.server.namenode.NameNode"
        self.ports = {"rpc": ports.namenode, "http": ports.namenode_http}

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Write the configuration, and format the storage on first use."""
        super().prepare(overrides)
        if not (self._storage / "name" / "current" / "VERSION").exists():
            self._format()

    def _format(self) -> None:
        launch = self.once("-format", "-nonInteractive", "-force", "-clusterid", f"CID-{self._cluster}")
        done = subprocess.run(launch.command, env=launch.environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SandboxError(f"{self.name} could not be formatted, see {self.log_file}\n{done.stderr[-2000:]}")

    def is_ready(self) -> bool:
        """Tell whether it answers, and takes writes if there is a DataNode to report to it."""
        if processes.read_record(self._layout.pid_file(f"{self._cluster}-datanode")):
            return self._takes_writes()
        return bool(_bean(self._namenode_url, "NameNode", "NameNodeInfo"))


class DataNode(HdfsServer):
    """Be a cluster's DataNode."""

    def __init__(self, cluster: str, layout: Layout, ports: ClusterPorts, jars: list[Path]) -> None:
        super().__init__(f"{cluster}-datanode", cluster, layout, ports, jars)
        self.main = "org.apache.hadoop.hdfs.server.datanode.DataNode"
        self.ports = {"data": ports.datanode, "ipc": ports.datanode_ipc, "http": ports.datanode_http}

    def is_ready(self) -> bool:
        """Tell whether it has registered with the NameNode, and this takes writes."""
        # The NameNode alone does not know: it counts a killed DataNode as living for ten minutes.
        url = f"http://{LOOPBACK}:{self._cluster_ports.datanode_http}"
        actors = str(_bean(url, "DataNode", "DataNodeInfo").get("BPServiceActorInfo"))
        living = _bean(self._namenode_url, "NameNode", "FSNamesystemState").get("NumLiveDataNodes")
        return '"RUNNING"' in actors and living == 1 and self._takes_writes()

    def settle(self) -> None:
        """Create the warehouse directories that are not there yet."""
        for path, permission in DIRECTORIES.items():
            make_directory(self._namenode_url, path, permission)


def make_directory(namenode_url: str, path: str, permission: str) -> None:
    """Create a directory of the sandbox's user over HTTP, unless it is there. Raises SandboxError."""
    url = f"{namenode_url}/webhdfs/v1{path}"
    parameters = {"user.name": USER, "permission": permission}
    if httpx.get(url, params={**parameters, "op": "GETFILESTATUS"}, timeout=_SECONDS, verify=NO_TLS).is_success:
        return
    for operation in ("MKDIRS", "SETPERMISSION"):
        answer = httpx.put(url, params={**parameters, "op": operation}, timeout=_SECONDS, verify=NO_TLS)
        if not answer.is_success:
            raise SandboxError(f"HDFS did not create {path}: {operation} answered {answer.text[:500]}")


def _bean(url: str, service: str, name: str) -> dict[str, object]:
    """Ask a server about itself; one that does not answer knows nothing."""
    try:
        answer = httpx.get(
            f"{url}/jmx", params={"qry": f"Hadoop:service={service},name={name}"}, timeout=2, verify=NO_TLS
        )
        beans = answer.json()["beans"]
    except (httpx.HTTPError, ValueError):
        return {}
    return beans[0] if beans else {}
