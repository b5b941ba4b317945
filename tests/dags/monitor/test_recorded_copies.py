"""Failures of a placement are open until a later run has made up for them."""

from pathlib import Path
from typing import Any

import pytest

from twinhive.federation.placement.list_copies import CopiesListed
from twinhive.federation.placement.publish_copies import CopiesPublished
from twinhive.operations.journal.journal_reading import JournalReader, open_reader
from twinhive.operations.journal.records import Failure
from twinhive.operations.journal.writing import Journal
from twinhive.surfaces.airflow.monitor import recorded_results
from twinhive.surfaces.airflow.monitor.recorded_results import TaskPlace
from twinhive.surfaces.airflow.monitor.recording import Recording

IDLE = CopiesListed(idle="every copy is there and fresh")
BUSY = CopiesListed(dump="list-2", tables=1, needed=1)
LEFT = {"copy": 7, "publish": -1}


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Journal, JournalReader]:
    """A journal in which a copy and the publishing of a placement, and a copy of another one, have failed."""
    monkeypatch.setattr(recorded_results, "seen_copies", lambda *_: [])
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    journal = Journal(url)
    for policy in ("near", "far"):
        for task, index in LEFT.items():
            journal.record_failure(
                Failure(policy, 1.0, f"{policy}.copies", "earlier", task, index, 4, "Refused", act_now=True, what="no")
            )
    return journal, open_reader(url)


def after(journal: tuple[Journal, JournalReader], task: str, result: object) -> dict[str, set[str]]:
    """Return which failures are open after a task of a later run has succeeded."""
    place = TaskPlace("near", "copies", task, "near.copies", "later", task, -1, 1, {}, 2.0)
    wiring: Any = type("Wired", (), {"policy": None})
    Recording(place, journal[0]).succeeded(result, wiring, None)  # type: ignore[arg-type]
    return {policy: {failure.task_id for failure in journal[1].failures(policy)} for policy in ("near", "far")}


@pytest.mark.parametrize(
    ("task", "result", "left"),
    [
        pytest.param("list_copies", IDLE, set(), id="nothing is left to do"),
        pytest.param("list_copies", BUSY, {"publish"}, id="what is lacking is copied by this run"),
        pytest.param("publish", CopiesPublished(), set(), id="all is published"),
    ],
)
def test_a_failure_is_made_up_for_by_a_later_run(
    journal: tuple[Journal, JournalReader], task: str, result: object, left: set[str]
) -> None:
    assert after(journal, task, result) == {"near": left, "far": set(LEFT)}
