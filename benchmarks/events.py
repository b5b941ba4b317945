"""Follow windows of mixed events with Twinhive and with Hive's own REPL DUMP and REPL LOAD, side by side.

    python -m benchmarks.events --events 1000 10000 --tables 20

Both replicate the same history of the same database on the same two clusters, one after the other.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from rich.console import Console
from rich.table import Table

from benchmarks.history import History
from benchmarks.measuring import Measured, machine, measured, ratio
from benchmarks.sides import Clusters, HiveRepl, Twinhive, add_common_options
from tests.support.users.source_writer import SourceWriter
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin, describe
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.runtime.pipeline.phases import APPLY, WINDOW
from twinhive.runtime.pipeline.runner import run_bootstrap

_console = Console(width=110, highlight=False)


@dataclass(frozen=True)
class Ours:
    """What a window took on our side, and how many steps its events were applied in."""

    dump: Measured
    copy: Measured
    apply: Measured
    events: int
    actions: int
    files: int


@dataclass(frozen=True)
class Hives:
    """What a window took on Hive's side; its load copies the files as well."""

    dump: Measured
    load: Measured


def main() -> int:
    """Write the histories, replicate each, compare the replicas, print seconds and ratios."""
    given = _arguments()
    clusters = Clusters.start(given.instance)
    source = clusters.source()
    writer = SourceWriter.with_database(source, clusters.east.files, f"events_{source.current_event_id()}")
    history = History(writer, given.tables, given.seed)
    _said("first tables", history.begin)
    twinhive, hive = Twinhive.of(writer.database), HiveRepl(clusters.box, writer.database)
    _said("bootstrap with Twinhive", lambda: run_bootstrap(twinhive.policy, twinhive.ports, {}, _quiet))
    if not given.no_hive:
        _said("bootstrap with Hive", lambda: (hive.dump(), hive.load()))
    _console.print(f"\n{machine()}")
    for events in given.events:
        begin = source.current_event_id()
        _said(f"history of {events} events", partial(history.go_on, events))
        kinds = Counter(row.event_type for row in source.events_after(begin, 2 * events + 1000))
        ours = _follow(twinhive)
        assert_equal_twin(clusters.east, writer.database, clusters.west, twinhive.replica)
        theirs = None if given.no_hive else Hives(hive.dump(), hive.load())
        _console.print(f"\n{kinds.total()} events: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}")
        _console.print(_table(ours, theirs))
        _console.print(_same(clusters.west, twinhive.replica, hive.replica if theirs else None))
    if not given.keep:
        clusters.box.down()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, nargs="+", default=[1000], help="events of each window")
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="another history")
    add_common_options(parser)
    return parser.parse_args()


def _follow(twinhive: Twinhive) -> Ours:
    """Dump, copy and apply one window in this process."""
    work, ports = Work(twinhive.policy, holder={"run": "benchmark"}), twinhive.ports
    with measured() as dump:
        cut = WINDOW(work).run(ports)
    files = 0
    with measured() as copy:
        for batch in cut.batches:
            files += CopyBatch(replace(work, batch=batch.name, dump=cut.dump)).run(ports).copied_files
    with measured() as apply:
        applied = APPLY(work).run(ports)
    return Ours(dump, copy, apply, cut.events, applied.calls, files)


def _table(ours: Ours, hive: Hives | None) -> Table:
    title = f"{ours.events} events, {ours.files} files copied, applied in {ours.actions} steps"
    table = Table("", "Twinhive, s", "events/s", "peak MiB", "Hive, s", "events/s", "Hive / Twinhive", title=title)
    copy_and_apply = ours.copy.seconds + ours.apply.seconds
    whole = Measured(copy_and_apply, max(ours.copy.peak_mib, ours.apply.peak_mib), ours.apply.load)
    rows = [
        ("dump", ours.dump, hive.dump if hive else None),
        ("copy", ours.copy, None),
        ("apply", ours.apply, hive.load if hive else None),
        ("copy + apply", whole, hive.load if hive else None),
    ]
    for name, own, theirs in rows:
        table.add_row(name, f"{own.seconds:.2f}", own.rate(ours.events), str(own.peak_mib), *_beside(own, theirs, ours))
    if hive:
        table.caption = (
            "REPL LOAD copies the files too: 'copy + apply' is equal work, 'apply' is against all of it\n"
            f"load average after our apply {ours.apply.load:.1f}, after Hive's load {hive.load.load:.1f}"
        )
    return table


def _beside(own: Measured, theirs: Measured | None, ours: Ours) -> tuple[str, ...]:
    if theirs is None:
        return "", "", ""
    return f"{theirs.seconds:.2f}", theirs.rate(ours.events), ratio(theirs.seconds, own.seconds)


def _same(west: Warehouse, ours: str, hives: str | None) -> str:
    """Say that the replicas hold as much as each other; ours has been compared with the source already."""
    said = f"Twinhive's replica equals the source: {_size(west, ours)}"
    if hives is None:
        return said
    return f"{said}\nHive's replica: {_size(west, hives)}"


def _size(west: Warehouse, database: str) -> str:
    tables = describe(west, database)["tables"].values()
    partitions = [partition for table in tables for partition in table["partitions"].values()]
    files = sum(len(holder.get("files", ())) for holder in [*tables, *partitions])
    return f"{len(tables)} tables, {len(partitions)} partitions, {files} files"


def _said(doing: str, work: Callable[[], object]) -> None:
    with measured() as taken:
        work()
    _console.print(f"{doing}: {taken.seconds:.1f} s")


def _quiet(line: object) -> None:
    """Leave a step's report out."""


if __name__ == "__main__":
    sys.exit(main())
