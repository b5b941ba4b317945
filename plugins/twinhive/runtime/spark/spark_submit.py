"""Call spark-submit, and listen to it until the job has ended."""

import os
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from twinhive.hive.adapters.class_archive import class_archive
from twinhive.hive.adapters.spark_package import native_package, package_cache, python_package
from twinhive.runtime.spark.applications import application_file
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.environment import ALWAYS, quiet_and_quick, spark_environment
from twinhive.transfer.tree.executing import CONFIRM_SECONDS

_REMEMBERED_LINES = 500


@dataclass(frozen=True)
class Ended:
    """The exit code of a job, and the end of what it and Spark have said."""

    code: int
    output: str


@dataclass(frozen=True)
class Submission:
    """One application of spark_jobs/ on a cluster; `name` is for Spark's pages.

    Its only argument is a file of settings, because everybody on the machine sees arguments. `user` is who
    Spark's own reads and writes are done as, where there is no Kerberos; None: as this process.
    """

    application: str
    settings: str
    cluster: SparkCluster
    name: str
    user: str | None = None

    def run(self, say: Callable[[str], None], confirm: Callable[[], None]) -> Ended:
        """Wait for the end and pass on what the job says; what `confirm` raises meanwhile ends the job.

        Raises ActNow when Spark, Java, jpype or the application is not there.
        """
        environment = spark_environment() | ({"HADOOP_USER_NAME": self.user} if self.user else {})
        said = _Output(self.application, say)
        cache = package_cache()
        with (
            class_archive(cache, environment["JAVA_HOME"], environment["SPARK_HOME"]) as archive,
            subprocess.Popen(
                self.command(environment, cache, archive.options),
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            ) as process,
        ):
            listener = threading.Thread(target=said.listen, args=(process.stdout,), name="spark-submit")
            listener.start()
            try:
                while not _has_ended(process):
                    confirm()
            except BaseException:
                process.terminate()
                raise
            finally:
                listener.join()
            if not process.returncode:
                archive.job_has_succeeded()
        return Ended(process.returncode, "\n".join(said.last_lines))

    def command(self, environment: Mapping[str, str], cache: Path, java_options: str) -> list[str]:
        """Return the words of the call. Raises ActNow."""
        conf = {
            **quiet_and_quick(java_options),
            # As many cores as tasks; each kind of cluster has its own name for it.
            "spark.executor.instances": str(self.cluster.tasks),
            "spark.cores.max": str(self.cluster.tasks),
            **self.cluster.conf,
            **ALWAYS,
        }
        return [
            str(Path(environment["SPARK_HOME"], "bin", "spark-submit")),
            *("--master", self.cluster.master),
            *("--name", self.name),
            *("--py-files", str(python_package(cache, self.application))),
            *("--archives", f"{native_package(cache)}#native"),
            *(word for key, value in conf.items() for word in ("--conf", f"{key}={value}")),
            str(application_file(self.application)),
            self.settings,
        ]


class _Output:
    """Pass on the lines that begin with the job's name, and remember the last ones of all."""

    def __init__(self, job: str, say: Callable[[str], None]) -> None:
        self._prefix = f"{job}: "
        self._say = say
        self.last_lines: deque[str] = deque(maxlen=_REMEMBERED_LINES)

    def listen(self, lines: Iterable[str]) -> None:
        """Read to the end."""
        for line in lines:
            text = line.rstrip("\n")
            self.last_lines.append(text)
            if text.startswith(self._prefix):
                self._say(text.removeprefix(self._prefix))


def _has_ended(process: "subprocess.Popen[str]") -> bool:
    try:
        process.wait(CONFIRM_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True
