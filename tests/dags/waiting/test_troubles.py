"""What is wrong with one question that sensors share is the trouble of those who ask it, and is told to them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred

from tests.dags.waiting.test_event_id_sensor import Replicated, replicated
from tests.dags.waiting.test_sets import EAST, Site, fired, site, trigger_for
from tests.support.builders import a_table
from twinhive.core.model.errors import Refused, Unexplained
from twinhive.core.model.names import TableName
from twinhive.publishing.sets.marking_sets import MarkSet
from twinhive.surfaces.airflow.monitor.task_failures import MayBeRefused, PersonMustAct
from twinhive.surfaces.airflow.triggers import replica_watch, unexplained_errors
from twinhive.surfaces.airflow.triggers.set_trigger import SetDoneTrigger

__all__ = ["replicated", "site"]
BAD = TableName("sales", "bad")
ODD = Unexplained("the metastore cannot read a table", found="MetaException(Broken pipe)")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_watch, "_MOST_SECONDS", 0.02)


def told(trigger: Any) -> Any:
    return asyncio.run(asyncio.wait_for(fired(trigger), 20))


def failing(error: Exception) -> Callable[..., Any]:
    def ask(*_: Any, **__: Any) -> Any:
        raise error

    return ask


@pytest.fixture
def bad(site: Site) -> Site:
    """A table whose sets nobody can judge, in the same database as another one."""
    keeps = {"twinhive.sets.keep": "7 days"}
    site.world.add_table(a_table(str(BAD), partition_keys=("day",), parameters=keeps))
    MarkSet(BAD, "day=1", "t").run(site.world.source)
    return site


def test_a_table_whose_property_has_no_sense_keeps_no_other_waiting(bad: Site) -> None:
    bad.mark("p=1")

    async def main() -> None:
        both = (SetDoneTrigger(EAST, ("sales", "bad"), [("day", "1")], 0, "30d"), trigger_for("1"))
        of_bad, of_other = await asyncio.wait_for(asyncio.gather(*map(fired, both)), 20)
        assert "property twinhive.sets.keep of sales.bad cannot be read" in of_bad["trouble"]
        assert of_other == {"set": "p=1", "count": 1}

    asyncio.run(main())


def test_a_refusal_is_told_and_fails_the_task(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = site.deferred()
    monkeypatch.setattr(site.world.source, "table", failing(Refused("permission denied")))
    event = told(waits.trigger)
    assert event == {"trouble": "permission denied"}
    with pytest.raises(PersonMustAct, match="permission denied"):
        site.sensor().look_again({}, event, **waits.kwargs)


def test_a_table_that_is_there_again_when_the_task_looks_is_waited_for(site: Site) -> None:
    waits = site.deferred()
    with pytest.raises(TaskDeferred) as again:
        site.sensor().look_again({}, {"trouble": "there is no table sales.orders"}, **waits.kwargs)
    # Were it the triggerer's own trouble, its next trigger would fire at once.
    assert type(again.value.trigger).__name__ == "TimeDeltaTrigger"
    assert again.value.kwargs == {**waits.kwargs, "alone": 1}
    with pytest.raises(TaskDeferred) as waits_on:
        site.sensor().look_again({}, None, **again.value.kwargs)
    assert type(waits_on.value.trigger) is SetDoneTrigger


def test_answers_that_nobody_knows_fail_the_task_when_the_trigger_has_waited_through_them(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unexplained_errors, "_MOST_SECONDS", 0.05)
    waits = site.deferred()
    monkeypatch.setattr(site.world.source, "table", failing(ODD))
    event = told(waits.trigger)
    with pytest.raises(MayBeRefused, match="Broken pipe"):
        site.sensor().look_again({}, event, **waits.kwargs)


def test_a_replicas_metastore_that_refuses_is_told_and_fails_the_task(
    replicated: Replicated, monkeypatch: pytest.MonkeyPatch
) -> None:
    replicated.write()
    waits = replicated.deferred()
    task = replicated.consumer().get_task("there")
    monkeypatch.setattr(replicated.world.source, "current_event_id", failing(Refused("not you")))
    monkeypatch.setattr(replicated.world.replica, "database", failing(Refused("not you")))
    event = told(waits.trigger)
    assert event == {"trouble": "not you"}
    with pytest.raises(PersonMustAct, match="not you"):
        task.look_again({}, event, **waits.kwargs)


def test_an_event_whose_trigger_alone_is_refused_is_looked_for_by_the_task(
    replicated: Replicated, monkeypatch: pytest.MonkeyPatch
) -> None:
    replicated.write()
    waits = replicated.deferred()
    task = replicated.consumer().get_task("there")
    with pytest.raises(TaskDeferred) as again:
        task.look_again({}, {"trouble": "no keytab"}, **waits.kwargs)
    assert type(again.value.trigger).__name__ == "TimeDeltaTrigger"
    assert again.value.kwargs == {**waits.kwargs, "alone": 1}


def test_answers_that_nobody_knows_of_a_replica_fail_the_task_when_they_have_lasted(
    replicated: Replicated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unexplained_errors, "_MOST_SECONDS", 0.05)
    replicated.write()
    waits = replicated.deferred()
    task = replicated.consumer().get_task("there")
    monkeypatch.setattr(replicated.world.replica, "database", failing(ODD))
    event = told(waits.trigger)
    assert event["odd"] == 15
    with pytest.raises(MayBeRefused, match="Broken pipe"):
        task.look_again({}, event, **waits.kwargs)
