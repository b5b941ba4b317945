"""Run all tests in four lanes at the same time, three of them with a sandbox of their own, and mypy: `make test`.

Much of what tests on servers and in Airflow do is waiting, which tests without servers fill: two cores are busy all the
time, and the lanes end at about the same one. The output of the others comes when the first has ended.

Each lane has a session of its own: Linux may share the processors by session, and each server is one.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from enum import StrEnum
from pathlib import Path
from typing import IO

import pytest

OPTION = "--lane"
TYPES = "types"
_TESTS = Path(__file__).parent
_SHARE, _REST = "-12", "-4"
"""The nice value of a lane's session, as /proc/<process>/autogroup takes it: fifteen times a server's share.

What has no servers gets a sixth of that: it never waits, and the others would end long after it.
"""


class Lane(StrEnum):
    """Which tests run one after the other."""

    ALONE = "alone"
    """Without servers."""
    AIRFLOW = "airflow"
    """In Airflow."""
    SPARK = "spark"
    """The contracts of adapters with their servers, then what runs Spark or has a third HDFS."""
    SERVERS = "servers"
    """On metastores and HDFS."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the directories that hold its tests: reading all of them takes a while."""
        match self:
            case Lane.ALONE:
                return ("unit", "dags")
            case Lane.AIRFLOW:
                return ("integration",)
            case Lane.SPARK:
                return ("contracts", "integration")
            case Lane.SERVERS:
                return ("integration", "scenarios")


def lane_of(group: str, item: pytest.Item) -> Lane:
    """Return the lane of a test of a group (`unit`, `contracts`, ...)."""
    if group in ("unit", "dags"):
        return Lane.ALONE
    if item.get_closest_marker("airflow") is not None:
        return Lane.AIRFLOW
    return Lane.SPARK if group == "contracts" or item.get_closest_marker("spark") is not None else Lane.SERVERS


def main(arguments: Sequence[str]) -> int:
    """Run all lanes with the given arguments of pytest; return the worst exit code."""
    began = time.monotonic()
    with ExitStack() as stack:
        others = (Lane.AIRFLOW, Lane.SPARK, Lane.SERVERS, TYPES)
        outputs = {lane: stack.enter_context(tempfile.TemporaryFile()) for lane in others}
        started = {lane: _start(lane, arguments, output) for lane, output in outputs.items()}
        for process in started.values():
            stack.callback(_end, process)
        alone = _start(Lane.ALONE, arguments, None)
        stack.callback(_end, alone)
        codes = {str(Lane.ALONE): alone.wait()}
        for lane, output in outputs.items():
            codes[lane] = started[lane].wait()
            output.seek(0)
            print(f"\nthe lane {lane}, after {time.monotonic() - began:.0f} s:", flush=True)
            sys.stdout.buffer.write(output.read())
    said = ", ".join(f"{lane} {code}" for lane, code in codes.items())
    print(f"all tests took {time.monotonic() - began:.0f} s; exit codes: {said}", flush=True)
    return max(codes.values())


def _start(lane: str, arguments: Sequence[str], output: IO[bytes] | None) -> subprocess.Popen[bytes]:
    if lane == TYPES:
        command = [sys.executable, "-m", "mypy"]
    else:
        groups = [str(_TESTS / group) for group in Lane(lane).groups]
        command = [sys.executable, "-m", "pytest", OPTION, lane, *arguments, *groups]
    environment = {**os.environ, "TWINHIVE_SANDBOX": f"{os.environ.get('TWINHIVE_SANDBOX', 'test')}-{lane}"}
    # Hundreds of processes import our modules: only the first of them compiles one, whatever the caller's shell says.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    errors = subprocess.STDOUT if output else None
    process = subprocess.Popen(command, env=environment, stdout=output, stderr=errors, start_new_session=True)
    with suppress(OSError):  # another kernel, or no right to it
        share = _REST if lane in (Lane.ALONE, TYPES) else _SHARE
        Path(f"/proc/{process.pid}/autogroup").write_text(share, encoding="ascii")
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt what still runs: it stops its servers."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.wait()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
