"""Export and import one table by our statements and by Hive's own, in turn, between the same clusters.

    python -m benchmarks.exports --partitions 500 --bytes 100000

Each partition has one file. Both sides export from `east` and import on `west` under names of their own; in the end
both imports have all partitions. Starting Hive's driver is not counted.
"""

import argparse
import os
import statistics
import sys
from collections.abc import Callable

from benchmarks.measuring import load_average, machine, measured, ratio
from benchmarks.sides import Clusters, add_days
from benchmarks.statements import statement_places
from sandbox.hive.peer import run_statements
from tests.support.users.source_writer import SourceWriter
from twinhive.statements.execution import run_statement

_TABLE = "days"


def main() -> int:
    """Fill the table, run both sides, print a line for each statement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=500)
    parser.add_argument("--bytes", type=int, default=100_000, help="of the file of a partition")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--instance", default="bench", help="the sandbox to run on")
    parser.add_argument("--keep", action="store_true", help="leave the clusters running")
    given = parser.parse_args()
    clusters = Clusters.start(given.instance)
    print(machine(), flush=True)
    database = _filled(clusters, given.partitions, given.bytes)
    sides = {"ours": _ours(), "hive": _hives(clusters)}
    sides["hive"]("west", f"CREATE DATABASE {database}")
    taken: dict[tuple[str, str], list[float]] = {}
    for run in range(given.runs):
        for name in sorted(sides, reverse=bool(run % 2)):
            at = f"{clusters.box.clusters['east'].hdfs_uri}/bench/{database}/{name}{run}"
            for what, cluster, statement in (
                ("EXPORT", "east", f"EXPORT TABLE {database}.{_TABLE} TO '{at}'"),
                ("IMPORT", "west", f"IMPORT TABLE {database}.{name}{run} FROM '{at}'"),
            ):
                taken.setdefault((what, name), []).append(sides[name](cluster, statement))
            there = len(clusters.west.client.get_partition_names(database, f"{name}{run}", -1))
            assert there == given.partitions, f"{name}: {there} partitions"
    print(f"{given.partitions:,} partitions of a file of {given.bytes:,} bytes; load average {load_average():.1f}")
    for what in ("EXPORT", "IMPORT"):
        both = [statistics.median(taken[what, name]) for name in ("ours", "hive")]
        every = "; ".join(
            f"{name} " + ", ".join(f"{one:.2f}" for one in taken[what, name]) for name in ("ours", "hive")
        )
        print(f"{what}: {every} s; Hive takes {ratio(both[1], both[0])} our time", flush=True)
    if not given.keep:
        clusters.box.down()
    return 0


def _filled(clusters: Clusters, partitions: int, size: int) -> str:
    database = f"exported_{os.getpid()}"
    writer = SourceWriter.with_database(clusters.source(), clusters.east.files, database)
    add_days(writer, _TABLE, partitions, size)
    return database


def _ours() -> Callable[[str, str], float]:
    places = statement_places()

    def say(cluster: str, statement: str) -> float:
        with measured() as taken:
            run_statement(statement, places[cluster], {}, lambda line: None)
        return taken.seconds

    return say


def _hives(clusters: Clusters) -> Callable[[str, str], float]:
    def say(cluster: str, statement: str) -> float:
        (result,) = run_statements(clusters.box, cluster, [statement])
        return result.seconds

    return say


if __name__ == "__main__":
    sys.exit(main())
