"""Run all that is long, one after the other, and print one table: `make nightly`.

Nothing of it is in `make test`. `make nightly PARTS="soak runbooks"` runs some of it. On two quiet cores all of it
takes 60 to 90 minutes; `TWINHIVE_NIGHTLY_TIMES=10` runs ten times as many histories, messages and worlds. A part that
takes three times as long as it should is ended and has failed: the others run all the same. The output of each is in
`nightly/<part>.log`; the exit code is 1 when a part has failed.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PYTHON = sys.executable
LOGS = Path("nightly")
TIMES = int(os.environ.get("TWINHIVE_NIGHTLY_TIMES") or 1)
_PATIENCE = 3
_ENDING_SECONDS = 120


@dataclass(frozen=True)
class Part:
    """A command, what it is for, the minutes that it should take, and the variables that say how much of something."""

    what: str
    arguments: tuple[str, ...]
    minutes: int = 2
    sizes: Mapping[str, int] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables it runs with."""
        return {**self.fixed, **{name: str(size * TIMES) for name, size in self.sizes.items()}}

    @property
    def most_seconds(self) -> float:
        """Return after how many seconds it is ended."""
        return 60.0 * self.minutes * _PATIENCE * TIMES


def _tests(*arguments: str, marked: str = "not nightly and not runbook") -> tuple[str, ...]:
    """Return a run of tests, those that `make thorough` has too."""
    return ("-m", "pytest", "-m", marked, *arguments)


def _benchmark(name: str, *arguments: str) -> Part:
    return Part("a smoke run: that it works, not how fast", ("-m", f"benchmarks.{name}", *arguments))


PARTS = {
    "long": Part(
        "tests marked nightly: faults of every kind, Hive's dumps both ways", _tests("tests", marked="nightly"), 25
    ),
    "runbooks": Part("every section of docs/runbooks.md in Airflow", _tests("tests/integration", marked="runbook"), 20),
    "histories": Part(
        "random histories in memory, 60 of each kind",
        _tests("tests/unit/checker/test_histories.py", "tests/unit/replication/verify/test_verify_histories.py"),
        6,
        {"TWINHIVE_HISTORIES": 60},
    ),
    "kills": Part(
        "each change of each phase, each answer of a server as the place of a kill (`make test`: a seventh of them)",
        _tests(
            "tests/unit",
            "tests/contracts/test_first_metastore_dies.py",
            *("-k", "kill or comes_whole or any_moment or dies_in"),
        ),
        5,
        fixed={"TWINHIVE_KILL_POINTS": "1"},
    ),
    "plans": Part(
        "dry runs against runs, 20 histories of each kind",
        _tests("tests/unit/runtime/dry_run"),
        3,
        {"TWINHIVE_HISTORIES": 20},
    ),
    "folds": Part(
        "5,000 folded histories",
        _tests("tests/unit/core/model/changes/test_fold_histories.py"),
        4,
        {"TWINHIVE_DEEP_HISTORIES": 5_000},
    ),
    "wire": Part(
        "100,000 mutated and 20,000 random messages of the metastore",
        _tests("tests/unit/hive/wire"),
        3,
        {"TWINHIVE_WIRE_MUTATIONS": 100_000, "TWINHIVE_WIRE_MESSAGES": 20_000},
    ),
    "places": Part(
        "what clients of a port are shown and may write: 20 messages for each method",
        _tests("tests/unit/federation/cluster_view/test_no_place_goes_astray.py"),
        2,
        {"TWINHIVE_HISTORIES": 20},
    ),
    "remotes": Part(
        "calls through random definitions, 100 worlds, and 30 faults of remotes while clients run",
        _tests(
            "tests/unit/federation/gateway/test_answers_are_the_owners.py",
            "tests/unit/federation/gateway/test_faults.py",
        ),
        3,
        {"TWINHIVE_GATEWAY_WORLDS": 100, "TWINHIVE_GATEWAY_FAULTS": 30},
    ),
    "routed": Part(
        "where 20,000 statements over random worlds run, against a naive reading of the rules",
        _tests("tests/unit/federation/routing/test_random_worlds.py"),
        3,
        {"TWINHIVE_ROUTED_WORLDS": 2_000},
    ),
    "copies": Part(
        "8 random histories of changes, copies that are killed, readers and Spark at a port of the gateway",
        _tests("tests/integration/one_metastore/test_cluster_ports.py", "-k", "meanwhile", marked="nightly"),
        4,
        {"TWINHIVE_HISTORIES": 8},
    ),
    "soak": Part(
        "30 random histories between real clusters",
        ("-m", "tests.checker.soak", str(30 * TIMES), str(int(time.time()))),
        8,
    ),
    "switches": Part(
        "300 random histories of failovers and failbacks in memory, two full rounds each",
        _tests("tests/unit/operations/failover/test_switch_histories.py"),
        6,
        {"TWINHIVE_HISTORIES": 300},
    ),
    "people": Part(
        "3,000 random histories of switches in memory, beside people, faults and clocks that differ",
        ("-m", "tests.checker.switches", str(3_000 * TIMES), "--first", str(int(time.time()))),
        30,
    ),
    "switching": Part(
        "5 random histories of failovers and failbacks between real clusters",
        ("-m", "tests.checker.cluster_failovers", str(5 * TIMES), str(int(time.time()))),
        6,
    ),
    "bootstrap": _benchmark("bootstrap", "--tables", "2", "--partitions", "10"),
    "events": _benchmark("events", "--events", "200", "--tables", "5"),
    "metadata": _benchmark("metadata", "--tables", "20", "--partitions", "500", "--hive-partitions", "200"),
    "statements": _benchmark("statements", "--partitions", "500", "--hive-partitions", "100"),
    "exports": _benchmark("exports", "--partitions", "20", "--runs", "1"),
    "beside": _benchmark("failover", "beside", "--partitions", "20"),
    "external": _benchmark("external", "--only", "pass", "--events", "200"),
    "gateway": _benchmark("gateway", "--partitions", "1000", "--runs", "5", "--seconds", "2", "--clients", "50"),
    "routing": Part("routing and quiet placements keep their targets", ("-m", "benchmarks.routing"), 8),
    "memory": Part(
        "exports, imports and lists of copies hold no more of 500,000 files than of few",
        ("-m", "benchmarks.export_memory", "--files", "500000", "--most-mib", "256"),
        8,
    ),
    "listing": _benchmark("listing", "--files", "100000", "--directories", "100"),
}


