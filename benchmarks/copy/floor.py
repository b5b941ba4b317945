"""What the servers alone need: the same calls without data, and the same bytes without any comparison.

Both are loops of threads around Hadoop's client in this process, so starting is not in their times.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from benchmarks.copy.figures import Figures, measure
from benchmarks.copy.sides import Stage
from benchmarks.copy.workloads import Workload
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.jvm.java_vm import java_class

_BUFFER = 64 * 1024
_COPY_BUFFER = 1024 * 1024


@dataclass(frozen=True)
class Floor:
    """The loops, on a stage."""

    stage: Stage

    def calls_alone(self, workload: Workload, target: str) -> Figures:
        """Ask for each file's blocks on the source, create and complete an empty one on the target."""
        return self._measured(workload, target, self._ask)

    def bytes_alone(self, workload: Workload, target: str) -> Figures:
        """Copy each file with one stream, verified only by what the DataNodes check themselves."""
        return self._measured(workload, target, self._copy)

    def listing_alone(self, workload: Workload, target: str) -> Figures:
        """List both trees, each by one recursive call of the client."""
        paths = [(self.stage.source, workload.path), (self.stage.target, target)]
        return measure(self.stage.box, lambda: self._each(paths, lambda one: _list(*one)))

    def _measured(self, workload: Workload, target: str, work: Callable[[str, str], None]) -> Figures:
        def do(name: str) -> None:
            work(f"{self.stage.source.root}{workload.path}/{name}", f"{self.stage.target.root}{target}/{name}")

        return measure(self.stage.box, lambda: self._each(workload.names(), do))

    def _each(self, things: Iterable[Any], do: Callable[[Any], None]) -> None:
        with ThreadPoolExecutor(self.stage.threads) as pool:
            list(pool.map(do, things))

    def _ask(self, source: str, target: str) -> None:
        self.stage.source.java.open(self.stage.source.to_java(source), _BUFFER).close()
        self.stage.target.java.create(self.stage.target.to_java(target), True).close()

    def _copy(self, source: str, target: str) -> None:
        reading = self.stage.source.java.open(self.stage.source.to_java(source), _BUFFER)
        writing = self.stage.target.java.create(self.stage.target.to_java(target), True)
        java_class("org.apache.hadoop.io.IOUtils").copyBytes(reading, writing, _COPY_BUFFER, True)


def _list(client: HadoopClient, path: str) -> None:
    found = client.java.listFiles(client.to_java(f"{client.root}{path}"), True)
    while found.hasNext():
        found.next()
