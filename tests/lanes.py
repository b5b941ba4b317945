"""Run all tests in three lanes at the same time, two of them with a sandbox of their own: `make test`.

Much of what tests on servers and in Airflow do is waiting, which tests without servers fill: two cores are busy all the
time, and the lanes end at about the same one. The output of the others comes when the first has ended.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import IO

import pytest

OPTION = "--lane"


class Lane(StrEnum):
    """Which tests run one after the other."""

    ALONE = "alone"
    """Without servers."""
    AIRFLOW = "airflow"
    """The contracts of adapters with their servers, then all that happens in Airflow."""
    SERVERS = "servers"
    """On metastores, HDFS and Spark."""


def lane_of(group: str, item: pytest.Item) -> Lane:
    """Return the lane of a test of a group (`unit`, `contracts`, ...)."""
    if group in ("unit", "dags"):
        return Lane.ALONE
    if group == "contracts" or item.get_closest_marker("airflow") is not None:
        return Lane.AIRFLOW
    return Lane.SERVERS


def main(arguments: Sequence[str]) -> int:
    """Run all lanes with the given arguments of pytest; return the worst exit code."""
    began = time.monotonic()
    codes: dict[Lane, int] = {}
    with ExitStack() as stack:
        outputs = {lane: stack.enter_context(tempfile.TemporaryFile()) for lane in (Lane.AIRFLOW, Lane.SERVERS)}
        started = {lane: _start(lane, arguments, output) for lane, output in outputs.items()}
        for process in started.values():
            stack.callback(_end, process)
        codes[Lane.ALONE] = _start(Lane.ALONE, arguments, None).wait()
        for lane, output in outputs.items():
            codes[lane] = started[lane].wait()
            output.seek(0)
            print(f"\nthe lane {lane}, after {time.monotonic() - began:.0f} s:", flush=True)
            sys.stdout.buffer.write(output.read())
    said = ", ".join(f"{lane} {code}" for lane, code in codes.items())
    print(f"all tests took {time.monotonic() - began:.0f} s; exit codes: {said}", flush=True)
    return max(codes.values())


def _start(lane: Lane, arguments: Sequence[str], output: IO[bytes] | None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pytest", OPTION, lane, *arguments, str(Path(__file__).parent)]
    name = f"{os.environ.get('TWINHIVE_SANDBOX', 'test')}-{lane}"
    environment = {**os.environ, "TWINHIVE_SANDBOX": name}
    return subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT if output else None)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()  # changes nothing where it has ended
    process.wait()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
