"""Run YARN with one node, and the history of its jobs: a profile that nothing starts by default.

Two kinds of ports cannot be kept on the loopback interface by any setting: the shuffle's, and those that the master of
each job opens while it runs. So the node starts only where there is no other interface (`sandbox.own_network`).
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import httpx

from sandbox.configuration import LOOPBACK, hadoop_client, write_job_site_files
from sandbox.errors import SandboxError
from sandbox.hadoop.yarn_configuration import HISTORY_CLUSTER, mapreduce_client, yarn_server
from sandbox.jvm.jars import YARN_JAR_LIST, ensure_jars, jar_directory
from sandbox.jvm.java import SERVER_FLAGS, spark_java_home
from sandbox.jvm.java_server import JavaServer
from sandbox.jvm.logging_setup import log4j2_flags, write_log4j2
from sandbox.layout import Layout
from sandbox.plain_http import NO_TLS
from sandbox.ports import PortBlock
from sandbox.running.own_network import is_alone
from sandbox.server import Launch

RESOURCE_MANAGER = "yarn-resourcemanager"
NODE_MANAGER = "yarn-nodemanager"
JOB_HISTORY = "yarn-jobhistory"
_MEMORY_FLAGS = ["-Xmx384m", "-Xss512k"]


def yarn_classes(cache: Path) -> Path:
    """Return the class path of YARN's servers, containers and clients, in the form that Java expands itself."""
    return jar_directory(cache, YARN_JAR_LIST) / "*"


def job_properties(layout: Layout, block: PortBlock, cache: Path) -> dict[str, str]:
    """Return what a client of a cluster must know besides to run jobs on YARN."""
    flags = [*SERVER_FLAGS, *log4j2_flags(_container_log4j2(layout))]
    return mapreduce_client(block.yarn, str(yarn_classes(cache)), flags)


def _container_log4j2(layout: Layout) -> Path:
    return layout.configuration / "yarn-containers" / "log4j2.properties"


class YarnServer(JavaServer):
    """Be one of the three servers."""

    # They wait for each other when all end at once, and hold nothing that must be written.
    stop_seconds = 2.0
    has_class_archive = False

    def __init__(self, name: str, layout: Layout, block: PortBlock, cache: Path) -> None:
        super().__init__(name, layout, [yarn_classes(cache)], _MEMORY_FLAGS)
        self._block = block
        self._cache = cache
        self._storage = layout.storage("yarn")

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Fetch YARN's jars, and write the configuration."""
        super().prepare(overrides)
        ensure_jars(self._cache, YARN_JAR_LIST)
        self._storage.mkdir(parents=True, exist_ok=True)
        hadoop = {**hadoop_client(HISTORY_CLUSTER, self._block), "hadoop.tmp.dir": str(self._layout.temporary / "yarn")}
        jobs = {**yarn_server(self._block.yarn, self._storage), **overrides}
        write_job_site_files(self._conf, hadoop, jobs)

    def launch(self) -> Launch:
        """Return the command to run."""
        return replace(super().launch(), directory=self._storage)


class ResourceManager(YarnServer):
    """Be what gives out containers."""

    main = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"

    def __init__(self, layout: Layout, block: PortBlock, cache: Path) -> None:
        super().__init__(RESOURCE_MANAGER, layout, block, cache)
        ports = block.yarn
        self.ports = {
            "rpc": ports.resourcemanager,
            "scheduler": ports.scheduler,
            "tracker": ports.resource_tracker,
            "admin": ports.resourcemanager_admin,
            "http": ports.resourcemanager_http,
        }

    def is_ready(self) -> bool:
        """Tell whether it takes jobs."""
        return _answer(self.ports["http"], "/ws/v1/cluster/info").get("state") == "STARTED"


class NodeManager(YarnServer):
    """Be what runs containers, as processes of the user who runs it; they end with it."""

    main = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
    depends_on = (RESOURCE_MANAGER, JOB_HISTORY)

    def __init__(self, layout: Layout, block: PortBlock, cache: Path) -> None:
        super().__init__(NODE_MANAGER, layout, block, cache)
        ports = block.yarn
        self.ports = {
            "rpc": ports.nodemanager,
            "localizer": ports.localizer,
            "shuffle": ports.shuffle,
            "http": ports.nodemanager_http,
        }

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Write the configuration, and the log settings of the containers."""
        super().prepare(overrides)
        if not is_alone():
            raise SandboxError(
                f"{self.name} opens ports on all interfaces: run it where there is only loopback, as "
                "`python -m benchmarks.copy` does"
            )
        # YARN tells each container where its log belongs.
        log = Path("${sys:yarn.app.container.log.dir}/syslog")
        write_log4j2(_container_log4j2(self._layout), log, level="warn")

    def launch(self) -> Launch:
        """Return the command to run; containers run on the Java that Twinhive's own client runs on."""
        launch = super().launch()
        return replace(launch, environment={**launch.environment, "JAVA_HOME": str(spark_java_home())})

    def is_ready(self) -> bool:
        """Tell whether the ResourceManager counts on it."""
        metrics = _answer(self._block.yarn.resourcemanager_http, "/ws/v1/cluster/metrics")
        health = _answer(self.ports["http"], "/ws/v1/node/info").get("nodeHealthy")
        return health is True and metrics.get("activeNodes") == 1


class JobHistory(YarnServer):
    """Be what knows how finished jobs went; a client asks it for the counters when its job is done."""

    main = "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer"
    depends_on = (f"{HISTORY_CLUSTER}-namenode", f"{HISTORY_CLUSTER}-datanode")

    def __init__(self, layout: Layout, block: PortBlock, cache: Path) -> None:
        super().__init__(JOB_HISTORY, layout, block, cache)
        ports = block.yarn
        self.ports = {"rpc": ports.history, "admin": ports.history_admin, "http": ports.history_http}

    def is_ready(self) -> bool:
        """Tell whether it answers."""
        return "startedOn" in _answer(self.ports["http"], "/ws/v1/history/info")


def _answer(port: int, path: str) -> dict[str, object]:
    """Ask a server about itself; one that does not answer knows nothing."""
    try:
        answer = httpx.get(f"http://{LOOPBACK}:{port}{path}", timeout=2, verify=NO_TLS)
        (content,) = answer.json().values()
    except (httpx.HTTPError, ValueError, AttributeError):
        return {}
    return content if isinstance(content, dict) else {}
