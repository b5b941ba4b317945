"""Measure `write_partitions` beside what a Spark job does without it: files, seconds, and calls of the metastore.

    python -m benchmarks.partition_writes --runs 3 --registered 10000

One Spark session of two threads. First 300,000 rows of eight tasks over 32 partitions, half of all in one of them: into
a table of Parquet by plain Spark (`INSERT INTO` with dynamic partitions) and by `write_partitions`, in turn, each time
into a table of its own; files, seconds, and whether both tables hold the same rows. Then one row for each of many new
partitions, both ways again: seconds, and how many calls it took to register them. Our write of the many is also told in
two parts: until all files lie there, and from then on until readers have all partitions.
"""

import argparse
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions

from benchmarks.measuring import machine, ratio
from benchmarks.sides import Clusters
from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment
from tests.support.users.thrift_source import ThriftSource
from twinhive.hive.adapters.hive.hive_table_writer import ThriftTableWriter
from twinhive.runtime.spark.environment import QUIET_AND_QUICK
from twinhive.runtime.spark.partition_writes import write_partitions

# Half of all rows fall into one partition, the others into 31.
_SKEWED = """
    SELECT id, sha2(CAST(id AS STRING), 256) AS value,
      CAST(IF(id % 2 = 0, 0, 1 + (id * 7919) % 31) AS INT) AS day FROM range(0, {rows}, 1, 8)
"""
_ONE_EACH = "SELECT id, CAST(id AS STRING) AS value, CAST(id AS INT) AS day FROM range(0, {rows}, 1, 8)"
_HELD = "SELECT count(*), sum(id), sum(CAST(xxhash64(id, value, day) AS DECIMAL(30))) FROM "
_EVENTS_A_CALL = 5_000
_MOST_FILES, _MOST_TIME = 1 / 5, 1.0

How = Callable[[DataFrame, str], None]


@dataclass(frozen=True)
class Written:
    """What one write took and left: seconds, files, events ADD_PARTITION of the log, count and sums of the rows."""

    seconds: float
    files: int
    additions: int
    rows: tuple[Any, ...]


@dataclass(frozen=True)
class Bench:
    """A Spark session on `east`, a client of its metastore, and a database of this run."""

    spark: SparkSession
    source: ThriftSource
    uri: str
    database: str

    def write(self, table: str, query: str, how: How) -> Written:
        """Make a table, write the rows of a query into it, and look at what is there."""
        name = f"{self.database}.{table}"
        self.spark.sql(f"CREATE TABLE {name} (id BIGINT, value STRING) PARTITIONED BY (day INT) STORED AS PARQUET")
        first = self.source.current_event_id()
        began = time.monotonic()
        how(self.spark.sql(query), name)
        seconds = time.monotonic() - began
        (held,) = self.spark.sql(_HELD + name).collect()
        files = self.spark.table(name).select(functions.input_file_name()).distinct().count()
        return Written(seconds, files, self._additions(first, table), tuple(held))

    def plain(self, rows: DataFrame, table: str) -> None:
        """Write as Spark does by itself."""
        rows.write.insertInto(table)

    def ours(self, rows: DataFrame, table: str, report: Callable[[str], None] = lambda _: None) -> None:
        """Write as we do."""
        write_partitions(rows, table, metastore=self.uri, job=table, report=report)

    def _additions(self, position: int, table: str) -> int:
        found = 0
        while rows := self.source.events_after(position, _EVENTS_A_CALL):
            found += sum((row.event_type, row.table) == ("ADD_PARTITION", table) for row in rows)
            position = rows[-1].event_id
        return found


