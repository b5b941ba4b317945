"""Run all that is long, one after the other, and print one table: `make nightly`.

Nothing of it is in `make test`. `make nightly PARTS="soak runbooks"` runs some of it. The output of each part is in
`nightly/<part>.log`; the exit code is 1 when a part has failed.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

PYTHON = sys.executable
LOGS = Path("nightly")


@dataclass(frozen=True)
class Part:
    """A command, what it is for, and the variables it runs with."""

    what: str
    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


def _tests(*arguments: str) -> tuple[str, ...]:
    return ("-m", "pytest", *arguments)


def _benchmark(name: str, *arguments: str) -> Part:
    return Part("a smoke run: that it works, not how fast", ("-m", f"benchmarks.{name}", *arguments))


PARTS = {
    "long": Part(
        "tests marked nightly: faults of every kind, Hive's dumps both ways", _tests("-m", "nightly", "tests")
    ),
    "runbooks": Part("every section of docs/runbooks.md in Airflow", _tests("-m", "runbook", "tests/integration")),
    "histories": Part(
        "random histories in memory, 200 of each kind",
        _tests("tests/unit/checker/test_histories.py", "tests/unit/verify/test_verify_histories.py"),
        {"TWINHIVE_HISTORIES": "200"},
    ),
    "kills": Part(
        "each change of each phase in memory as the place of a kill (`make test`: a third of them, others each day)",
        _tests("tests/unit", "-k", "kill or comes_whole or any_moment"),
        {"TWINHIVE_KILL_POINTS": "1"},
    ),
    "plans": Part(
        "dry runs against runs, 100 histories of each kind",
        _tests("tests/unit/dry_run/test_plan_is_the_run.py"),
        {"TWINHIVE_HISTORIES": "100"},
    ),
    "folds": Part(
        "20,000 folded histories",
        _tests("tests/unit/model/test_fold_histories.py"),
        {"TWINHIVE_DEEP_HISTORIES": "20000"},
    ),
    "wire": Part(
        "100,000 mutated and 20,000 random messages of the metastore",
        _tests("tests/unit/wire"),
        {"TWINHIVE_WIRE_MUTATIONS": "100000", "TWINHIVE_WIRE_MESSAGES": "20000"},
    ),
    "remotes": Part(
        "calls through random definitions, 300 worlds, and 100 faults of remotes while clients run",
        _tests("tests/unit/gateway/test_answers_are_the_owners.py", "tests/unit/gateway/test_faults.py"),
        {"TWINHIVE_GATEWAY_WORLDS": "300", "TWINHIVE_GATEWAY_FAULTS": "100"},
    ),
    "routed": Part(
        "where 20,000 statements over random worlds run, against a naive reading of the rules",
        _tests("tests/unit/routing/test_random_worlds.py"),
        {"TWINHIVE_ROUTED_WORLDS": "2000"},
    ),
    "copies": Part(
        "30 random histories of changes, copies that are killed, readers and Spark at a port of the gateway",
        _tests("tests/integration/test_cluster_ports.py", "-k", "meanwhile"),
        {"TWINHIVE_HISTORIES": "30"},
    ),
    "soak": Part("random histories between real clusters", ("-m", "tests.checker.soak", "60", str(int(time.time())))),
    "bootstrap": _benchmark("bootstrap", "--tables", "2", "--partitions", "10"),
    "events": _benchmark("events", "--events", "200", "--tables", "5"),
    "metadata": _benchmark("metadata", "--tables", "20", "--partitions", "500", "--hive-partitions", "200"),
    "statements": _benchmark("statements", "--partitions", "500", "--hive-partitions", "100"),
    "external": _benchmark("external", "--only", "pass", "--events", "200"),
    "gateway": _benchmark("gateway", "--partitions", "1000", "--runs", "5", "--seconds", "2", "--clients", "50"),
    "routing": Part("routing and quiet placements keep their targets", ("-m", "benchmarks.routing")),
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
        done = subprocess.run(
            [PYTHON, *part.arguments],
            env={**os.environ, **part.environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return Outcome(name, done.returncode == 0, time.monotonic() - began, summary(lines))


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
