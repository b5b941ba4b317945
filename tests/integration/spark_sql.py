"""Run SQL statements on one of the clusters with Spark, batch by batch: `spark_sql.py CLUSTER [key=value...]`.

Each line of standard input is a batch, a JSON list of statements; a line of standard output has what came of each:
its rows, or the text of the error.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox import Sandbox
from sandbox.jvm.java import spark_home, spark_java_home
from sandbox.spark import spark_conf, spark_submit_environment
from twinhive.hive.adapters.class_archive import archive_options
from twinhive.hive.adapters.spark_package import package_cache
from twinhive.runtime.spark.environment import quiet_and_quick

ANSWER = "answer "
ONE_WORKER = "local[1]"
"""The master of jobs of two tasks, one after the other: each process that executes tasks starts a Java of its own."""
ROOT = Path(__file__).parents[2]
_USER = "TWINHIVE_SPARK_SQL_USER"


class SparkSql:
    """Be users with one Spark session on a cluster."""

    def __init__(self, process: "subprocess.Popen[str]", errors: Path) -> None:
        self._process, self._errors = process, errors

    def ask(self, *statements: str) -> list[Any]:
        """Run statements one after the other; return the rows of each, or the text of its error."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(statements) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(ANSWER):
                return list(json.loads(line.removeprefix(ANSWER)))
        raise AssertionError(self._errors.read_text(errors="replace")[-3000:])

    def run(self, statements: Iterable[str]) -> None:
        """Run statements none of which may be refused."""
        refused = [answer for answer in self.ask(*statements) if isinstance(answer, str)]
        assert not refused, refused[0][-3000:]


def through_gateway(port: int) -> dict[str, str]:
    """Return the settings by which Spark asks a gateway and not the metastore."""
    uri = f"thrift://127.0.0.1:{port}"
    return {"spark.hadoop.hive.metastore.uris": uri, "spark.hadoop.metastore.thrift.uris": uri}


@contextmanager
def spark_sql(cluster: str, errors: Path, settings: dict[str, str], user: str = "") -> Iterator[SparkSql]:
    """Start a session of a user, '' for the cluster's; what it writes about errors goes to a file."""
    command = [sys.executable, __file__, cluster, *(f"{key}={value}" for key, value in settings.items())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins")]), _USER: user}
    with (
        errors.open("w") as log,
        subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        ) as process,
    ):
        try:
            yield SparkSql(process, errors)
        finally:
            # Nobody's data is lost: each batch has ended, or the test has failed.
            process.kill()


def quick_start() -> dict[str, str]:
    """Return settings of a session that starts from the classes that jobs of before have archived, if they have."""
    return quiet_and_quick(archive_options(package_cache(), str(spark_java_home()), str(spark_home())))


def main() -> int:
    """Run batches until there are no more."""
    name, *settings = sys.argv[1:]
    box = Sandbox.open(os.environ.get("TWINHIVE_SANDBOX", "test"))
    cluster = box.north if name == "north" else box.clusters[name]
    os.environ.update(spark_submit_environment(cluster))
    if user := os.environ[_USER]:
        os.environ["HADOOP_USER_NAME"] = user
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(ONE_WORKER).appName("users")
    chosen = {**spark_conf(cluster), **quick_start(), **dict(setting.split("=", 1) for setting in settings)}
    for key, value in chosen.items():
        builder = builder.config(key, value)
    with builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("ERROR")
        for line in sys.stdin:
            print(ANSWER + json.dumps([_answer(spark, text) for text in json.loads(line)], default=str), flush=True)
    return 0


def _answer(spark: Any, text: str) -> Any:
    try:
        return [list(row) for row in spark.sql(text).collect()]
    except Exception as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(main())
