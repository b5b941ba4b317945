"""Keep a session of Spark SQL on one cluster of the sandbox, as its port of the gateway shows the metastore.

`python -m demo.cluster_sql north 9193 SETTINGS` reads statements, a JSON list of them a line, and prints each with its
rows; after each line comes `DONE`, or `FAILED` and the end. SETTINGS are those of `twinhive gateway conf`, as JSON.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from demo.spark_sql import printed_rows, session
from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment

DONE, FAILED = "\x04done", "\x04failed"
_CLIENT = "spark.sql.hive.metastore."


class Shell:
    """A session that somebody types into."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, *statements: str) -> Iterator[str]:
        """Yield what is printed for some statements. Raises SystemExit for one that fails."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(statements) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(DONE):
                return
            if line.startswith(FAILED):
                raise SystemExit(line.removeprefix(FAILED).strip())
            yield line.rstrip("\n")
        raise SystemExit("the session of Spark has ended")


@contextmanager
def shell(cluster: str, port: int, settings: Mapping[str, str]) -> Iterator[Shell]:
    """Start a session; it gets ready while the caller does other things."""
    command = [sys.executable, "-m", __name__, cluster, str(port), json.dumps(dict(settings))]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        try:
            yield Shell(process)
        finally:
            process.kill()


def main(cluster: str, port: str, settings: str) -> int:
    """Run what is typed, until there is no more."""
    box = Sandbox.open()
    here = box.north if cluster == "north" else box.clusters[cluster]
    os.environ.update(spark_submit_environment(here))
    # The sandbox's own Spark, told of the file systems of all clusters by what the gateway prints. The gateway answers
    # Spark's built-in client of metastores, too, which is there sooner than one of Hive 4.
    ours = {key: value for key, value in spark_conf(box.clusters["east"]).items() if not key.startswith(_CLIENT)}
    conf = {**ours, **json.loads(settings), "spark.hadoop.fs.defaultFS": here.hdfs_uri}
    with session(f"statements on {cluster}", conf, f"thrift://127.0.0.1:{port}") as spark:
        for line in sys.stdin:
            try:
                for text in json.loads(line):
                    for shown in printed_rows(spark, text):
                        print(shown, flush=True)
                print(DONE, flush=True)
            except Exception as error:
                print(FAILED, str(error).partition("\n")[0], flush=True)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
