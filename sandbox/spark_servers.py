"""Run a small Spark standalone cluster on the system's Java."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from sandbox.configuration import LOOPBACK, USER
from sandbox.errors import SandboxError
from sandbox.jvm.java import spark_home, spark_java_home
from sandbox.jvm.logging_setup import log4j2_flags, write_log4j2
from sandbox.layout import Layout
from sandbox.plain_http import NO_TLS
from sandbox.ports import PortBlock
from sandbox.server import Launch, Server

MASTER = "spark-master"
WORKER = "spark-worker"
_DAEMON_MEMORY = "256m"
_WORKER_CORES = "2"
_WORKER_MEMORY = "2g"


def bare_python(layout: Layout) -> Path:
    """Return the interpreter for executors: one without any package, as on a node nobody prepared."""
    return layout.storage(WORKER) / "python" / "bin" / "python"


class SparkServer(Server):
    """Be one of the two servers of Spark's standalone cluster."""

    main: str

    def __init__(self, name: str, layout: Layout, block: PortBlock) -> None:
        self.name = name
        self._layout = layout
        self._block = block
        self._log4j2 = layout.configuration / name / "log4j2.properties"

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Write the log settings."""
        if overrides:
            raise SandboxError(f"{self.name} takes no overrides: give them to the Spark application")
        write_log4j2(self._log4j2, self._layout.log_file(self.name))

    def launch(self) -> Launch:
        """Return the command to run."""
        environment = {
            "JAVA_HOME": str(spark_java_home()),
            "SPARK_HOME": str(spark_home()),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_DAEMON_MEMORY": _DAEMON_MEMORY,
            "SPARK_DAEMON_JAVA_OPTS": " ".join(
                ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *log4j2_flags(self._log4j2)]
            ),
            "SPARK_WORKER_OPTS": "-Dspark.worker.cleanup.enabled=true -Dspark.worker.cleanup.appDataTtl=3600",
            "HADOOP_USER_NAME": USER,
        }
        command = [str(spark_home() / "bin" / "spark-class"), self.main, "--host", LOOPBACK, *self.arguments()]
        return Launch(command, environment)

    def arguments(self) -> list[str]:
        """Return what follows the host."""
        return []

    def _master_state(self) -> dict[str, object]:
        try:
            answer = httpx.get(f"http://{LOOPBACK}:{self._block.spark_master_ui}/json/", timeout=2, verify=NO_TLS)
            state: dict[str, object] = answer.json()
        except (httpx.HTTPError, ValueError):
            return {}
        return state


class SparkMaster(SparkServer):
    """Be the server that Spark applications connect to."""

    main = "org.apache.spark.deploy.master.Master"

    def __init__(self, layout: Layout, block: PortBlock) -> None:
        super().__init__(MASTER, layout, block)
        self.ports = {"rpc": block.spark_master, "http": block.spark_master_ui}

    def arguments(self) -> list[str]:
        """Return what follows the host."""
        return ["--port", str(self._block.spark_master), "--webui-port", str(self._block.spark_master_ui)]

    def is_ready(self) -> bool:
        """Tell whether it accepts applications."""
        return self._master_state().get("status") == "ALIVE"


class SparkWorker(SparkServer):
    """Be the server that starts executors."""

    main = "org.apache.spark.deploy.worker.Worker"
    depends_on = (MASTER,)

    def __init__(self, layout: Layout, block: PortBlock) -> None:
        super().__init__(WORKER, layout, block)
        self.ports = {"rpc": block.spark_worker, "http": block.spark_worker_ui}

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Write the log settings, and create the executors' interpreter on first use."""
        super().prepare(overrides)
        python = bare_python(self._layout)
        if not python.exists():
            python.parent.parent.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", python.parent.parent], check=True)

    def arguments(self) -> list[str]:
        """Return what follows the host."""
        work = self._layout.storage(WORKER) / "work"
        ports = ["--port", str(self._block.spark_worker), "--webui-port", str(self._block.spark_worker_ui)]
        size = ["--cores", _WORKER_CORES, "--memory", _WORKER_MEMORY, "--work-dir", str(work)]
        return [*ports, *size, f"spark://{LOOPBACK}:{self._block.spark_master}"]

    def is_ready(self) -> bool:
        """Tell whether the master counts it as living."""
        return self._master_state().get("aliveworkers") == 1
