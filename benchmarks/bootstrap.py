"""Bootstrap one database with Twinhive and with Hive's own REPL DUMP and REPL LOAD, side by side.

    python -m benchmarks.bootstrap --tables 4 --partitions 70 --files 1

Both run on the same two clusters in the same run, in one process each, without Spark and without
Airflow: the times are those of the work itself. Hive's driver runs with MapReduce's local runner.
"""

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sandbox import Sandbox
from sandbox.peer import run_statements
from tests.policies import PolicyFiles
from tests.twin import assert_equal_twin
from tests.warehouse import Warehouse


def main() -> int:
    """Create the source, run both, print seconds and ratios."""
    given = _arguments()
    box = Sandbox.open("bench")
    box.up()
    os.environ.update(box.environment())
    east, west = Warehouse(box.clusters["east"]), Warehouse(box.clusters["west"])
    database = _fill(east, given.tables, given.partitions, given.files)
    ours = _twinhive(east, west, database)
    hive = _hive_repl(box, database)
    Console(width=100).print(_table(given, ours, hive))
    if not given.keep:
        box.down()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--partitions", type=int, default=70, help="partitions of each table")
    parser.add_argument("--files", type=int, default=1, help="files of each partition, 10 kB each")
    parser.add_argument("--keep", action="store_true", help="leave the clusters running")
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


def _twinhive(east: Warehouse, west: Warehouse, database: str) -> dict[str, float]:
    """Run our phase in this process and check that the twin is equal."""
    policies = PolicyFiles(Path(tempfile.mkdtemp()) / "config")
    policy = policies.add(database, replica=f"{database}_ours", options={"copy_threads": 16, "batch_objects": 2000})
    seconds: dict[str, float] = {}
    results: dict[str, Any] = {}
    for part, stages in (("dump", ("preflight", "list_objects", "list_files")), ("load", ("copy", "gate", "load"))):
        began = time.monotonic()
        results |= policies.run(policy, *stages, earlier=results)
        seconds[part] = time.monotonic() - began
    assert_equal_twin(east, database, west, f"{database}_ours")
    return seconds


def _hive_repl(box: Sandbox, database: str) -> dict[str, float]:
    """Run Hive's statements; starting its driver is not counted."""
    options = f"WITH ('hive.repl.rootdir'='{box.clusters['west'].hdfs_uri}/bench/{database}')"
    (dump,) = run_statements(box, "east", [f"REPL DUMP {database} {options}"])
    (load,) = run_statements(box, "west", [f"REPL LOAD {database} INTO {database}_hive {options}"])
    return {"dump": dump.seconds, "load": load.seconds}


def _table(given: argparse.Namespace, ours: dict[str, float], hive: dict[str, float]) -> Table:
    partitions = given.tables * given.partitions
    title = f"{given.tables} tables, {partitions} partitions, {partitions * given.files} files of about 10 kB"
    table = Table("", "Twinhive", "Hive REPL", "Hive / Twinhive", title=title)
    for part in ("dump", "load"):
        table.add_row(f"{part}, s", f"{ours[part]:.1f}", f"{hive[part]:.1f}", f"{hive[part] / ours[part]:.1f}x")
    total_ours, total_hive = sum(ours.values()), sum(hive.values())
    table.add_row("whole, s", f"{total_ours:.1f}", f"{total_hive:.1f}", f"{total_hive / total_ours:.1f}x")
    table.add_row("partitions/s", f"{partitions / total_ours:.0f}", f"{partitions / total_hive:.0f}", "")
    return table


if __name__ == "__main__":
    sys.exit(main())
