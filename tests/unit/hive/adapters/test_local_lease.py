"""One run at a time writes to a directory of this machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from twinhive.core.model.errors import LeaseHeld, Refused
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.hive.adapters.local.local_lease import LocalLease

_HOLD = """
import sys, time
from twinhive.hive.adapters.local.local_lease import LocalLease
from twinhive.core.model.lease_kinds import LeaseKind
with LocalLease().hold(sys.argv[1], {"run": "the first"}, LeaseKind.COPY):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return f"file://{tmp_path}/a b/lease"


def test_it_is_taken_again_and_again(directory: str) -> None:
    for _ in range(2):
        with LocalLease().hold(directory, {"run": "one"}, LeaseKind.COPY) as lease:
            lease.confirm()
    assert LocalLease().holder(directory) is None


def test_a_second_holder_is_told_who_has_it(directory: str) -> None:
    with (
        LocalLease().hold(directory, {"run": "the first"}, LeaseKind.COPY),
        pytest.raises(LeaseHeld, match="the first"),
        LocalLease().hold(directory, {"run": "the second"}, LeaseKind.COPY),
    ):
        pytest.fail("two hold it")
    with LocalLease().hold(directory, {"run": "the second"}, LeaseKind.COPY):
        assert LocalLease().holder(directory) == "run=the second"


def test_a_killed_holder_keeps_nobody_waiting(directory: str) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLD, directory], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout and holder.stdout.readline() == "held\n"
        assert LocalLease().holder(directory) == "run=the first"
        holder.kill()
        holder.wait()
        assert LocalLease().holder(directory) is None
        with LocalLease().hold(directory, {"run": "the second"}, LeaseKind.COPY) as lease:
            lease.confirm()


def test_where_nothing_can_be_written_there_is_no_lease(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="file"), LocalLease().hold(f"file://{tmp_path}/file/lease", {}, LeaseKind.COPY):
        pytest.fail("held")