@dataclass(frozen=True)
class Outcome:
    """How a part has ended."""

    name: str
    passed: bool
    seconds: float
    said: str

    def row(self) -> str:
        """Return its line of the table."""
        return f"| {self.name} | {'passed' if self.passed else 'FAILED'} | {self.seconds:.0f} s | {self.said} |"


def run(name: str, part: Part) -> Outcome:
    """Run a part; what it prints goes to its log."""
    print(f"{name}: {part.what}", flush=True)
    log, began = LOGS / f"{name}.log", time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [PYTHON, *part.arguments],
            env={**os.environ, **part.environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        is_late = not _ends(process, part.most_seconds)
    seconds = time.monotonic() - began
    if is_late:
        return Outcome(name, False, seconds, f"ended: {part.minutes * TIMES} minutes should be enough for it")
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return Outcome(name, process.returncode == 0, seconds, summary(lines))


def _ends(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Wait for its end; a process that is late is interrupted, so that it stops its servers, and killed at last."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return False
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait(_ENDING_SECONDS)
        raise
    return True


def summary(lines: list[str]) -> str:
    """Return the line that says most of what a part printed: pytest's sums, a total, or the last one."""
    telling = [line for line in lines if " passed" in line or " failed" in line or line.startswith("total: ")]
    return (telling or [line for line in lines if line.strip()] or [""])[-1].strip("= ").replace("|", "/")[:120]


def main(names: list[str]) -> int:
    """Run these parts, or all; return the exit code."""
    if unknown := sorted(set(names) - PARTS.keys()):
        print(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
        return 2
    LOGS.mkdir(exist_ok=True)
    outcomes = [run(name, PARTS[name]) for name in names or PARTS]
    print("| part | result | time | what it said |\n|---|---|---|---|")
    print("\n".join(outcome.row() for outcome in outcomes))
    return int(not all(outcome.passed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