def main() -> None:
    """Measure, and print a line a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--runs", type=int, default=3, help="of each way beside each other; 0: none")
    parser.add_argument("--registered", type=int, default=10_000, help="new partitions of one write; 0: none")
    parser.add_argument("--no-plain", action="store_true", help="register the many by ours alone")
    parser.add_argument("--instance", default="writes", help="the sandbox to run on")
    options = parser.parse_args()
    clusters = Clusters.start(options.instance)
    with _session(clusters.box) as spark:
        uri = clusters.box.clusters["east"].metastore_uri
        bench = Bench(spark, clusters.source(), uri, f"writes_{os.getpid()}")
        spark.sql(f"CREATE DATABASE {bench.database}")
        print(machine(), flush=True)
        if options.runs:
            _beside(bench, options.rows, options.runs)
        if options.registered:
            _register(bench, options.registered, with_plain=not options.no_plain)
    sys.stdout.flush()


def _beside(bench: Bench, rows: int, runs: int) -> None:
    query = _SKEWED.format(rows=rows)
    sides: dict[str, How] = {"plain": bench.plain, "ours": bench.ours}
    for side, how in sides.items():  # classes are loaded, code is compiled: neither side pays for the other
        bench.write(f"warm_{side}", _SKEWED.format(rows=rows // 10), how)
    found: dict[str, list[Written]] = {side: [] for side in sides}
    for run in range(runs):
        order = list(sides) if run % 2 == 0 else list(reversed(sides))
        for side in order:
            found[side].append(bench.write(f"{side}_{run}", query, sides[side]))
    assert len({one.rows for written in found.values() for one in written}) == 1, "the tables hold different rows"
    plain, ours = found["plain"], found["ours"]
    for side, written in found.items():
        seconds = ", ".join(f"{one.seconds:.1f}" for one in written)
        print(f"{rows:,} rows over 32 partitions, {side}: {written[0].files} files; {seconds} s", flush=True)
    few = ours[0].files / plain[0].files
    times = statistics.median(one.seconds for one in ours), statistics.median(one.seconds for one in plain)
    print(f"files {few:.2f} of plain Spark's (at most {_MOST_FILES:.2f}): {_kept(few <= _MOST_FILES)}")
    share = times[0] / times[1]
    print(f"time {share:.2f} of plain Spark's (at most {_MOST_TIME:.2f}): {_kept(share <= _MOST_TIME)}", flush=True)


def _register(bench: Bench, partitions: int, *, with_plain: bool) -> None:
    query = _ONE_EACH.format(rows=partitions)
    began = time.monotonic()
    lines: list[tuple[float, str]] = []
    with _counted() as calls:
        ours = bench.write(
            "many_ours",
            query,
            lambda rows, table: bench.ours(rows, table, lambda line: lines.append((time.monotonic() - began, line))),
        )
    written = next(at for at, line in lines if " are written" in line)
    shown = lines[-1][0] - written
    print(
        f"{partitions:,} new partitions, ours: {ours.seconds:.1f} s, of these {shown:.1f} s to register and show them "
        f"({partitions / shown:,.0f} a second); {ours.additions} events; calls of the metastore: "
        + ", ".join(f"{count} {name}" for name, count in sorted(calls.items())),
        flush=True,
    )
    if with_plain:
        plain = bench.write("many_plain", query, bench.plain)
        assert plain.rows == ours.rows, "the tables hold different rows"
        print(
            f"{partitions:,} new partitions, plain Spark: {plain.seconds:.1f} s, {plain.additions} events; "
            f"{ratio(plain.seconds, ours.seconds)} our time"
        )


@contextmanager
def _counted() -> Iterator[Counter[str]]:
    """Count what our writer asks of its metastore, by the beginning of what it says that it does."""
    calls: Counter[str] = Counter()
    names = ("_read", "_write")
    real = {name: getattr(ThriftTableWriter, name) for name in names}

    def counting(name: str) -> Callable[..., Any]:
        def call(self: ThriftTableWriter, doing: str, work: Callable[[Any], Any]) -> Any:
            calls[" ".join(doing.split()[:1])] += 1
            return real[name](self, doing, work)

        return call

    for name in names:
        setattr(ThriftTableWriter, name, counting(name))
    try:
        yield calls
    finally:
        for name in names:
            setattr(ThriftTableWriter, name, real[name])


@contextmanager
def _session(box: Sandbox) -> Iterator[SparkSession]:
    east = box.clusters["east"]
    os.environ.update(spark_submit_environment(east))
    builder = SparkSession.builder.master("local[2]").appName("partition writes")
    settings = {**spark_conf(east), **QUIET_AND_QUICK, "spark.sql.shuffle.partitions": "8"}
    # Plain Spark asks for this before it fills partitions by their rows.
    settings["spark.hadoop.hive.exec.dynamic.partition.mode"] = "nonstrict"
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def _kept(is_kept: bool) -> str:
    return "kept" if is_kept else "NOT KEPT"


if __name__ == "__main__":
    main()
