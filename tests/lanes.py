"""Run all tests in two lanes at the same time, each with a sandbox of its own: `make test`.

Most of what tests on servers do is waiting, and so is most of what Airflow does: two cores are busy only when both
happen at once. What no lane names is run by the first. The output of the second comes when the first has ended.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO

import pytest

OPTION = "--lane"


class Lane(StrEnum):
    """Which tests run one after the other."""

    SERVERS = "servers"
    """On metastores, HDFS and Spark."""
    AIRFLOW = "airflow"
    """Without servers, and in Airflow."""


def lane_of(group: str, item: pytest.Item) -> Lane:
    """Return the lane of a test of a group (`unit`, `contracts`, ...)."""
    if group in ("unit", "dags") or item.get_closest_marker("airflow") is not None:
        return Lane.AIRFLOW
    return Lane.SERVERS


def main(arguments: Sequence[str]) -> int:
    """Run both lanes with the given arguments of pytest; return the worst exit code."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as later:
        others = _start(Lane.SERVERS, arguments, later)
        try:
            first = _start(Lane.AIRFLOW, arguments, None).wait()
            codes = [first, others.wait()]
        finally:
            others.terminate()  # changes nothing where it has ended
            others.wait()
        later.seek(0)
        print(f"\nthe lane {Lane.SERVERS}:", flush=True)
        sys.stdout.buffer.write(later.read())
    said = ", ".join(f"{lane} {code}" for lane, code in zip((Lane.AIRFLOW, Lane.SERVERS), codes, strict=True))
    print(f"all tests took {time.monotonic() - began:.0f} s; exit codes: {said}", flush=True)
    return max(codes)


def _start(lane: Lane, arguments: Sequence[str], output: IO[bytes] | None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pytest", OPTION, lane, *arguments, str(Path(__file__).parent)]
    name = f"{os.environ.get('TWINHIVE_SANDBOX', 'test')}-{lane}"
    environment = {**os.environ, "TWINHIVE_SANDBOX": name}
    return subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT if output else None)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
