"""Keep external tables equal that did not change, and list the locations of very many partitions; DistCp beside it.

    python -m benchmarks.external --tables 1000 --directories 100000 --partitions 100000
    python -m benchmarks.external --only pass        # seed 001: 100 entries, 10,000 events, a bound of 200

A cycle is what `<policy>.external` does: its gate, its list, its copies, in this process. DistCp gets the same
directories: as one job for all tables, and as a job per table as Hive runs it (of some; for all it is reckoned).
"""

import argparse
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.measuring import Measured, machine, measured, ratio
from benchmarks.sides import Clusters
from sandbox.hadoop.distcp import UNLIMITED, run_distcp
from sandbox.hadoop.yarn import NODE_MANAGER
from sandbox.jvm.jars import JAR_LIST, YARN_JAR_LIST, ensure_jars
from sandbox.paths import cache_root
from sandbox.running.own_network import enter
from tests.support.hive import metastore_objects as objects
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, WritePorts
from twinhive.replication.external_tables.list_external import ExternalListed
from twinhive.runtime.pipeline.phases import BOOTSTRAP, EXTERNAL, INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

_ROOT = "/bench/external"
_BASE = "/bench/replica"
_PARTS = ["locations", "pass", "cycles"]
_PER_CALL = 1_000
_THREADS = 8
_console = Console(width=140, highlight=False)


@dataclass(frozen=True)
class Size:
    """How many tables, with how many directories and files together, and partitions of the one large table."""

    tables: int
    directories: int
    files: int
    partitions: int


def main() -> int:
    """Run all and print one table."""
    given = _arguments()
    size = Size(given.tables, given.directories, given.files, given.partitions)
    clusters = _started(given)
    _console.print(machine())
    table = Table("what", "seconds", "peak MiB", "load average", "against listing", title=str(size))
    if "locations" in given.only:
        _measure_locations(clusters, size, table)
    if "pass" in given.only:
        _measure_pass(clusters, given.entries, given.events, table)
    if "cycles" in given.only:
        listing = _measure_cycles(clusters, size, table)
        if not given.no_distcp:
            _measure_distcp(clusters, size, given.distcp_tables, listing, table)
    _console.print(table)
    if not given.keep:
        clusters.box.down()
    sys.stdout.flush()
    # Java's threads may still hold on to what Python would take apart.
    os._exit(0)


def _started(given: argparse.Namespace) -> Clusters:
    """Start the clusters, and YARN for DistCp, in a network of its own where that has to be."""
    if not given.no_distcp:
        for jars in (JAR_LIST, YARN_JAR_LIST):
            ensure_jars(cache_root(), jars)
        enter("benchmarks.external", sys.argv[1:])
    clusters = Clusters.start(given.instance)
    if not given.no_distcp:
        clusters.box.up(NODE_MANAGER)
    return clusters


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=1_000)
    parser.add_argument("--directories", type=int, default=100_000, help="of all tables together, a partition each")
    parser.add_argument("--files", type=int, default=10_000, help="of all tables together, a few bytes each")
    parser.add_argument("--partitions", type=int, default=100_000, help="of one table, without directories")
    parser.add_argument("--entries", type=int, default=100, help="of the bounded pass")
    parser.add_argument("--events", type=int, default=10_000, help="that wait beside it")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS)
    parser.add_argument("--distcp-tables", type=int, default=3, help="for so many DistCp gets a job each")
    parser.add_argument("--no-distcp", action="store_true", help="measure Twinhive alone")
    parser.add_argument("--instance", default="bench", help="the sandbox to run on")
    parser.add_argument("--keep", action="store_true", help="leave the clusters running")
    return parser.parse_args()


def _measure_locations(clusters: Clusters, size: Size, table: Table) -> None:
    """List the locations of one table with very many partitions below it."""
    name = _database(clusters, "locations")
    location = f"{clusters.east.files.root}{_ROOT}/{name}/large"
    clusters.east.files.make_directories(location)
    with measured() as taken:
        _create(clusters, name, "large", location, size.partitions)
    _row(table, f"(creating {size.partitions:,} partitions)", taken)
    policy, ports = _policy(clusters, name)
    taken, listed = _list(policy, ports)
    assert listed.entries == 1, f"{listed.entries} entries for one table"
    _row(table, f"list_external: {size.partitions:,} partitions below one table, {listed.entries} entry", taken)


