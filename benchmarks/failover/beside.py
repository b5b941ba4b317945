"""Fail over and back beside Hive: planned, and after writes that were never replicated; between the same two clusters.

Hive's failover is a `REPL DUMP` and a `REPL LOAD` with `hive.repl.failover.start`; its way back is the optimised
bootstrap: a dump and a load that say which tables differ, and another pair that copies these whole. It fences nothing,
waits for nothing and proves nothing, so the seconds that ours waits for quiet are said for themselves.
"""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.failover.timed import until_done
from benchmarks.measuring import load_average, ratio
from benchmarks.sides import Clusters
from sandbox.peer import run_statements
from tests.checker.switched import held
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from twinhive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.operations.failback import Failback
from twinhive.operations.failover import Failover
from twinhive.operations.pausing import Unpause
from twinhive.operations.unplanned_failover import UnplannedFailover
from twinhive.pipeline.phases import INCREMENTAL
from twinhive.pipeline.runner import run_bootstrap, run_phase
from twinhive.wiring.policies import Wiring

_PARTITIONS = 1_000
_BYTES = 100_000
_CHANGED = 10
_PER_CALL = 250
_HOLDER = {"run": "benchmark", "task": "failover"}


class Side(Protocol):
    """One way to replicate, to switch and to come back; each returns the seconds that it took."""

    def replicate(self) -> None:
        """Bring `west` to what `east` holds now."""

    def fail_over(self) -> float:
        """Let `west` take over, as planned."""

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

    def replicate(self) -> None:
        there = self.there
        until_done(lambda: bool(run_bootstrap(there.policy, there.write_ports(), dict(_HOLDER), lambda line: None)))
        _follow(self.there)

    def fail_over(self) -> float:
        return _seconds(lambda: Failover(self.there.policy, _HOLDER).run(self.there.write_ports()))

    def lose(self) -> None:
        ports = self.there.write_ports()
        found = ports.replica.database(self.there.policy.replica.database)
        assert found is not None
        at = int(found.parameters["repl.last.id"])
        UnplannedFailover(self.there.policy, at, "benchmark", _HOLDER).run(ports)

    def fail_back(self) -> float:
        def work() -> None:
            Failback(self.back.policy, _HOLDER).run(self.back.write_ports())
            Unpause(self.back.policy).run(self.back.write_ports())
            _follow(self.back)

        return _seconds(work)


@dataclass(frozen=True)
class Hives:
    """Statements of Hive's; starting its driver is not counted."""

    clusters: Clusters
    database: str

    def replicate(self) -> None:
        """Load a first copy and what came after it: Hive lets no replica be dumped before that."""
        self._pair("east", "west")
        self._pair("east", "west")

    def fail_over(self) -> float:
        return self._pair("east", "west", ("hive.repl.failover.start", "true"))

    def lose(self) -> None:
        """Do nothing: Hive has no step for it, users write to the replica."""

    def fail_back(self) -> float:
        return self._pair("west", "east") + self._pair("west", "east")

    def _pair(self, source: str, replica: str, *settings: tuple[str, str]) -> float:
        box = self.clusters.box
        root = f"{box.clusters['west'].hdfs_uri}/bench/{self.database}_from_{source}"
        given = ", ".join(f"'{key}'='{value}'" for key, value in (("hive.repl.rootdir", root), *settings))
        dump, load = f"REPL DUMP {self.database}", f"REPL LOAD {self.database} INTO {self.database}"
        runs = [run_statements(box, source, [f"{dump} WITH ({given})"])]
        runs.append(run_statements(box, replica, [f"{load} WITH ({given})"]))
        return sum(result.seconds for results in runs for result in results)


def beside() -> None:
    """Print a table; servers that were started stay for the next one."""
    clusters = Clusters.start("bench-failover")
    taken: dict[str, dict[str, float]] = {}
    quiet = 0.0
    for name in ("ours", "hive"):
        side, east, west = _side(clusters, name)
        quiet = max(quiet, side.there.policy.quiet_seconds if isinstance(side, Ours) else 0.0)
        east.insert("days", ("000000",), {"late": b"x" * _BYTES})
        if isinstance(side, Ours):
            _follow(side.there)
        taken.setdefault("planned failover", {})[name] = side.fail_over()
        _change(west)
        what = f"failback, {_CHANGED} partitions changed on the new primary"
        taken.setdefault(what, {})[name] = side.fail_back()
        _assert_equal(east, west)
        side, east, west = _side(clusters, name)
        east.insert("days", ("000999",), {"never seen": b"x" * _BYTES})
        side.lose()
        _change(west)
        what = "failback, the same, and one partition of the old primary was never replicated"
        taken.setdefault(what, {})[name] = side.fail_back()
        _assert_equal(east, west)
    print(f"\n| {_PARTITIONS:,} partitions of a file of {_BYTES:,} bytes; seconds | ours | Hive | ratio |")
    print("|---|---|---|---|")
    for what, both in taken.items():
        said = f"{both['ours']:.1f}" + (f", of these {quiet:.0f} to wait for quiet" if "planned f" in what else "")
        print(f"| {what} | {said} | {both['hive']:.1f} | {ratio(both['hive'], both['ours'])} |", flush=True)
    print(f"load average {load_average():.1f}")


def _side(clusters: Clusters, name: str) -> tuple[Side, SourceWriter, SourceWriter]:
    """Return a side whose replica holds all of a new database, with users of both clusters."""
    database = clusters.east.create_database(f"switched_{name}")
    east, west = (_users(clusters, cluster, database) for cluster in ("east", "west"))
    east.create_table("days", ("day",))
    for start in range(0, _PARTITIONS, _PER_CALL):
        days = range(start, start + _PER_CALL)
        east.add_partitions("days", {(f"{day:06d}",): {"data": b"x" * _BYTES} for day in days})
    side: Side = Ours.of(database) if name == "ours" else Hives(clusters, database)
    side.replicate()
    return side, east, west


def _users(clusters: Clusters, name: str, database: str) -> SourceWriter:
    cluster = clusters.box.clusters[name]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    return SourceWriter(metastore, HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user), database)


def _change(users: SourceWriter) -> None:
    for day in range(_CHANGED):
        users.insert("days", (f"{day * 100:06d}",), {"new": b"y" * _BYTES})


def _follow(wiring: Wiring) -> None:
    policy, ports = wiring.policy, wiring.write_ports()
    until_done(lambda: bool(run_phase(INCREMENTAL, policy, ports, dict(_HOLDER), lambda line: None)["window"].idle))


def _assert_equal(east: SourceWriter, west: SourceWriter) -> None:
    first, second = (held(users.metastore, users.files, users.database) for users in (east, west))
    assert first == second, f"{east.database}: both clusters differ"


def _seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
