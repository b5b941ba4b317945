"""A copy that runs and moves nothing is told, with what to look at."""

from dataclasses import replace

import pytest

from tests.support.journal_records import NOW, a_copy
from twinhive.core.model.errors import ActNow
from twinhive.core.model.watching.alerts import AlertKind, Severity
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.lag_alerts import alerts_of, state_line
from twinhive.operations.monitoring.monitored_policy import Limits

LOADING = PolicyLag("sales", NOW, phase="loading", limits=Limits(stalled_for=600.0))


def test_a_copy_that_stands_still_is_an_alert_with_its_task_and_since_when() -> None:
    lag = replace(LOADING, stalled=(a_copy(moved=NOW - 7_200),))
    [alert] = alerts_of([lag])
    assert (alert.kind, alert.about, alert.kind.severity) == (AlertKind.STALLED, "bootstrap", Severity.ACT_NOW)
    said = str(alert.error)
    for part in ("sales.bootstrap", "tables.copy[3] (orders)", "2 h", "run first", "10 min (watch.stalled_for)"):
        assert part in said
    assert "moved nothing for" in state_line(lag)


def test_copies_of_one_dag_are_one_alert_and_the_one_that_stands_longest_speaks() -> None:
    copies = (a_copy(map_index=1, moved=NOW - 700), a_copy(map_index=2, moved=NOW - 7_200))
    other = a_copy(dag_id="sales.external", task_id="sync", moved=NOW - 800)
    first, second = alerts_of([replace(LOADING, stalled=(*copies, other))])
    assert "copy[2]" in str(first.error.found) and "(and 1 more tasks)" in str(first.error.found)
    assert second.about == "external"


@pytest.mark.parametrize("held", [{"paused": "holidays"}, {"error": ActNow("the replica is gone", next_step="look")}])
def test_what_is_held_back_or_broken_as_a_whole_has_no_such_alert(held: dict[str, object]) -> None:
    lag = replace(LOADING, stalled=(a_copy(moved=NOW - 7_200),), **held)  # type: ignore[arg-type]
    assert AlertKind.STALLED not in {alert.kind for alert in alerts_of([lag])}
