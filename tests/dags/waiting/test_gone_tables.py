"""A table that is dropped while somebody waits for its sets may come again: a resync drops it and makes it anew."""

import asyncio
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred

from tests.dags.waiting.test_sets import ORDERS, Site, fired, site, trigger_for
from tests.dags.waiting.test_troubles import failing, quick, told
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.objects import Table
from twinhive.runtime.pipeline.runner import run_bootstrap
from twinhive.surfaces.airflow.monitor.task_failures import MayBeRefused, PersonMustAct
from twinhive.surfaces.airflow.triggers import replica_watch, unexplained_errors
from twinhive.surfaces.airflow.triggers.set_trigger import SetDoneTrigger

__all__ = ["quick", "site"]


@pytest.fixture
def replica(site: Site) -> Site:
    run_bootstrap(site.policies.wiring("sales").policy, site.world.ports(), {"run": "b"}, lambda _: None)
    return site


def drop(metastore: Any) -> Table:
    table = metastore.table(ORDERS)
    metastore.drop_table(ORDERS, delete_data=False)
    return table


async def waits_on(trigger: SetDoneTrigger, number: int = 5) -> "asyncio.Task[Any]":
    """Return a wait that has not ended after some looks of the triggerer."""
    waits = asyncio.ensure_future(fired(trigger))
    await asyncio.sleep(0)
    [watch] = replica_watch._watches.values()
    while watch.rounds < number:
        assert not waits.done()
        await asyncio.sleep(0.005)
    return waits


def test_the_triggerer_waits_for_a_table_that_is_dropped_and_made_anew_at_the_source(site: Site) -> None:
    async def main() -> Any:
        table = drop(site.world.source)
        waits = await waits_on(trigger_for("1"))
        site.world.source.create_table(table)
        site.mark("p=1")
        return await asyncio.wait_for(waits, 20)

    assert asyncio.run(main()) == {"set": "p=1", "count": 1}


def test_the_triggerer_waits_for_a_table_of_a_replica_however_long_it_takes(
    replica: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unexplained_errors, "_MOST_SECONDS", 0.0)
    trigger = replica.deferred(cluster=None, policy="sales", table="orders").trigger

    async def main() -> None:
        drop(replica.world.replica)
        waits = await waits_on(trigger)
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)

    asyncio.run(main())


@pytest.mark.parametrize(
    "given", [{"cluster": None, "policy": "sales", "table": "orders"}, {"cluster": "west"}], ids=["policy", "cluster"]
)
def test_a_sensor_waits_for_a_table_of_a_replica_however_often_it_looks(replica: Site, given: dict[str, Any]) -> None:
    kwargs = replica.deferred(**given).kwargs
    table = drop(replica.world.replica)
    for _ in range(20):
        with pytest.raises(TaskDeferred) as again:
            replica.sensor(**given).look_again({}, None, **kwargs)
        assert type(again.value.trigger).__name__ == "TimeDeltaTrigger"
        kwargs = again.value.kwargs
    replica.world.replica.create_table(table)
    with pytest.raises(TaskDeferred) as there:
        replica.sensor(**given).look_again({}, None, **kwargs)
    assert type(there.value.trigger) is SetDoneTrigger


def test_a_table_that_is_gone_at_the_source_fails_the_task_after_a_quarter_of_an_hour(site: Site) -> None:
    kwargs = site.deferred().kwargs
    drop(site.world.source)
    for _ in range(15):
        with pytest.raises(TaskDeferred) as again:
            site.sensor().look_again({}, None, **kwargs)
        kwargs = again.value.kwargs
    with pytest.raises(MayBeRefused, match=r"table sales\.orders is not there any more"):
        site.sensor().look_again({}, None, **kwargs)
    with pytest.raises(PersonMustAct, match=r"there is no table sales\.orders"):
        site.sensor().execute({})


def test_a_table_that_the_triggerer_has_missed_for_so_long_fails_the_task(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unexplained_errors, "_MOST_SECONDS", 0.05)
    waits = site.deferred()
    drop(site.world.source)
    event = told(waits.trigger)
    assert event["odd"] == 15
    with pytest.raises(MayBeRefused, match=r"table sales\.orders is not there any more"):
        site.sensor().look_again({}, event, **waits.kwargs)


def test_a_table_that_nobody_has_seen_since_the_wait_began_is_not_waited_for(site: Site) -> None:
    site.world.source.down = True
    kwargs = site.deferred().kwargs
    with pytest.raises(TaskDeferred) as again:
        site.sensor().look_again({}, None, **kwargs)
    site.world.source.down = False
    drop(site.world.source)
    with pytest.raises(PersonMustAct, match=r"there is no table sales\.orders"):
        site.sensor().look_again({}, None, **again.value.kwargs)


def test_what_hides_whether_it_is_a_replica_is_waited_for(replica: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    kwargs = replica.deferred(cluster="west").kwargs
    drop(replica.world.replica)
    monkeypatch.setattr(replica.world.replica, "database", failing(Unreachable("away")))
    with pytest.raises(TaskDeferred):
        replica.sensor(cluster="west").look_again({}, None, **kwargs)
