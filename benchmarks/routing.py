"""Measure what routing and copies cost this process, beside what metastore and file systems take for themselves.

    python -m benchmarks.routing

No servers: metastore and file systems are those of the unit tests, in memory; every call to them is counted, and its
CPU is taken out. Exit code 1 when a target is missed.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.measuring import machine
from tests.support.worlds.copies_world import CopiesWorld, a_placement
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.federation.routing.cluster_choice import Routed
from twinhive.federation.routing.freshness import Freshness
from twinhive.federation.routing.nested_directories import states_like
from twinhive.federation.routing.statement_reading import read_statement, view_reads
from twinhive.federation.routing.table_resolution import Clusters, Resolver

_TABLES = 5
_READ = 100
_ROUTE_CPU_MS = 100.0
_PUBLISH_CALLS = 5
_SEEN_US = 5.0
"""A placement without a change: most CPU for each directory that the look around finds, in microseconds."""
_console = Console(width=110, highlight=False)


@dataclass
class Account:
    """Calls of one port by name, and the CPU seconds that were spent in them."""

    calls: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


class Accounted:
    """A port whose calls are counted and timed; pages that come bit by bit are timed as they come."""

    def __init__(self, port: Any, account: Account) -> None:
        self._port, self._account = port, account

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if not callable(value):
            return value

        def called(*args: Any, **kwargs: Any) -> Any:
            self._account.calls[name] += 1
            answer = self._timed(value, *args, **kwargs)
            return self._paged(answer) if isinstance(answer, Iterator) else answer

        return called

    def _paged(self, pages: Iterator[Any]) -> Iterator[Any]:
        over = object()
        while (page := self._timed(next, pages, over)) is not over:
            yield page

    def _timed(self, work: Any, *args: Any, **kwargs: Any) -> Any:
        began = time.thread_time()
        try:
            return work(*args, **kwargs)
        finally:
            self._account.seconds += time.thread_time() - began


@dataclass(frozen=True)
class Cost:
    """What a piece of work took: CPU of this process beyond the ports, in ms, and the calls of each port."""

    cpu_ms: float
    metastore: Counter[str]
    files: Counter[str]


def main() -> int:
    """Measure all, print a table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--partitions", type=int, default=10_000, help="of each large table")
    parser.add_argument("--changed", type=int, default=100_000, help="partitions of the table of which one changes")
    parser.add_argument("--runs", type=int, default=5, help="of each measurement; the least is told")
    given = parser.parse_args()
    _console.print(machine())
    table = Table("what", "CPU, ms", "metastore calls", "file system calls", "target", "kept")
    kept = [
        _route(table, given.partitions // _TABLES, given.runs, f"below {_ROUTE_CPU_MS:.0f} ms"),
        _route(table, given.partitions, given.runs),
        _publish(table),
        _unchanged(table, given.partitions, given.runs),
        _changed(table, given.changed),
    ]
    _console.print(table)
    return int(not all(kept))


def _route(table: Table, partitions: int, runs: int, target: str = "") -> bool:
    """Route a join of five tables, of which 100 partitions are read, all of them from copies."""
    each = _READ // _TABLES
    world = _world(_TABLES, partitions, newest=each)
    world.users.create_table("there")
    world.users.set_parameters("there", {"twinhive.cluster": "north"})
    first = partitions - each
    joined = "".join(f" JOIN t{n} ON t0.id = t{n}.id" for n in range(1, _TABLES))
    days = " AND ".join(f"t{n}.day >= '{first:06d}'" for n in range(_TABLES))
    sql = f"INSERT INTO there SELECT t0.id FROM t0{joined} WHERE {days}"  # noqa: S608 (our own names)
    cost = _least(lambda metastore, files: _routed(world, sql, metastore, files), world, runs)
    what = f"route a query of {_TABLES} tables of {partitions:,} partitions each, {_READ} of all read"
    return _row(table, what, cost, target, not target or cost.cpu_ms < _ROUTE_CPU_MS)


def _routed(world: CopiesWorld, sql: str, metastore: Any, files: Any) -> None:
    freshness = Freshness(metastore, lambda places: states_like(files, places))
    found = Resolver(metastore, Clusters(("east", "north"), "east"), freshness, view_reads).route(
        read_statement(sql, "sales"), None
    )
    assert isinstance(found, Routed), found
    assert found.cluster == "north", found


def _publish(table: Table) -> bool:
    """Publish a thousand partitions that are copied."""
    world = _made(1, 1_000)
    listed = ListCopies(Work(world.placement)).run(world.ports())
    for batch in listed.batches:
        CopyObjects(Work(world.placement, batch.name, listed.dump)).run(world.ports())

    def publish(metastore: Any, files: Any) -> None:
        ports = replace(world.ports(), source=metastore, replica=metastore, source_files=files)
        assert PublishCopies(Work(world.placement)).run(ports).published == 1_000

    cost = _least(publish, world, 1)
    is_kept = cost.metastore.total() <= _PUBLISH_CALLS
    return _row(table, "publish 1,000 copied partitions", cost, f"at most {_PUBLISH_CALLS} metastore calls", is_kept)


def _unchanged(table: Table, partitions: int, runs: int) -> bool:
    """Look at a placement in which nothing has happened, with few partitions and with many."""
    few, many = (_unchanged_cost(number, runs) for number in (100, partitions))
    _row(table, "a placement without a change, 100 partitions", few, "", is_kept=True)
    same_calls = few.metastore == many.metastore and few.files.keys() == many.files.keys()
    each_us = (many.cpu_ms - few.cpu_ms) * 1_000 / partitions
    is_kept = same_calls and each_us < _SEEN_US
    target = f"the same calls; below {_SEEN_US:.0f} µs a directory"
    return _row(table, f"the same, {partitions:,} partitions", many, target, is_kept)


def _unchanged_cost(partitions: int, runs: int) -> Cost:
    world = _world(1, partitions)
    world.run()

    def look(metastore: Any, files: Any) -> None:
        ports = replace(world.ports(), source=metastore, replica=metastore, source_files=files)
        assert ListCopies(Work(world.placement)).run(ports).idle

    return _least(look, world, runs)


def _changed(table: Table, partitions: int) -> bool:
    """Bring a placement up to date in which one partition has changed, of few and of many."""
    few, many = _changed_cost(100), _changed_cost(partitions)
    _row(table, "one partition of 100 changes: four runs", few, "", is_kept=True)
    is_kept = (few.metastore, few.files.keys()) == (many.metastore, many.files.keys())
    return _row(table, f"the same, one of {partitions:,}", many, "the same calls", is_kept)


def _changed_cost(partitions: int) -> Cost:
    world = _world(1, partitions)
    world.run()
    world.users.insert("t0", ("000050",), {"more": b"more"})

    def bring_up_to_date(metastore: Any, files: Any) -> None:
        ports = replace(world.ports(), source=metastore, replica=metastore, source_files=files)
        found = [world.run(ports) for _ in range(4)]
        assert found[0]["publish"].published == 1
        assert all(results["list_copies"].idle for results in found[1:])

    return _least(bring_up_to_date, world, 1)


def _made(tables: int, partitions: int, newest: int | None = None) -> CopiesWorld:
    """Return a world of tables that have no copies yet."""
    # A sweep asks the metastore for all that it names of a table: not in these minutes.
    options = {"partitions_per_call": 1_000, "batch_objects": 1_000, "grace_seconds": 21_600}
    placement = a_placement(options=options)
    kept = placement.copies
    assert kept is not None
    world = CopiesWorld(replace(placement, copies=KeptCopies(kept.root, newest=newest, default_cluster="east")))
    for number in range(tables):
        world.users.create_table(f"t{number}", ("day",))
        for start in range(0, partitions, 1_000):
            days = range(start, min(start + 1_000, partitions))
            world.users.add_partitions(f"t{number}", {(f"{day:06d}",): {"f": b"%d" % day} for day in days})
    return world


def _world(tables: int, partitions: int, newest: int | None = None) -> CopiesWorld:
    world = _made(tables, partitions, newest)
    world.settle()
    return world


def _least(work: Any, world: CopiesWorld, runs: int) -> Cost:
    """Return the run that took this process the least CPU: others' work on the machine only adds to it."""
    costs = []
    for _ in range(runs):
        metastore, files = Account(), Account()
        began = time.process_time()
        work(Accounted(world.metastore, metastore), Accounted(world.files, files))
        own = time.process_time() - began - metastore.seconds - files.seconds
        costs.append(Cost(own * 1_000, metastore.calls, files.calls))
    return min(costs, key=lambda cost: cost.cpu_ms)


def _row(table: Table, what: str, cost: Cost, target: str, is_kept: bool) -> bool:
    calls = ", ".join(f"{count} {name}" for name, count in sorted(cost.files.items()))
    table.add_row(what, f"{cost.cpu_ms:.1f}", str(cost.metastore.total()), calls, target, "yes" if is_kept else "NO")
    return is_kept


if __name__ == "__main__":
    sys.exit(main())
