"""Run the tests, and mypy, in lanes: `make test`; with arguments of pytest, tests alone: `make thorough`.

A lane is a process that runs its tests one after the other; those with servers have a sandbox of their own. As many of
these run at the same time as there are cores, so that they do not starve each other. They wait much: one lane more,
without servers, fills that time. The tests of units print at once, the others when all is over.

Only what a test asserts makes the run fail. The time and the CPU of each lane are printed at the end, beside what it
usually takes.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import IO

import pytest

OPTION = "--lane"
_TESTS = Path(__file__).parent
_SHARE = "-12"
"""The nice value of a lane's session, as /proc/<process>/autogroup takes it: fifteen times a server's share."""


class Lane(StrEnum):
    """What runs in a process of its own, in the order in which they are started: the longest first."""

    SERVERS = "servers"
    """Tests on metastores and HDFS."""
    AIRFLOW = "airflow"
    """Tests in Airflow."""
    ALONE = "alone"
    """Tests of units, without servers."""
    SPARK = "spark"
    """Tests that run Spark or have a third HDFS."""
    CONTRACTS = "contracts"
    """The contracts of adapters with their servers."""
    DAGS = "dags"
    """Tests of DAGs, without a running Airflow."""
    TYPES = "types"
    """The type checker, which has no tests."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the directories that hold its tests: reading all of them takes a while."""
        match self:
            case Lane.ALONE:
                return ("unit",)
            case Lane.DAGS:
                return ("dags",)
            case Lane.AIRFLOW | Lane.SPARK:
                return ("integration",)
            case Lane.CONTRACTS:
                return ("contracts",)
            case Lane.SERVERS:
                return ("integration", "scenarios")
            case Lane.TYPES:
                return ()

    @property
    def has_servers(self) -> bool:
        """True for a lane whose tests start servers."""
        return self not in (Lane.ALONE, Lane.DAGS, Lane.TYPES)

    @property
    def usual_cpu(self) -> int:
        """Return the CPU seconds that its processes usually take; daemons that others have started are not counted."""
        return _USUAL_CPU[self]


_USUAL_CPU = {
    Lane.AIRFLOW: 30,
    Lane.ALONE: 550,
    Lane.SERVERS: 120,
    Lane.SPARK: 85,
    Lane.CONTRACTS: 140,
    Lane.DAGS: 170,
    Lane.TYPES: 70,
}


@dataclass(frozen=True)
class Ended:
    """How a lane has ended; `seconds` by the clock, `cpu` of all its processes together."""

    lane: Lane
    code: int
    seconds: float
    cpu: float

    def line(self) -> str:
        """Return its line at the end of the run."""
        said = "passed" if self.code == 0 else f"failed, exit code {self.code}"
        return f"{self.lane:9} {self.seconds:5.0f} s, {self.cpu:4.0f} CPU s (make test: {self.lane.usual_cpu}): {said}"


def lane_of(group: str, item: pytest.Item) -> Lane:
    """Return the lane of a test of a group (`unit`, `contracts`, ...)."""
    if group == "unit":
        return Lane.ALONE
    if group == "dags":
        return Lane.DAGS
    if item.get_closest_marker("airflow") is not None:
        return Lane.AIRFLOW
    if group == "contracts":
        return Lane.CONTRACTS
    return Lane.SPARK if item.get_closest_marker("spark") is not None else Lane.SERVERS


def main(arguments: Sequence[str]) -> int:
    """Run all lanes with the given arguments of pytest; return the worst exit code."""
    began = time.monotonic()
    with ExitStack() as stack:
        lanes = [lane for lane in Lane if lane is not Lane.TYPES or not arguments]
        outputs = {lane: stack.enter_context(tempfile.TemporaryFile()) for lane in lanes if lane is not Lane.ALONE}
        ended = _run(lanes, arguments, outputs, stack)
        for lane, output in outputs.items():
            print(f"\nthe lane {lane}:", flush=True)
            output.seek(0)
            sys.stdout.buffer.write(output.read())
    print(f"the tests took {time.monotonic() - began:.0f} s", *(one.line() for one in ended), sep="\n", flush=True)
    return max(one.code for one in ended)


@dataclass(frozen=True)
class _Running:
    lane: Lane
    process: "subprocess.Popen[bytes]"
    began: float

    def end(self) -> None:
        """Interrupt it if it still runs: it stops its servers."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def has_ended(self, status: int, cpu: float) -> Ended:
        """Return how it has ended, by what the system says of it."""
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(self.lane, self.process.returncode, time.monotonic() - self.began, cpu)


def _run(
    lanes: Sequence[Lane], arguments: Sequence[str], outputs: Mapping[Lane, IO[bytes]], stack: ExitStack
) -> list[Ended]:
    """Run lanes, each as soon as it may begin. Where tests were selected, a lane may be without any."""
    waiting = list(lanes)
    running: dict[int, _Running] = {}
    ended = []
    while waiting or running:
        while lane := next((one for one in waiting if _may_begin(one, running.values())), None):
            waiting.remove(lane)
            begun = _start(lane, arguments, outputs.get(lane))
            stack.callback(begun.end)
            running[begun.process.pid] = begun
        pid, status, used = os.wait4(-1, 0)
        if pid in running:
            one = running.pop(pid).has_ended(status, used.ru_utime + used.ru_stime)
            is_empty = bool(arguments) and one.code == pytest.ExitCode.NO_TESTS_COLLECTED
            ended.append(replace(one, code=0) if is_empty else one)
    return ended


def _may_begin(lane: Lane, running: Collection[_Running]) -> bool:
    cores = max(1, os.cpu_count() or 1)
    if lane.has_servers:
        return sum(one.lane.has_servers for one in running) < cores
    return len(running) <= cores


def _command(lane: Lane, arguments: Sequence[str]) -> list[str]:
    if lane is Lane.TYPES:
        return [sys.executable, "-m", "mypy"]
    return [sys.executable, "-m", "pytest", OPTION, lane, *arguments, *(str(_TESTS / group) for group in lane.groups)]


def _start(lane: Lane, arguments: Sequence[str], output: IO[bytes] | None) -> _Running:
    environment = {**os.environ, "TWINHIVE_SANDBOX": f"{os.environ.get('TWINHIVE_SANDBOX', 'test')}-{lane}"}
    # Hundreds of processes import our modules: only the first of them compiles one, whatever the caller's shell says.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        _command(lane, arguments),
        env=environment,
        stdout=output,
        stderr=subprocess.STDOUT if output else None,
        start_new_session=True,
    )
    with suppress(OSError):  # another kernel, or no right to it
        Path(f"/proc/{process.pid}/autogroup").write_text(_SHARE, encoding="ascii")
    return _Running(lane, process, time.monotonic())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
