"""Run SQL statements on one of the clusters with Spark, batch by batch: `spark_sql.py CLUSTER [key=value...]`.

Each line of standard input is a batch, a JSON list of statements; a line of standard output says that it was run.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment

RAN = "ran"
ROOT = Path(__file__).parents[2]


class SparkSql:
    """Be users with one Spark session on a cluster."""

    def __init__(self, process: "subprocess.Popen[str]", errors: Path) -> None:
        self._process, self._errors = process, errors

    def run(self, statements: Iterable[str]) -> None:
        """Run statements one after the other."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(list(statements)) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.strip() == RAN:
                return
        raise AssertionError(self._errors.read_text(errors="replace")[-3000:])


@contextmanager
def spark_sql(cluster: str, errors: Path, settings: dict[str, str]) -> Iterator[SparkSql]:
    """Start a session; what it writes about errors goes to a file."""
    command = [sys.executable, __file__, cluster, *(f"{key}={value}" for key, value in settings.items())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins")])}
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


def main() -> int:
    """Run batches until there are no more."""
    name, *settings = sys.argv[1:]
    cluster = Sandbox.open(os.environ.get("TWINHIVE_SANDBOX", "test")).clusters[name]
    os.environ.update(spark_submit_environment(cluster))
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("users")
    chosen = {**spark_conf(cluster), **dict(setting.split("=", 1) for setting in settings)}
    for key, value in chosen.items():
        builder = builder.config(key, value)
    with builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("ERROR")
        for line in sys.stdin:
            for statement in json.loads(line):
                spark.sql(statement).collect()
            print(RAN, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
