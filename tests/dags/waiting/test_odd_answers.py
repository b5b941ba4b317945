"""An answer of a server that nobody knows does not end a wait of hours; one that lasts is told to a person."""

from collections.abc import Callable
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred

from tests.dags.waiting.test_event_id_sensor import Replicated, replicated
from tests.dags.waiting.test_sets import Site, site
from tests.support.policies import PolicyFiles
from twinhive.core.model.errors import ActNow, Refused, Unexplained, Unreachable
from twinhive.surfaces.airflow.monitor.task_failures import MayBeRefused, PersonMustAct
from twinhive.surfaces.airflow.operators import cluster_sql_operator
from twinhive.surfaces.airflow.operators.cluster_sql_operator import ClusterSqlOperator
from twinhive.surfaces.airflow.sensors import event_id_sensor, set_sensor
from twinhive.surfaces.airflow.triggers import unexplained_errors
from twinhive.surfaces.airflow.triggers.unexplained_errors import odd_answers as looks_with

__all__ = ["replicated", "site"]
ODD = Unexplained("the metastore cannot read a table", found="MetaException(Broken pipe)")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception | None], None]:
    """Let all that is asked in a wait fail, or answer again."""

    def answer(error: Exception | None) -> None:
        def ask(*_: Any, **__: Any) -> Any:
            if error is not None:
                raise error

        monkeypatch.setattr(event_id_sensor, "what_is_missing", ask)
        monkeypatch.setattr(set_sensor, "wanted_set", ask)
        monkeypatch.setattr(cluster_sql_operator, "routed_sql", ask)

    answer(ODD)
    return answer


@pytest.fixture(params=["event", "set", "statement"])
def waiting(request: pytest.FixtureRequest, policies: PolicyFiles) -> Any:
    """Whoever may wait for hours."""
    if request.param == "event":
        there: Replicated = request.getfixturevalue("replicated")
        return there.consumer().get_task("there")
    marked: Site = request.getfixturevalue("site")
    if request.param == "set":
        return marked.sensor()
    config = str(policies.directory)
    return ClusterSqlOperator(task_id="q", sql="select 1", cluster="east", wait_for_copy=True, config=config)


def looked(task: Any, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Let it look once more, return what it keeps for the next look."""
    with pytest.raises(TaskDeferred) as waits:
        task.execute({}) if before is None else task.look_again({}, None, **before)
    return dict(waits.value.kwargs or {})


def test_it_waits_on_until_such_answers_have_lasted_too_long(
    waiting: Any, world: Callable[[Exception | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unexplained_errors, "_MOST_LOOKS", 3)
    keeps = looked(waiting)
    for number in (2, 3):
        world(Unreachable("no answer"))
        keeps = looked(waiting, keeps)
        world(ODD)
        keeps = looked(waiting, keeps)
        assert keeps["odd"] == number
    with pytest.raises(MayBeRefused):
        waiting.look_again({}, None, **keeps)


def test_what_a_person_must_mend_is_not_waited_for(waiting: Any, world: Callable[[Exception | None], None]) -> None:
    world(Refused("the metastore refuses us"))
    with pytest.raises(PersonMustAct):
        waiting.execute({})


def test_it_is_a_quarter_of_an_hour_of_looks_in_a_row() -> None:
    odd = 0
    for _ in range(15):
        odd = looks_with(ODD, odd)
    assert looks_with(Unreachable("no answer"), odd) == odd == 15
    with pytest.raises(Unexplained):
        looks_with(ODD, odd)
    with pytest.raises(ActNow):
        looks_with(ActNow("mend it"), 0)


def test_a_trigger_waits_through_a_quarter_of_an_hour_of_them() -> None:
    """Looks without any answer in between do not count, and an answer that is known begins anew."""
    now = 0.0
    odd: unexplained_errors.OddTime[str] = unexplained_errors.OddTime(lambda: now)

    def looked(answer: Exception | None, seconds: float) -> list[str]:
        nonlocal now
        now += seconds
        odd.look(["a", "b"])
        if answer is None:
            odd.over(["a"])
        return odd.met(["a"]) if answer is ODD else []

    for _ in range(2):
        assert looked(ODD, 5_000) == []
        assert looked(ODD, 899) == []
        assert looked(Unreachable("no answer"), 5_000) == []
        assert looked(ODD, 0.5) == []
        assert looked(ODD, 0.5) == ["a"] == looked(ODD, 0)
        assert looked(None, 10) == []
    odd.look(["b"])
    assert looked(ODD, 5_000) == []
