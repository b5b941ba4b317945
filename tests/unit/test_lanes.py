"""Lanes run side by side, no more than there are cores; a slow one is named and fails nothing."""

import os
import sys
from pathlib import Path

import pytest

from tests import lanes
from tests.lanes import Ended, Lane, main
from tests.slowest import SLOWEST, Spent


def instead(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let each lane run a piece of Python; `sys.argv[1]` is its name."""
    monkeypatch.setattr(lanes, "_command", lambda lane, _: [sys.executable, "-c", code, lane])


COUNT = """
import os, sys, time
from pathlib import Path
folder = Path({folder!r})
(folder / sys.argv[1]).touch()
# A lane ends when another one has begun or ended, so that those that may run together do.
began = time.monotonic()
while len(list(folder.iterdir())) < {cores} and time.monotonic() - began < 20:
    time.sleep(0.01)
running = [path for path in folder.iterdir() if path.suffix != ".ended"]
Path({seen!r}).open("a").write(str(len(running)) + " ")
(folder / sys.argv[1]).rename(folder / (sys.argv[1] + ".ended"))
"""


@pytest.mark.parametrize("cores", [1, 2])
def test_no_more_lanes_run_at_once_than_there_are_cores(monkeypatch, tmp_path: Path, capfd, cores: int) -> None:
    folder, seen = tmp_path / "running", tmp_path / "seen"
    folder.mkdir()
    instead(monkeypatch, COUNT.format(folder=str(folder), seen=str(seen), cores=cores))
    monkeypatch.setattr(os, "cpu_count", lambda: cores)

    assert main([]) == 0
    assert len(seen.read_text().split()) == len(Lane)
    assert max(map(int, seen.read_text().split())) == cores
    assert capfd.readouterr().out.count("passed") == len(Lane)


def test_the_run_fails_with_the_lane_that_fails_and_all_others_run(monkeypatch, capfd) -> None:
    instead(monkeypatch, f"import sys; print('of ' + sys.argv[1]); sys.exit(3 * (sys.argv[1] == '{Lane.SPARK}'))")

    assert main([]) == 3
    printed = capfd.readouterr().out
    assert [lane for lane in Lane if f"of {lane}" not in printed] == []
    assert printed.count(": passed") == len(Lane) - 1
    assert "failed, exit code 3" in printed


def test_a_lane_that_takes_far_longer_than_usual_says_both_and_has_passed() -> None:
    line = Ended(Lane.SERVERS, 0, 5000.0, 100.0 * Lane.SERVERS.usual_cpu).line()
    assert f"(usually {Lane.SERVERS.usual_cpu})" in line
    assert line.endswith("passed")


def test_the_slowest_tests_of_a_run_are_named_with_all_their_parts() -> None:
    spent = Spent()
    for number in range(SLOWEST):
        spent.add("unit", f"tests/unit/{number}", 2.0)
    spent.add("unit", "tests/unit/slow", 1.5)
    spent.add("unit", "tests/unit/slow", 1.5)
    spent.add("dags", "tests/dags/quick", 1.0)

    lines = spent.lines()
    assert lines[1].split() == ["3.0", "tests/unit/slow"]
    assert "tests/dags/quick" not in "\n".join(lines)
    assert lines[-1] == "seconds per group: unit 43, dags 1"
