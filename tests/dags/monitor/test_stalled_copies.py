"""What copies note of themselves, and what the monitor makes of it."""

from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

from tests.support.journal_records import NOW, a_copy
from twinhive.operations.journal.open_records import what_is_open
from twinhive.operations.journal.writing import Journal
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.monitored_policy import Limits
from twinhive.surfaces.airflow.monitor.recorded_lags import state_of
from twinhive.surfaces.airflow.monitor.stalled_copies import airflow_runs, with_stalled
from twinhive.surfaces.airflow.tasks.copy_heartbeat import CopyNotes

LAG = PolicyLag("sales", NOW, phase="loading", limits=Limits(stalled_for=600.0))


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    monkeypatch.setenv("TWINHIVE_JOURNAL", url)
    return url


def test_a_copy_notes_once_a_minute_that_it_goes_on(url: str) -> None:
    times = iter([NOW + 59, NOW + 60, NOW + 61, NOW + 119, NOW + 200])
    notes = CopyNotes(a_copy(), clock=lambda: next(times))
    seen = []
    with notes.kept():
        for _ in range(5):
            notes.moves()
            seen.append(what_is_open(url).copies[0].moved - NOW)
    assert seen == [0, 60, 60, 60, 200]
    assert what_is_open(url).copies == []


def test_a_journal_that_was_down_for_a_while_makes_no_copy_look_as_if_it_stood_still(url: str) -> None:
    times = iter([NOW + 60, NOW + 120])
    journals = iter([Journal(url), Journal("sqlite:////no/such/directory/j.db"), Journal(url), Journal(url)])
    notes = CopyNotes(a_copy(), lambda: next(journals), clock=lambda: next(times))
    with notes.kept():
        notes.moves()
        notes.moves()
        assert what_is_open(url).copies[0].moved == NOW + 120


def test_only_what_runs_and_has_moved_nothing_for_longer_than_the_limit_stands_still() -> None:
    quiet, lively = a_copy(moved=NOW - 601), a_copy(map_index=4, moved=NOW - 600)
    other = a_copy("stock", moved=NOW - 9_000)
    [found] = with_stalled([LAG], [quiet, lively, other], lambda work: True)
    assert found.stalled == (quiet,)
    assert "tables.copy[3] (orders) has moved nothing for" in str(state_of(found).stalled)
    unlimited = PolicyLag("sales", NOW, limits=Limits(stalled_for=None))
    assert with_stalled([unlimited], [quiet], lambda work: True)[0].stalled == ()


def test_what_a_killed_copy_has_left_is_forgotten_and_never_told(url: str) -> None:
    killed = a_copy(moved=NOW - 9_000)
    Journal(url).copy_begins(killed)
    assert with_stalled([LAG], what_is_open(url).copies, lambda work: False)[0].stalled == ()
    assert what_is_open(url).copies == []


@pytest.mark.parametrize(
    ("states", "runs"),
    [({"tables.copy_3": "running"}, True), ({"tables.copy_3": "up_for_retry"}, False), ({}, False), (None, True)],
)
def test_airflow_says_what_runs_and_without_its_answer_it_is_told(
    states: dict[str, Any] | None, runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def answer(**given: Any) -> dict[str, Any]:
        asked.update(given)
        if states is None:
            raise RuntimeError("the API is away")
        return {"first": states} if states else {}

    monkeypatch.setattr(RuntimeTaskInstance, "get_task_states", staticmethod(answer))
    assert airflow_runs(a_copy()) is runs
    assert asked == {"dag_id": "sales.bootstrap", "map_index": 3, "task_ids": ["tables.copy"], "run_ids": ["first"]}
