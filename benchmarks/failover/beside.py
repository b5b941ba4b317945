"""Fail over and back beside Hive: planned, and after writes that were never replicated; between the same two clusters.

Hive's failover is a `REPL DUMP` and a `REPL LOAD` with `hive.repl.failover.start`; its way back is the optimised
bootstrap: a dump and a load that say which tables differ, and another pair that copies these whole. It fences nothing,
waits for nothing and proves nothing, so the seconds that ours waits for quiet are said for themselves.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from benchmarks.failover.timed import until_done
from benchmarks.measuring import load_average, measured, ratio
from benchmarks.sides import Clusters, HiveRepl, add_days
from tests.checker.failover_histories import held
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.marks import LAST_ID
from twinhive.operations.actions.pause import Unpause
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase
from twinhive.runtime.wiring.policy_wiring import Wiring

_BYTES = 100_000
_CHANGED = 10
_HOLDER = {"run": "benchmark", "task": "failover"}


class Side(Protocol):
    """One way to replicate, to switch and to come back; what is timed returns its seconds."""

    @property
    def quiet(self) -> float:
        """Say for how many seconds of a failover it waits until nobody writes."""

    def replicate(self) -> None:
        """Bring `west` to what `east` holds now."""

    def fail_over(self) -> float:
        """Bring `west` what it lacks, and let it take over."""

    def lose(self) -> None:
        """Let `west` take over without `east`."""

    def fail_back(self) -> float:
        """Make `east` the replica of `west`, and bring it to what `west` holds."""


@dataclass(frozen=True)
class Ours:
    """Two policies, one in each direction."""

    there: Wiring
    back: Wiring

    @classmethod
    def of(cls, database: str) -> "Ours":
        """Write the policies' files, and build their adapters."""
        files = PolicyFiles(Path(tempfile.mkdtemp(prefix="twinhive-")) / "config")
        options = {"copy_threads": 16, "batch_objects": 2000, "spark_above_files": 0}
        files.add(database, external_tables={"include": False}, failover={"reverse": {}}, options=options)
        return cls(files.wiring(database), files.wiring(f"{database}_back"))

    @property
    def quiet(self) -> float:
        return self.there.policy.quiet_seconds

    def replicate(self) -> None:
        there = self.there
        until_done(lambda: bool(run_bootstrap(there.policy, there.write_ports(), dict(_HOLDER), lambda line: None)))
        _follow(there)

    def fail_over(self) -> float:
        failover = Failover(self.there.policy, _HOLDER, catch_up=lambda since: _follow(self.there))
        return _seconds(lambda: failover.run(self.there.write_ports()))

    def lose(self) -> None:
        ports = self.there.write_ports()
        found = ports.replica.database(self.there.policy.replica.database)
        assert found is not None
        UnplannedFailover(self.there.policy, int(found.parameters[LAST_ID]), "benchmark", _HOLDER).run(ports)

    def fail_back(self) -> float:
        def work() -> None:
            Failback(self.back.policy, _HOLDER).run(self.back.write_ports())
            Unpause(self.back.policy).run(self.back.write_ports())
            _follow(self.back)

        return _seconds(work)


@dataclass(frozen=True)
class Hives:
    """Hive's own statements, in each direction."""

    there: HiveRepl
    back: HiveRepl
    quiet: float = 0.0

    @classmethod
    def of(cls, clusters: Clusters, database: str) -> "Hives":
        """Replicate into a database of the same name."""
        there = HiveRepl(clusters.box, database, database)
        return cls(there, replace(there, source="west", target="east"))

    def replicate(self) -> None:
        """Load a first copy and what came after it: Hive lets no replica be dumped before that."""
        _pair(self.there)
        _pair(self.there)

    def fail_over(self) -> float:
        return _pair(self.there, **{"hive.repl.failover.start": "true"})

    def lose(self) -> None:
        """Do nothing: Hive has no step for it, users write to the replica."""

    def fail_back(self) -> float:
        """Say which tables differ, and copy them."""
        return _pair(self.back) + _pair(self.back)


def beside(partitions: int) -> None:
    """Print a table, and stop the servers that it was measured on."""
    clusters = Clusters.start("bench-failover")
    planned = "planned failover, from the last write on"
    changed = f"failback, {_CHANGED} partitions changed on the new primary"
    diverged = "failback, the same, and one partition of the old primary was never replicated"
    taken: dict[str, dict[str, float]] = {planned: {}, changed: {}, diverged: {}}
    quiet = {}
    for name in ("ours", "hive"):
        side, east, west = _side(clusters, name, partitions)
        quiet[name] = side.quiet
        east.insert("days", ("000000",), {"late": b"x" * _BYTES})
        taken[planned][name] = side.fail_over()
        _change(west, partitions)
        taken[changed][name] = side.fail_back()
        _assert_equal(east, west)
        side, east, west = _side(clusters, name, partitions)
        east.insert("days", (f"{partitions - 1:06d}",), {"never seen": b"x" * _BYTES})
        side.lose()
        _change(west, partitions)
        taken[diverged][name] = side.fail_back()
        _assert_equal(east, west)
    print(f"\n| {partitions:,} partitions of a file of {_BYTES:,} bytes; seconds | ours | Hive | ratio |")
    print("|---|---|---|---|")
    for what, both in taken.items():
        print(f"| {what} | {both['ours']:.1f} | {both['hive']:.1f} | {ratio(both['hive'], both['ours'])} |", flush=True)
    print(f"of a planned failover, to wait for quiet: ours {quiet['ours']:.0f} s, Hive {quiet['hive']:.0f} s")
    print(f"load average {load_average():.1f}")
    clusters.box.down()


def _side(clusters: Clusters, name: str, partitions: int) -> tuple[Side, SourceWriter, SourceWriter]:
    """Return a side whose replica holds all of a new database, with users of both clusters."""
    database = clusters.east.create_database(f"switched_{name}")
    east, west = (clusters.users(cluster, database) for cluster in ("east", "west"))
    add_days(east, "days", partitions, _BYTES)
    side: Side = Ours.of(database) if name == "ours" else Hives.of(clusters, database)
    side.replicate()
    return side, east, west


def _change(users: SourceWriter, partitions: int) -> None:
    for day in range(0, partitions, partitions // _CHANGED):
        users.insert("days", (f"{day:06d}",), {"new": b"y" * _BYTES})


def _follow(wiring: Wiring) -> None:
    policy, ports = wiring.policy, wiring.write_ports()
    until_done(lambda: bool(run_phase(INCREMENTAL, policy, ports, dict(_HOLDER), lambda line: None)["window"].idle))


def _pair(hive: HiveRepl, **settings: str) -> float:
    return hive.dump(**settings).seconds + hive.load(**settings).seconds


def _assert_equal(east: SourceWriter, west: SourceWriter) -> None:
    first, second = (held(users.metastore, users.files, users.database) for users in (east, west))
    assert first == second, f"{east.database}: both clusters differ"


def _seconds(work: Callable[[], object]) -> float:
    with measured() as taken:
        work()
    return taken.seconds
