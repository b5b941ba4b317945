"""Where the triggerer alone cannot look, workers look more and more rarely: each look costs two starts of a task."""

import time
from datetime import timedelta
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred

from tests.dags.waiting.test_event_id_sensor import Replicated, replicated
from tests.dags.waiting.test_sets import Site, site
from twinhive.surfaces.airflow.sensors.sensor_backoff import pause_of

__all__ = ["replicated", "site"]
TROUBLE = {"trouble": "no keytab"}


@pytest.fixture(params=["event", "set"])
def sensor(request: pytest.FixtureRequest) -> Any:
    if request.param == "set":
        there: Site = request.getfixturevalue("site")
        return there.sensor(timeout=7 * 86_400)
    producer: Replicated = request.getfixturevalue("replicated")
    producer.write()
    task = producer.consumer().get_task("there")
    task.timeout = 7 * 86_400
    return task


def waits(sensor: Any, event: Any = None, before: dict[str, Any] | None = None) -> TaskDeferred:
    with pytest.raises(TaskDeferred) as deferred:
        sensor.execute({}) if before is None else sensor.look_again({}, event, **before)
    return deferred.value


def paused(sensor: Any, before: TaskDeferred) -> tuple[float, TaskDeferred]:
    """Let the triggerer meet trouble, and the pause end; return its minutes, and how it goes on."""
    pause = waits(sensor, TROUBLE, before.kwargs)
    moment = pause.trigger.moment
    return round((moment.timestamp() - time.time()) / 60), waits(sensor, moment.isoformat(), pause.kwargs)


def test_pauses_grow_while_the_triggerer_alone_is_in_trouble(sensor: Any) -> None:
    found, deferred = [], waits(sensor)
    for _ in range(7):
        pause, deferred = paused(sensor, deferred)
        found.append(pause)
        assert type(deferred.trigger).__name__ in ("SetDoneTrigger", "EventIdTrigger")
    assert found == [1, 2, 4, 8, 10, 10, 10]


def test_they_begin_anew_when_the_triggerer_could_look(sensor: Any) -> None:
    deferred = waits(sensor)
    for _ in range(3):
        _, deferred = paused(sensor, deferred)
    deferred = waits(sensor, {"event_id": 1, "set": "p=a b", "count": 1}, deferred.kwargs)
    assert paused(sensor, deferred)[0] == 1


def test_a_wait_that_ends_soon_is_looked_after_more_often() -> None:
    def minutes(left: float) -> float:
        return pause_of(9, time.time() + left * 60) / timedelta(minutes=1)

    assert [round(minutes(left), 2) for left in (60, 20, 8, 3, 1, -5)] == [10, 10, 4, 1.5, 1, 1]
