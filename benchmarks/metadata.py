"""Bootstrap metadata alone, tables and partitions without files, with Twinhive and with Hive's REPL side by side.

    python -m benchmarks.metadata --tables 1000 --partitions 100000

Hive may get a smaller database (`--hive-partitions`) where it would take hours: partitions a second are compared.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from benchmarks.measuring import Measured, machine, measured, rate, ratio
from benchmarks.sides import Clusters, HiveRepl, Twinhive, add_common_options
from tests.support.hive import metastore_objects as objects
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE
from twinhive.runtime.pipeline.runner import run_phase

_PER_CALL = 500
_THREADS = 4
_console = Console(width=110, highlight=False)


@dataclass(frozen=True)
class Size:
    """How much metadata a database holds: tables, and partitions of all of them together."""

    tables: int
    partitions: int

    def of_hive(self, partitions: int) -> "Size":
        """Return a database of so many partitions, with as many in each table."""
        if not 0 < partitions < self.partitions:
            return self
        return Size(max(1, self.tables * partitions // self.partitions), partitions)

    def __str__(self) -> str:
        return f"{self.tables:,} tables, {self.partitions:,} partitions"


def main() -> int:
    """Create the databases, run both sides, print seconds, partitions a second and ratios."""
    given = _arguments()
    clusters = Clusters.start(given.instance)
    size = Size(given.tables, given.partitions)
    small = size.of_hive(given.hive_partitions)
    _console.print(machine())
    database = _filled(clusters, size)
    ours = _twinhive(Twinhive.of(database))
    _check(clusters, database, f"{database}_ours", size)
    hives = None if given.no_hive else _hive(clusters, database if small == size else _filled(clusters, small), small)
    _console.print(_table(size, ours, small, hives))
    if not given.keep:
        clusters.box.down()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--partitions", type=int, default=100_000, help="of all tables together")
    parser.add_argument("--hive-partitions", type=int, default=5_000, help="for Hive's side; 0: as many as for ours")
    add_common_options(parser)
    return parser.parse_args()


def _filled(clusters: Clusters, size: Size) -> str:
    """Create a database whose tables and partitions have directories and no files."""
    source = clusters.source()
    name = f"metadata_{source.current_event_id()}"
    writer = SourceWriter.with_database(source, clusters.east.files, name)
    with measured() as taken, ThreadPoolExecutor(_THREADS) as pool:
        share, rest = divmod(size.partitions, size.tables)
        counts = [share + (number < rest) for number in range(size.tables)]
        list(pool.map(lambda numbered: _fill(writer, source, *numbered), enumerate(counts)))
    _console.print(f"created {size}: {taken.seconds:.1f} s")
    return name


def _fill(writer: SourceWriter, source: ThriftSource, number: int, partitions: int) -> None:
    table = writer.create_table(f"t{number:05d}", keys=("day",))
    made = [
        objects.a_partition(table, f"{day:05d}", location=f"{table.location}/day={day:05d}")
        for day in range(partitions)
    ]
    for start in range(0, partitions, _PER_CALL):
        source.add_partitions(made[start : start + _PER_CALL])


def _twinhive(twinhive: Twinhive) -> dict[str, Measured]:
    """Run the bootstrap and its one round, stage by stage."""
    taken: dict[str, Measured] = {}
    results: dict[str, object] = {}
    for stages in (BOOTSTRAP, CONSOLIDATE):
        for stage in stages:
            with measured() as taken_here:
                results |= run_phase((stage,), twinhive.policy, twinhive.ports, {}, _quiet, results)
            # Without files there is nothing to copy.
            if stage.name != "copy":
                taken[stage.name] = taken_here
    return taken


def _hive(clusters: Clusters, database: str, size: Size) -> dict[str, Measured]:
    hive = HiveRepl(clusters.box, database)
    taken = {"dump": hive.dump(), "load": hive.load()}
    _check_counts(clusters.west, hive.replica, size)
    return taken


def _check(clusters: Clusters, database: str, replica: str, size: Size) -> None:
    """Compare all counts, and two tables field by field."""
    _check_counts(clusters.west, replica, size)
    if size.partitions <= 10_000:
        assert_equal_twin(clusters.east, database, clusters.west, replica)


def _check_counts(west: Warehouse, replica: str, size: Size) -> None:
    tables = west.client.get_all_tables(replica)
    partitions = sum(len(west.client.get_partition_names(replica, table, -1)) for table in tables)
    assert Size(len(tables), partitions) == size, f"{replica} has {Size(len(tables), partitions)}"


def _table(size: Size, ours: dict[str, Measured], small: Size, hives: dict[str, Measured] | None) -> Table:
    table = Table("Twinhive", "s", "partitions/s", "peak MiB", "Hive REPL", "s", "partitions/s", "times as fast")
    load = [("load", ours["load"])]
    others = [(name, one) for name, one in ours.items() if name != "load"]
    dump = Measured(sum(one.seconds for _, one in others), max(one.peak_mib for _, one in others))
    for name, one in others:
        table.add_row(f"  {name}", f"{one.seconds:.2f}", rate(size.partitions, one.seconds), str(one.peak_mib))
    for name, one in [("before load", dump), *load]:
        theirs = hives["load" if name == "load" else "dump"].seconds if hives else None
        row = [name, f"{one.seconds:.2f}", rate(size.partitions, one.seconds), str(one.peak_mib)]
        table.add_row(*row, *_beside(one.seconds / size.partitions, theirs, small, name))
    whole = dump.seconds + ours["load"].seconds
    theirs_whole = sum(one.seconds for one in hives.values()) if hives else None
    row = ["whole", f"{whole:.2f}", rate(size.partitions, whole), ""]
    table.add_row(*row, *_beside(whole / size.partitions, theirs_whole, small, "whole"))
    table.title = f"Twinhive: {size}" + (f"; Hive: {small}" if hives else "")
    if hives:
        theirs = hives["load"].load
        table.caption = f"load average after our load {ours['load'].load:.1f}, after Hive's load {theirs:.1f}"
    return table


def _beside(seconds_each: float, theirs: float | None, small: Size, name: str) -> tuple[str, ...]:
    if theirs is None:
        return "", "", "", ""
    name = "dump" if name == "before load" else name
    return name, f"{theirs:.2f}", rate(small.partitions, theirs), ratio(theirs / small.partitions, seconds_each)


def _quiet(line: object) -> None:
    """Leave a step's report out."""


if __name__ == "__main__":
    sys.exit(main())
