"""Lanes with servers run side by side, no more than there are cores; what is slow is named and fails nothing."""

import os
import sys
from pathlib import Path

import hypothesis
import pytest

from tests import lanes
from tests.lanes import Ended, Lane, main
from tests.slowest import SLOWEST, Spent


def instead(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let each lane run a piece of Python; `sys.argv[1]` is its name."""
    monkeypatch.setattr(lanes, "_command", lambda lane, _: [sys.executable, "-c", code, lane])


# A lane ends when as many lanes have begun as may run together, so that each sees the most.
COUNT = """
import sys, time
from pathlib import Path
running, begun, me = Path({folder!r}, "running"), Path({folder!r}, "begun"), sys.argv[1]
(running / me).touch()
(begun / me).touch()
end = time.monotonic() + 60
while len(list(begun.iterdir())) < {together} and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.2)  # for one that should not begin
seen = " ".join(path.name for path in running.iterdir())
(running / me).unlink()
Path({folder!r}, "seen").open("a").write(seen + "\\n")
"""


@pytest.mark.parametrize("cores", [1, 2])
def test_no_more_lanes_with_servers_run_at_once_than_there_are_cores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str], cores: int
) -> None:
    for name in ("running", "begun"):
        (tmp_path / name).mkdir()
    instead(monkeypatch, COUNT.format(folder=str(tmp_path), together=cores + 1))
    monkeypatch.setattr(os, "cpu_count", lambda: cores)

    assert main([]) == 0
    at_once = [[Lane(name) for name in line.split()] for line in (tmp_path / "seen").read_text().splitlines()]
    assert len(at_once) == len(Lane)
    assert max(sum(lane.has_servers for lane in lanes) for lanes in at_once) == cores
    assert max(len(lanes) for lanes in at_once if any(lane.has_servers for lane in lanes)) == cores + 1
    assert capfd.readouterr().out.count("passed") == len(Lane)


def test_the_run_fails_with_the_lane_that_fails_and_all_others_run(monkeypatch, capfd) -> None:
    instead(monkeypatch, f"import sys; print('of ' + sys.argv[1]); sys.exit(3 * (sys.argv[1] == '{Lane.SPARK}'))")

    assert main([]) == 3
    printed = capfd.readouterr().out
    assert [lane for lane in Lane if f"of {lane}" not in printed] == []
    assert printed.count(": passed") == len(Lane) - 1
    assert "failed, exit code 3" in printed


def test_selected_tests_run_without_the_type_checker_and_may_leave_a_lane_empty(monkeypatch, capfd) -> None:
    instead(monkeypatch, f"import sys; sys.exit(5 * (sys.argv[1] == '{Lane.SPARK}'))")

    assert main(["-m", "thorough"]) == 0
    printed = capfd.readouterr().out
    assert printed.count(": passed") == len(Lane) - 1
    assert f"{Lane.TYPES} " not in printed
    assert main([]) == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_lane_that_takes_far_longer_than_usual_says_both_and_has_passed() -> None:
    line = Ended(Lane.SERVERS, 0, 5000.0, 100.0 * Lane.SERVERS.usual_cpu).line()
    assert f"(make test: {Lane.SERVERS.usual_cpu})" in line
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


def test_no_property_is_wrong_because_the_machine_is_slow() -> None:
    assert hypothesis.settings().deadline is None
    assert hypothesis.HealthCheck.too_slow in hypothesis.settings().suppress_health_check
