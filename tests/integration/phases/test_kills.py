"""Kill the command line at many moments of a bootstrap, run it again, and get an equal twin all the same."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin

pytestmark = pytest.mark.sandbox

PLUGINS = Path(__file__).parents[3] / "plugins"
RUN = "from twinhive.surfaces.cli.app import main; main()"
TRY_AGAIN, ACT_NOW = 3, 4
# A killed run leaves its lease behind, so the next load waits for one time-out: five seconds here.
SECONDS = 600


class Bootstrap:
    """Be one `twinhive run POLICY bootstrap` in a process of its own."""

    def __init__(self, policies: PolicyFiles, policy: str) -> None:
        command = [sys.executable, "-c", RUN, "run", policy, "bootstrap", "--config", str(policies.directory)]
        environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
        streams: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(command, env=environment, text=True, **streams)
        self.output: list[str] = []

    def read_until(self, text: str) -> None:
        """Read what it says until a line holds the text."""
        for line in self._lines():
            if text in line:
                return
        raise AssertionError(f"it ended without saying {text!r}:\n{self.said}")

    def kill_at(self, text: str, seconds_later: float) -> None:
        """Kill it when it says the text, or a moment later."""
        self.read_until(text)
        time.sleep(seconds_later)
        self.process.kill()
        assert self.end() == -signal.SIGKILL, f"it ended by itself:\n{self.said}"

    def end(self) -> int:
        """Wait for the end and return the exit code."""
        rest, _ = self.process.communicate(timeout=SECONDS)
        self.output.append(rest)
        return self.process.returncode

    @property
    def said(self) -> str:
        return "".join(self.output)

    def _lines(self) -> Iterator[str]:
        assert self.process.stdout
        # Not by iteration: that would read ahead what `communicate` should return.
        while line := self.process.stdout.readline():
            self.output.append(line)
            yield line


@pytest.fixture
def policy(east: Warehouse, policies: PolicyFiles) -> str:
    """A policy over several partitioned tables, in small batches and with small metastore calls."""
    database = east.create_database(description="killed")
    for name in ("clicks", "orders", "views_of_pages"):
        table = east.create_table(database, name, keys=("day",))
        for day in range(6):
            east.add_partition(table, str(day), files={"000000_0": f"{name},{day}\n".encode() * 200})
    east.create_table(database, "plain", files={"data": b"1,2\n" * 1000, "zero": b""})
    east.create_view(database, "recent", f"SELECT a FROM {database}.plain")
    return policies.add(database, options={"batch_objects": 4, "partitions_per_call": 2})


def run_to_the_end(policies: PolicyFiles, policy: str) -> str:
    """Run it undisturbed and return what it says."""
    run = Bootstrap(policies, policy)
    assert run.end() == 0 and "error (" not in run.said, run.said
    return run.said


def assert_plain_end(run: Bootstrap) -> None:
    """Assert that a run ends well, or fails as people can read: the family, what to do, no traceback."""
    if run.end() == 0:
        assert "published at event" in run.said or "already applied" in run.said, run.said
        return
    assert run.process.returncode in (TRY_AGAIN, ACT_NOW), run.said
    assert "error (" in run.said and "next:" in run.said, run.said
    assert "Traceback" not in run.said, run.said


@pytest.mark.nightly(
    "tests/unit/replication/bootstrap/test_bootstrap_killed.py::test_killed_at_any_change_and_rerun_it_converges",
    "tests/integration/phases/test_kills.py::test_two_runs_at_once_end_or_fail_plainly_and_another_run_converges",
)
def test_a_run_that_is_killed_in_every_phase_converges(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, policy: str
) -> None:
    moments = [
        ("step 1/4: preflight", 0.2),
        ("step 2/4: list_objects", 0),
        ("step 2/4: list_objects", 0.2),
        ("step 3/4: list_files", 0.05),
        ("step 4/4: copy", 0),
        ("step 4/4: copy", 0.2),
        ("step 1/4: round", 0),
        ("step 1/4: round", 0.1),
        ("step 3/4: gate", 0),
        ("step 4/4: load", 0.1),
    ]
    for text, seconds_later in moments:
        Bootstrap(policies, policy).kill_at(text, seconds_later)

    run_to_the_end(policies, policy)

    assert_equal_twin(east, policy, west)


@pytest.mark.nightly(
    "tests/unit/replication/bootstrap/test_bootstrap_killed.py::test_killed_at_any_change_and_rerun_it_converges",
    "tests/integration/phases/test_kills.py::test_two_runs_at_once_end_or_fail_plainly_and_another_run_converges",
)
def test_a_load_that_is_killed_again_and_again_converges(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, policy: str
) -> None:
    Bootstrap(policies, policy).kill_at("created database", 0)
    Bootstrap(policies, policy).kill_at("registered", 0)
    assert west.client.get_database(policy).parameters["twinhive.phase"] == "loading"
    Bootstrap(policies, policy).kill_at(f"registered {policy}.orders", 0.02)

    run_to_the_end(policies, policy)

    assert_equal_twin(east, policy, west)


@pytest.mark.nightly(
    "tests/unit/replication/bootstrap/test_bootstrap_killed.py::test_killed_at_any_change_then_the_source_changes_and_a_new_run_converges",
)
def test_a_source_that_changes_after_a_killed_load_is_loaded_as_it_is_then(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, policy: str
) -> None:
    Bootstrap(policies, policy).kill_at("registered", 0)
    east.create_table(policy, "late", files={"data": b"3,4\n"})

    said = run_to_the_end(policies, policy)

    assert "its tables are removed first" in said
    assert_equal_twin(east, policy, west)


@pytest.mark.nightly(
    "tests/unit/replication/bootstrap/test_bootstrap_killed.py::test_a_finished_bootstrap_run_again_changes_nothing",
    "tests/integration/in_airflow/test_airflow.py::test_a_finished_run_that_is_cleared_as_a_whole_changes_nothing",
)
def test_a_run_after_the_end_changes_nothing(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, policy: str
) -> None:
    run_to_the_end(policies, policy)
    before = west.client.get_database(policy)
    assert "already applied" in run_to_the_end(policies, policy)
    assert west.client.get_database(policy) == before
    assert_equal_twin(east, policy, west)


@pytest.mark.nightly(
    "tests/integration/phases/test_kills.py::test_two_runs_at_once_end_or_fail_plainly_and_another_run_converges",
    "tests/integration/copy/test_copy_faults.py::test_a_second_run_takes_over_from_one_that_still_runs",
)
def test_a_load_that_was_frozen_while_another_took_over_stops_and_harms_nothing(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, policy: str
) -> None:
    first = Bootstrap(policies, policy)
    first.read_until("registered")
    first.process.send_signal(signal.SIGSTOP)
    try:
        run_to_the_end(policies, policy)
        assert_equal_twin(east, policy, west)
    finally:
        first.process.send_signal(signal.SIGCONT)

    assert first.end() == TRY_AGAIN, first.said
    # A connection that was closed meanwhile may fail before the lease does; the lease's own words are its contract's.
    said = ("the lease is not ours any more", "did not answer", "found no DataNode that could do this")
    assert any(words in first.said for words in said)
    assert_equal_twin(east, policy, west)


@pytest.mark.thorough
def test_two_runs_at_once_end_or_fail_plainly_and_another_run_converges(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, policy: str
) -> None:
    for run in [Bootstrap(policies, policy), Bootstrap(policies, policy)]:
        assert_plain_end(run)

    run_to_the_end(policies, policy)

    assert_equal_twin(east, policy, west)


@pytest.mark.nightly(
    "tests/integration/phases/test_kills.py::test_two_runs_at_once_end_or_fail_plainly_and_another_run_converges",
)
def test_a_second_run_that_starts_while_the_first_loads_does_no_harm(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, policy: str
) -> None:
    first = Bootstrap(policies, policy)
    first.read_until("step 3/4: gate")
    second = Bootstrap(policies, policy)
    for run in (first, second):
        assert_plain_end(run)

    run_to_the_end(policies, policy)

    assert_equal_twin(east, policy, west)
