"""Spark SQL over a table of 365 partitions, directly and through a gateway.

Run as a program it starts one Spark, asks a few times, and prints the seconds of each round.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment

TABLE, DAYS = "days_365", 365
QUERIES = {
    "count over 365 partitions": "SELECT count(*), sum(x) FROM {}.days_365",
    "count over one": "SELECT count(*), sum(x) FROM {}.days_365 WHERE day = 'd100'",
}
_ROOT = Path(__file__).parents[2]


def fill(database: str, port: int) -> None:
    """Make the table at west with Spark, unless it is there."""
    days = f"SELECT id, concat('d', id % {DAYS}) FROM range({10 * DAYS})"  # noqa: S608 (our own numbers)
    create = (
        f"CREATE DATABASE IF NOT EXISTS {database}",
        f"CREATE TABLE IF NOT EXISTS {database}.{TABLE} (x INT) PARTITIONED BY (day STRING) STORED AS PARQUET",
        f"INSERT OVERWRITE TABLE {database}.{TABLE} PARTITION (day) {days}",
    )
    _asked(port, "west", *create)


def compare(direct: int, gateway: int, same: str, other: str, rounds: int) -> list[str]:
    """Run each query once a round in each of three Sparks that run at the same time, and say medians."""
    sides = {
        "directly": (direct, "west", same),
        "same name": (gateway, "east", same),
        "other name": (gateway, "east", other),
    }
    running = {name: _Session(*side) for name, side in sides.items()}
    times: dict[str, dict[str, list[float]]] = {query: {name: [] for name in sides} for query in QUERIES}
    for number in range(-2, rounds):
        names = list(sides)
        for query in QUERIES:
            for place in range(len(names)):
                name = names[(number + place) % len(names)]
                seconds = running[name].seconds(QUERIES[query])
                if number >= 0:
                    times[query][name].append(seconds)
    for session in running.values():
        session.close()
    return [_line(query, {name: statistics.median(of) for name, of in sides.items()}) for query, sides in times.items()]


def _line(query: str, medians: dict[str, float]) -> str:
    base = medians["directly"]
    told = ", ".join(f"{name} {one * 1_000:.0f} ms ({one / base - 1:+.0%})" for name, one in medians.items())
    return f"Spark SQL, {query}: {told}"


class _Session:
    """A Spark in a process of its own that runs what it is told line by line."""

    def __init__(self, port: int, cluster: str, database: str) -> None:
        self._database = database
        self._process = _started(port, cluster)

    def seconds(self, query: str) -> float:
        """Run a query, and return how long it took there."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(query.format(self._database) + "\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def _asked(port: int, cluster: str, *statements: str) -> None:
    process = _started(port, cluster)
    out, _ = process.communicate("".join(f"{one}\n" for one in statements))
    if process.returncode or len(out.splitlines()) != len(statements):
        raise RuntimeError(f"Spark has ended with {process.returncode}: {out}")


def _started(port: int, cluster: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "benchmarks.gateway.spark", str(port), cluster]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=_ROOT
    )


def main(port: int, cluster_name: str) -> int:
    """Run statements from standard input, and print the seconds of each."""
    from pyspark.sql import SparkSession

    cluster = Sandbox.open().clusters[cluster_name]
    os.environ.update(spark_submit_environment(cluster))
    address = f"thrift://127.0.0.1:{port}"
    builder = SparkSession.builder.master("local[1]").appName("gateway benchmark")
    for key, value in {
        **spark_conf(cluster),
        "spark.hadoop.hive.metastore.uris": address,
        "spark.hadoop.metastore.thrift.uris": address,
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        "spark.driver.memory": "1g",
    }.items():
        builder = builder.config(key, value)
    with builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("OFF")
        for line in sys.stdin:
            began = time.perf_counter()
            spark.sql(line).collect()
            spark.catalog.clearCache()
            print(json.dumps(time.perf_counter() - began), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2]))
