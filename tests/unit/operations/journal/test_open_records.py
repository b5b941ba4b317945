"""What is open can be read from the journal, by whoever goes on without it."""

import sqlite3
import threading
from pathlib import Path

import pytest

from tests.support.journal_records import NOW, a_failure, a_state, a_window
from twinhive.core.model.errors import Unreachable
from twinhive.operations.journal import open_records
from twinhive.operations.journal.journal_reading import open_reader
from twinhive.operations.journal.open_records import what_is_open
from twinhive.operations.journal.records import WHOLE_RUN, SentMessage
from twinhive.operations.journal.schema import METADATA
from twinhive.operations.journal.writing import Journal


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'journal.db'}"


@pytest.fixture
def journal(url: str) -> Journal:
    return Journal(url)


def test_open_failures_are_counted_by_dag_and_family_and_the_newest_speaks(url: str, journal: Journal) -> None:
    for index in range(3):
        journal.record_failure(a_failure(map_index=index, what=f"copy {index}"))
    journal.record_failure(a_failure(task_id="gate", act_now=True, what="lost"))
    journal.record_failure(a_failure(dag_id="sales.scan", task_id="scan", what="away"))
    journal.resolve_failure("sales.scan", "scan", -1)
    found = {(one.newest.dag_id, one.newest.what): one.number for one in what_is_open(url).failures}
    assert found == {("sales.incremental", "copy 2"): 3, ("sales.incremental", "lost"): 1}


def test_a_run_that_died_without_a_word_is_written_once_and_its_window_has_failed(url: str, journal: Journal) -> None:
    journal.record_window(a_window())
    died = a_failure(task_id=WHOLE_RUN, kind="Killed")
    journal.record_unsaid_failure(died)
    journal.record_unsaid_failure(died)
    assert [one.number for one in what_is_open(url).failures] == [1]
    assert [window.outcome for window in open_reader(url).windows("sales")] == ["failed"]
    # What its task has said itself is enough.
    journal.record_failure(a_failure("stock"))
    journal.record_unsaid_failure(a_failure("stock", task_id=WHOLE_RUN))
    assert [one.number for one in what_is_open(url).failures if one.newest.policy == "stock"] == [1]


def test_a_killed_task_is_written_beside_others_of_its_run_that_failed(url: str, journal: Journal) -> None:
    journal.record_failure(a_failure(map_index=1))
    journal.record_unsaid_failure(a_failure(map_index=2))
    journal.record_unsaid_failure(a_failure(map_index=1))
    assert [one.number for one in what_is_open(url).failures] == [2]
    # Cleared, and killed again.
    journal.resolve_failure("sales.incremental", "apply", 1)
    journal.record_unsaid_failure(a_failure(map_index=1, try_number=2))
    assert [one.number for one in what_is_open(url).failures] == [2]


def test_a_run_that_died_is_made_up_for_by_the_next_task_of_its_dag(url: str, journal: Journal) -> None:
    journal.record_unsaid_failure(a_failure(dag_id="sales.scan", task_id=WHOLE_RUN))
    journal.resolve_failure("sales.scan", "scan", -1)
    assert what_is_open(url).failures == []


def test_what_people_were_told_stays_until_it_is_over(url: str, journal: Journal) -> None:
    journal.record_message(SentMessage("sales", "late", "slack oncall", NOW, NOW))
    journal.record_message(SentMessage("sales", "late", "slack oncall", NOW + 60, None, "refused"))
    assert what_is_open(url).messages == [SentMessage("sales", "late", "slack oncall", NOW + 60, NOW, "refused")]
    journal.end_topic("sales", "late")
    assert what_is_open(url).messages == []


def test_when_the_monitor_was_there_is_known(url: str, journal: Journal) -> None:
    assert what_is_open(url).monitor_at is None
    journal.monitor_was_here(NOW)
    assert what_is_open(url).monitor_at == NOW


def test_a_configuration_without_policies_forgets_nothing(url: str, journal: Journal) -> None:
    journal.record_state(a_state("sales"))
    journal.forget_others([])
    assert open_reader(url).overview()[0] == 1
    journal.forget_others(["stock"])
    assert open_reader(url).overview()[0] == 0


def test_a_journal_of_before_gets_what_is_new_and_keeps_what_it_has(url: str, journal: Journal, tmp_path: Path) -> None:
    journal.record_failure(a_failure())
    file = sqlite3.connect(tmp_path / "journal.db")
    file.execute("DROP TABLE twinhive_messages")
    file.commit()
    assert [one.number for one in what_is_open(url).failures] == [1]
    there = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert METADATA.tables.keys() <= there


def test_a_journal_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="cannot be read"):
        what_is_open(f"sqlite:///{tmp_path / 'no' / 'such' / 'journal.db'}")


def test_a_journal_that_hangs_is_not_waited_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    monkeypatch.setattr(open_records, "_read", lambda url: never.wait())
    with pytest.raises(Unreachable, match="cannot be read"):
        what_is_open(url, patience=0.05)
    never.set()