def _measure_cycles(clusters: Clusters, size: Size, table: Table) -> float:
    """Copy everything once, then go through cycles without a change; return the seconds that listing alone takes."""
    name = _database(clusters, "cycles")
    with measured() as taken:
        _fill(clusters, name, size)
    _row(table, f"(creating {size.tables:,} tables, {size.directories:,} directories, {size.files:,} files)", taken)
    policy, ports = _policy(clusters, name)
    _row(table, "first cycle: everything is copied", _cycle(policy, ports))
    root = f"{_ROOT}/{name}"
    alone = measured_listing(
        [(ports.source_files, f"{clusters.east.files.root}{root}"), (ports.replica_files, _place(policy, root))]
    )
    _row(table, "listing both sides alone", alone)
    for _ in range(2):
        _row(table, "cycle without a change", _cycle(policy, ports), alone.seconds)
    by_snapshots = replace(policy, external=replace(policy.external, snapshots=True))
    _row(table, "first cycle with snapshots", _cycle(by_snapshots, ports), alone.seconds)
    for _ in range(2):
        _row(table, "cycle without a change, with snapshots", _cycle(by_snapshots, ports), alone.seconds)
    return alone.seconds


def _measure_pass(clusters: Clusters, entries: int, events: int, table: Table) -> None:
    """Let many directories and many events wait, and see how passes of 200 tasks share the work."""
    name = _database(clusters, "pass")
    bound = {"approx_max_load_tasks": 200, "parallelism": 8, "external_weight": 1}
    policy, ports = _policy(clusters, name, options=bound)
    users = SourceWriter(clusters.source(), clusters.east.files, name)
    users.create_table("managed")
    run_bootstrap(policy, ports, {"run": "bench"}, _quiet)
    for number in range(entries):
        location = f"{clusters.east.files.root}{_ROOT}/{name}/t{number:05d}"
        clusters.east.files.write(f"{location}/part-0", f"{number}\n".encode())
        _create(clusters, name, f"t{number:05d}", location, 0)
    for number in range(events - entries):
        users.set_parameters("managed", {"number": str(number)})
    done = 0
    with measured() as taken:
        listed = run_phase(EXTERNAL[:2], policy, ports, {"run": "bench"}, _quiet)["list_external"]
        window = run_phase(INCREMENTAL[:1], policy, ports, {"run": "bench"}, _quiet)["window"]
    what = f"first pass of {entries} entries, {events:,} events: {len(listed.batches)} copies, {window.events} events"
    _row(table, what, taken)
    with measured() as taken:
        while not run_phase(INCREMENTAL, policy, ports, {"run": "bench"}, _quiet)["window"].idle:
            done += 1
            run_phase(EXTERNAL, policy, ports, {"run": "bench"}, _quiet)
    _row(table, f"all of it, by {done} windows with a pass between them", taken)


def _measure_distcp(clusters: Clusters, size: Size, tables: int, listing: float, table: Table) -> None:
    name = f"cycles_{os.getpid()}"
    source, target = f"{clusters.east.files.root}{_ROOT}/{name}", f"{clusters.west.files.root}/bench/distcp/{name}"
    _distcp(clusters, source, target)
    _row(table, "DistCp -update -delete, one job, nothing changed", _distcp(clusters, source, target), listing)
    each = [_distcp(clusters, f"{source}/t{n:05d}", f"{target}/t{n:05d}") for n in range(tables)]
    mean = sum(one.seconds for one in each) / len(each)
    whole = Measured(mean * size.tables, load=each[-1].load)
    _row(table, f"DistCp, a job per table: {mean:.1f} s each, reckoned for all", whole, listing)


