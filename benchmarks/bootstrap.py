"""Bootstrap one database with Twinhive and with Hive's own REPL DUMP and REPL LOAD, side by side.

    python -m benchmarks.bootstrap --tables 4 --partitions 70 --files 1

Both run on the same two clusters in the same run.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console
from rich.table import Table

from benchmarks.measuring import machine, measured, rate, ratio
from benchmarks.sides import Clusters, HiveRepl, Twinhive, add_common_options
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.runtime.pipeline.runner import run_bootstrap

_console = Console(width=110, highlight=False)


def main() -> int:
    """Create the source, run both, print seconds and ratios."""
    given = _arguments()
    clusters = Clusters.start(given.instance)
    database = _fill(clusters.east, given.tables, given.partitions, given.files)
    twinhive = Twinhive.of(database)
    with measured() as ours:
        run_bootstrap(twinhive.policy, twinhive.ports, {}, lambda line: None)
    assert_equal_twin(clusters.east, database, clusters.west, twinhive.replica)
    hive = HiveRepl(clusters.box, database)
    theirs = None if given.no_hive else hive.dump().seconds + hive.load().seconds
    _console.print(machine())
    _console.print(_table(given, ours.seconds, theirs))
    if not given.keep:
        clusters.box.down()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--partitions", type=int, default=70, help="partitions of each table")
    parser.add_argument("--files", type=int, default=1, help="files of each partition, 10 kB each")
    add_common_options(parser)
    return parser.parse_args()


def _fill(east: Warehouse, tables: int, partitions: int, files: int) -> str:
    """Create managed tables; the database is marked so that Hive's change manager serves both alike."""
    database = east.create_database("bench", parameters={"repl.source.for": "bench"})
    with ThreadPoolExecutor(8) as pool:
        for number in range(tables):
            table = east.create_table(database, f"t{number}", keys=("p",))
            paths = [
                f"{table.sd.location}/p={partition}/f{file}" for partition in range(partitions) for file in range(files)
            ]
            list(pool.map(lambda path: east.files.write(path, path.encode() * 100), paths))
            for partition in range(partitions):
                east.add_partition(table, str(partition))
    return database


def _table(given: argparse.Namespace, ours: float, theirs: float | None) -> Table:
    partitions = given.tables * given.partitions
    title = f"{given.tables} tables, {partitions} partitions, {partitions * given.files} files of about 10 kB"
    table = Table("", "s", "partitions/s", "files/s", "Hive / Twinhive", title=title)
    files = partitions * given.files
    table.add_row("Twinhive", f"{ours:.1f}", rate(partitions, ours), rate(files, ours), "")
    if theirs is not None:
        row = [f"{theirs:.1f}", rate(partitions, theirs), rate(files, theirs), ratio(theirs, ours)]
        table.add_row("REPL DUMP and LOAD", *row)
    return table


if __name__ == "__main__":
    sys.exit(main())
