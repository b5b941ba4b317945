"""What a person must mend is on the page of a policy, however much fails beside it."""

import time

import pytest
from starlette.testclient import TestClient

from tests.dags.monitor.test_page import journal, page_of, viewer
from tests.support.journal_records import a_failure, a_state
from twinhive.operations.journal.journal_reading import open_reader
from twinhive.operations.journal.writing import Journal

__all__ = ["journal", "viewer"]


@pytest.fixture
def failing(journal: Journal) -> Journal:
    """The journal of a policy with an old error that a person must mend, and 25 newer ones that are tried again."""
    now = time.time()
    journal.record_state(a_state("sales", at=now))
    journal.record_failure(a_failure("sales", at=now - 100, task_id="gate", act_now=True, what="a file is lost"))
    for index in range(25):
        at = now - 50 + index
        journal.record_failure(a_failure("sales", at=at, task_id="copy", map_index=index, what=f"no answer {index}"))
    journal.record_failure(a_failure("stock", at=now))
    return journal


@pytest.mark.usefixtures("failing")
def test_where_a_person_must_act_comes_first_and_the_rest_is_counted(viewer: TestClient) -> None:
    shown = page_of(viewer, "/policies/sales")
    assert shown.index("a file is lost") < shown.index("no answer 24") < shown.index("no answer 6")
    assert "no answer 5" not in shown and "and 6 more" in shown
    assert "26 open errors" in shown and "26 open errors" in page_of(viewer)


@pytest.mark.usefixtures("failing")
def test_all_failures_of_a_policy_are_read_newest_first() -> None:
    newest = open_reader().failures("sales", open_only=False, limit=30)
    assert [one.what for one in newest] == [*(f"no answer {24 - index}" for index in range(25)), "a file is lost"]
    assert open_reader().open_failures("sales") == 26


def test_where_everything_is_shown_nothing_more_is_said(viewer: TestClient, journal: Journal) -> None:
    journal.record_state(a_state("sales", at=time.time()))
    journal.record_failure(a_failure("sales"))
    shown = page_of(viewer, "/policies/sales")
    assert "1 open error" in shown and not any(f"and {number} more" in shown for number in range(3))
