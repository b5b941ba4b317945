"""Above everything else stands why nothing new is to be seen."""

import pytest

from twinhive.core.model.errors import Unreachable
from twinhive.surfaces.page.airflow_links import MONITOR
from twinhive.surfaces.page.dag_runs import DagStanding
from twinhive.surfaces.page.notices import journal_down, monitor_notice

NOW = 1_000_000.0
RUNNING, PAUSED = DagStanding(MONITOR, paused=False), DagStanding(MONITOR, paused=True)


@pytest.mark.parametrize("monitor", [None, RUNNING, PAUSED])
def test_as_long_as_policies_are_looked_at_nothing_is_said(monitor: DagStanding | None) -> None:
    assert monitor_notice(monitor, NOW - 60, NOW) is None


@pytest.mark.parametrize(
    ("monitor", "looked_at", "said", "dag_id"),
    [
        (PAUSED, NOW - 720, "Last looked at 12 min ago: twinhive.monitor is paused. Unpause it", MONITOR),
        (PAUSED, None, "Nothing is recorded yet: twinhive.monitor is paused. Unpause it", MONITOR),
        (RUNNING, NOW - 720, "twinhive.monitor is not paused; see its last run", MONITOR),
        (None, None, "Airflow does not know the DAG twinhive.monitor; see its import errors", None),
    ],
)
def test_a_stale_page_says_why_and_what_to_do(
    monitor: DagStanding | None, looked_at: float | None, said: str, dag_id: str | None
) -> None:
    notice = monitor_notice(monitor, looked_at, NOW)
    assert notice is not None
    assert said in notice.text
    assert notice.dag_id == dag_id


def test_a_journal_that_is_down_is_one_line() -> None:
    text = journal_down(Unreachable("the journal cannot be read", found="connection refused")).text
    assert "the journal cannot be read (connection refused)" in text
    assert "\n" not in text
