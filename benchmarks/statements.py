"""Dump and load one table of very many partitions by statements, while users change it; and by Hive's REPL beside that.

    python -m benchmarks.statements --partitions 100000

Shows that memory does not grow with the table: each statement's peak is printed. Hive may get a smaller table
(`--hive-partitions`): partitions a second are compared.
"""

import argparse
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measuring import Measured, machine, measured, rate, ratio
from benchmarks.sides import Clusters, HiveRepl, add_common_options
from tests.support.hive import metastore_objects as objects
from tests.support.policies import TIMEOUT_SECONDS, PolicyFiles
from tests.support.users.source_writer import SourceWriter
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.statements.execution import StatementPlace, run_statement

_PER_CALL = 500
_console = Console(width=110, highlight=False)


def main() -> int:
    """Create the tables, run both sides, print seconds, partitions a second, peaks and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--hive-partitions", type=int, default=2_000)
    add_common_options(parser)
    given = parser.parse_args()
    clusters = Clusters.start(given.instance)
    _console.print(machine())
    ours = _ours(clusters, given.partitions)
    hives = None if given.no_hive else _hives(clusters, given.hive_partitions)
    _console.print(_table(given.partitions, ours, given.hive_partitions, hives))
    if not given.keep:
        clusters.box.down()
    return 0


def _ours(clusters: Clusters, partitions: int) -> dict[str, Measured]:
    writer = _filled(clusters, partitions)
    place = statement_places()
    taken: dict[str, Measured] = {}
    with measured() as taken["dump"], _busy(writer):
        ((directory, event_id),) = run_statement(f"REPL DUMP {writer.database}", place["east"], {}, _say).rows
    with measured() as taken["load"]:
        run_statement(f"REPL LOAD {writer.database} FROM '{directory}'", place["west"], {}, _say)
    with measured() as taken["dump of events"]:
        statement = f"REPL DUMP {writer.database} FROM {event_id}"
        ((directory, _),) = run_statement(statement, place["east"], {}, _say).rows
    with measured() as taken["load of events"]:
        run_statement(f"REPL LOAD {writer.database} FROM '{directory}'", place["west"], {}, _say)
    there = len(clusters.west.client.get_partition_names(writer.database, "wide", -1))
    expected = len(clusters.east.client.get_partition_names(writer.database, "wide", -1))
    assert there == expected > partitions, f"{there} of {expected} partitions"
    return taken


def statement_places() -> dict[str, StatementPlace]:
    """Return where statements are said to: each cluster by its name."""
    directory = PolicyFiles(Path(tempfile.mkdtemp(prefix="twinhive-")) / "config").directory
    clusters = directory / "clusters.yaml"
    # The tests' time-out is short, because a take-over of the lease waits for it.
    clusters.write_text(clusters.read_text().replace(f"timeout_seconds: {TIMEOUT_SECONDS}", "timeout_seconds: 60"))
    configuration = load_configuration(directory)
    return {name: StatementPlace(configuration, resolve_from_environment, name) for name in ("east", "west")}


def _filled(clusters: Clusters, partitions: int) -> SourceWriter:
    source = clusters.source()
    name = f"wide_{source.current_event_id()}"
    writer = SourceWriter.with_database(source, clusters.east.files, name)
    table = writer.create_table("wide", keys=("day",))
    with measured() as taken:
        for start in range(0, partitions, _PER_CALL):
            days = range(start, min(start + _PER_CALL, partitions))
            source.add_partitions(
                [objects.a_partition(table, f"{day:06d}", location=f"{table.location}/day={day:06d}") for day in days]
            )
    _console.print(f"created {partitions:,} partitions: {taken.seconds:.1f} s")
    return writer


@contextmanager
def _busy(writer: SourceWriter) -> Iterator[None]:
    """Let users add a partition each second, so that the table has to be consolidated."""
    over = threading.Event()

    def use() -> None:
        number = 0
        while not over.wait(1):
            number += 1
            writer.add_partitions("wide", {(f"new{number}",): {"data": b"new"}})

    thread = threading.Thread(target=use)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _hives(clusters: Clusters, partitions: int) -> dict[str, Measured]:
    hive = HiveRepl(clusters.box, _filled(clusters, partitions).database)
    return {"dump": hive.dump(), "load": hive.load()}


def _table(partitions: int, ours: dict[str, Measured], theirs: int, hives: dict[str, Measured] | None) -> Table:
    table = Table("statement", "s", "partitions/s", "peak MiB", "Hive's s", "partitions/s", "times as fast")
    for name, one in ours.items():
        row = [name, f"{one.seconds:.2f}", rate(partitions, one.seconds), str(one.peak_mib)]
        if hives and name in hives:
            seconds = hives[name].seconds
            row += [f"{seconds:.2f}", rate(theirs, seconds), ratio(seconds / theirs, one.seconds / partitions)]
        table.add_row(*row)
    loads = [one.load for one in (*ours.values(), *(hives or {}).values())]
    size = f"{partitions:,} partitions" + (f"; Hive: {theirs:,}" if hives else "")
    table.title = f"one table: {size}; load average {min(loads):.1f} to {max(loads):.1f}"
    return table


def _say(line: str) -> None:
    _console.print(f"  {line}")


if __name__ == "__main__":
    sys.exit(main())