def _distcp(clusters: Clusters, source: str, target: str) -> Measured:
    options = [*UNLIMITED, "-numListstatusThreads", str(_THREADS), "-update", "-delete", "-pugpa"]
    with measured() as taken:
        run = run_distcp(clusters.box, "west", [*options, source, target], maps=_THREADS)
    if run.code != 0:
        raise SystemExit(f"DistCp ended with code {run.code}, see {run.log}")
    return Measured(taken.seconds, load=taken.load)


def measured_listing(sides: list[tuple[FileReader, str]]) -> Measured:
    """List both trees at the same time, level by level in bulk, and do nothing else."""
    with measured() as taken, ThreadPoolExecutor(len(sides)) as pool:
        list(pool.map(lambda side: _walk(*side), sides))
    return taken


def _walk(files: FileReader, root: str) -> None:
    level = [root]
    while level:
        found = [status for _, children in files.list_directories(level) for status in children or ()]
        level = [status.path for status in found if status.is_directory]


def _database(clusters: Clusters, what: str) -> str:
    name = f"{what}_{os.getpid()}"
    SourceWriter.with_database(clusters.source(), clusters.east.files, name)
    return name


def _create(clusters: Clusters, database: str, table: str, location: str, partitions: int) -> None:
    source = clusters.source()
    made = objects.a_table(database, table, ("day",), location=location, parameters={"EXTERNAL": "TRUE"})
    source.create_table(replace(made, table_type="EXTERNAL_TABLE"))
    days = [objects.a_partition(made, f"{day:06d}", location=f"{location}/day={day:06d}") for day in range(partitions)]
    for start in range(0, partitions, _PER_CALL):
        source.add_partitions(days[start : start + _PER_CALL])


def _fill(clusters: Clusters, database: str, size: Size) -> None:
    """Make tables with as many directories each, and a file in some of them."""
    files, each = clusters.east.files, size.directories // size.tables
    every = max(1, size.directories // size.files) if size.files else size.directories + 1

    def fill(number: int) -> None:
        table = f"t{number:05d}"
        location = f"{files.root}{_ROOT}/{database}/{table}"
        for day in range(each):
            directory = f"{location}/day={day:06d}"
            files.make_directories(directory)
            if (number * each + day) % every == 0:
                files.write(f"{directory}/part-0", f"{number} {day}\n".encode())
        _create(clusters, database, table, location, each)

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(fill, range(size.tables)))


def _policy(clusters: Clusters, database: str, **more: Any) -> tuple[Policy, WritePorts]:
    directory = clusters.box.layout.temporary / f"config-{database}"
    external = {"base_directory": f"{clusters.west.files.root}{_BASE}/{database}", "delete": "permanently"}
    files = PolicyFiles(directory)
    options = {"copy_threads": _THREADS, **more.get("options", {})}
    name = files.add(database, replica=f"{database}_ours", external_tables=external, options=options)
    wiring = files.wiring(name)
    ports = wiring.write_ports()
    # The data lane runs as soon as there is a dump.
    run_phase(BOOTSTRAP[:2], wiring.policy, ports, {"run": "bench"}, _quiet)
    return wiring.policy, ports


def _place(policy: Policy, root: str) -> str:
    return policy.external.place(f"{policy.external.source_root}{root}", root)


def _list(policy: Policy, ports: WritePorts) -> tuple[Measured, ExternalListed]:
    with measured() as taken:
        results = run_phase(EXTERNAL[:2], policy, ports, {"run": "bench"}, _quiet)
    return taken, results["list_external"]


def _cycle(policy: Policy, ports: WritePorts) -> Measured:
    with measured() as taken:
        run_phase(EXTERNAL, policy, ports, {"run": "bench"}, _quiet)
    return taken


def _row(table: Table, what: str, taken: Measured, listing: float | None = None) -> None:
    against = ratio(taken.seconds, listing) if listing else ""
    table.add_row(what, f"{taken.seconds:.1f}", str(taken.peak_mib or ""), f"{taken.load:.1f}", against)
    _console.print(f"{what}: {taken.seconds:.1f} s")


_quiet: Callable[[object], None] = lambda line: None  # noqa: E731


if __name__ == "__main__":
    main()
