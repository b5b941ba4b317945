"""Wait for sets and mark them from DAGs: in this process, over a metastore in memory."""

import asyncio
import json
import time
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import TaskDeferred
from airflow.sdk.module_loading import import_string  # type: ignore[attr-defined]

from tests.dags.airflow_home import register, use_own_airflow
from tests.support.policies import PolicyFiles
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.errors import Refused
from twinhive.core.model.names import TableName
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct
from twinhive.surfaces.airflow.operators import set_operators
from twinhive.surfaces.airflow.operators.set_operators import MarkSetDoneOperator, UnmarkSetOperator
from twinhive.surfaces.airflow.sensors import set_sensor
from twinhive.surfaces.airflow.sensors.set_sensor import SetDoneSensor
from twinhive.surfaces.airflow.triggers import deferral_delay, replica_watch, stored_trigger
from twinhive.surfaces.airflow.triggers.set_trigger import SetDoneTrigger

EAST = json.dumps({"connection": "east_metastore"})
ORDERS = TableName("sales", "orders")


class Site:
    """Two clusters in memory, and DAGs that name them."""

    def __init__(self, world: World, policies: PolicyFiles) -> None:
        self.world = world
        self.policies = policies

    def mark(self, text: str, token: str = "t") -> None:
        MarkSet(ORDERS, text, token).run(self.world.source)

    def sensor(self, **given: Any) -> SetDoneSensor:
        default = {"cluster": "east", "table": "sales.orders", "set": {"p": "a b"}}
        config = str(self.policies.directory)
        with DAG("reports"):
            return SetDoneSensor(task_id="done", config=config, **{**default, **given})

    def deferred(self, **given: Any) -> TaskDeferred:
        with pytest.raises(TaskDeferred) as waits:
            self.sensor(**given).execute({})
        return waits.value

    def run(self, *operators: type) -> str:
        with DAG("producer") as dag:
            before = None
            for kind in operators:
                task = kind(
                    task_id=kind.__name__,
                    cluster="east",
                    table="sales.orders",
                    set={"p": "{{ 'a b' }}"},
                    config=str(self.policies.directory),
                )
                if before is not None:
                    before >> task
                before = task
        register(dag)
        return str(dag.test().state)


@pytest.fixture
def site(policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> Site:
    use_own_airflow()
    for name in ("east", "west"):
        hdfs = {"conn_type": "hdfs", "host": name, "extra": {"uri": f"hdfs://{name}"}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_HDFS", json.dumps(hdfs))
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_METASTORE", json.dumps({"conn_type": "hms", "host": name}))
    world = a_world()
    sides = {"east": world.source, "west": world.replica}
    for module in (set_sensor, set_operators):
        monkeypatch.setattr(module, "cluster_metastore", lambda configuration, cluster, resolve: sides[cluster])
    monkeypatch.setattr(stored_trigger, "metastore", lambda endpoint: sides[endpoint.addresses[0][0]])
    monkeypatch.setattr(replica_watch, "POLL_SECONDS", 0.01)
    policies.add("sales", external_tables={"include": False})
    return Site(world, policies)


def test_a_set_that_is_done_is_not_waited_for(site: Site) -> None:
    site.mark("*")
    found = site.sensor(set="p=a b").execute({})
    assert (found["set"], found["by_set"], found["count"]) == ("p=a b", "*", 1)


def test_what_is_waited_for_survives_a_restart_of_the_triggerer(site: Site) -> None:
    waits = site.deferred()
    path, values = waits.trigger.serialize()
    again = import_string(path)(**json.loads(json.dumps(values)))
    assert again.serialize() == (path, values)
    site.mark("p=a b")
    assert asyncio.run(asyncio.wait_for(fired(again), 20)) == {"set": "p=a b", "count": 1}
    assert site.sensor().look_again({}, {"set": "p=a b"}, **waits.kwargs)["set"] == "p=a b"


def test_a_mark_that_was_taken_away_before_the_task_looks_is_waited_for_again(site: Site) -> None:
    until = site.deferred().kwargs["until"]
    with pytest.raises(TaskDeferred) as second:
        site.sensor().look_again({}, {"set": "p=a b"}, until=until)
    assert second.value.kwargs == {"until": until}


def test_only_a_mark_after_a_time_counts(site: Site) -> None:
    site.mark("p=a b")
    assert site.sensor(since="2000-01-01").execute({})["count"] == 1
    assert type(site.deferred(since="2100-01-01").trigger) is SetDoneTrigger


def test_a_metastore_that_is_away_is_waited_for(site: Site) -> None:
    site.world.source.down = True
    assert type(site.deferred().trigger).__name__ == "TimeDeltaTrigger"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cluster": "north"}, "there is no cluster north"),
        ({"table": "orders"}, "'orders' is no table"),
        ({"table": "sales.no"}, "there is no table sales.no"),
        ({"set": {"day": "1"}}, "'day' is no partition key"),
        ({"since": "soon"}, "since of done is no time"),
        ({"cluster": None, "policy": "stock"}, "there is no policy stock"),
    ],
)
def test_what_only_a_person_can_mend_fails_at_once(site: Site, given: dict[str, Any], said: str) -> None:
    with pytest.raises(PersonMustAct) as stopped:
        site.sensor(**given).execute({})
    assert said in str(stopped.value)


def test_cluster_and_policy_at_once_are_refused_when_the_dag_is_parsed(site: Site) -> None:
    with pytest.raises(ValueError, match="either"):
        site.sensor(policy="sales")


def test_a_policy_names_its_replica(site: Site) -> None:
    with pytest.raises(PersonMustAct) as stopped:
        site.sensor(cluster=None, policy="sales", table="orders").execute({})
    assert "there is no table sales.orders" in str(stopped.value)
    assert site.world.source.table(ORDERS) is not None


def test_a_task_marks_once_however_often_it_is_repeated(site: Site) -> None:
    assert site.run(MarkSetDoneOperator) == "success"
    [name] = site.world.source.partition_names(TableName("sales", "twinhive_sets"))
    [kept] = site.world.source.partitions(TableName("sales", "twinhive_sets"), [name])
    assert kept.values == ("orders", "p=a b")
    assert kept.parameters["twinhive.set.token"].startswith("producer ")
    token = kept.parameters["twinhive.set.token"]
    assert MarkSet(ORDERS, "p=a b", token).run(site.world.source).already
    assert site.run(MarkSetDoneOperator, UnmarkSetOperator) == "success"
    assert site.world.source.partition_names(TableName("sales", "twinhive_sets")) == []


async def fired(trigger: SetDoneTrigger) -> Any:
    async for event in trigger.run():
        return event.payload


def trigger_for(value: str, database: str = "sales") -> SetDoneTrigger:
    return SetDoneTrigger(EAST, (database, "orders"), [("p", value)], 0, "30d")


def test_it_does_not_fire_before_airflow_knows_that_its_task_waits(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow takes a task for lost that goes on before the end of the process that deferred it has been noticed."""
    monkeypatch.setattr("twinhive.surfaces.airflow.triggers.deferral_delay.noticed_within", lambda: 0.5)
    site.mark("p=first")
    began = time.monotonic()
    asyncio.run(asyncio.wait_for(fired(trigger_for("first")), 20))
    assert time.monotonic() - began >= 0.5


@pytest.mark.parametrize("seconds", [-5.0, 0.0, 1.0, 3600.0])
def test_airflow_gives_no_wait_up_before_its_trigger_may_fire(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(deferral_delay, "noticed_within", lambda: 7.0)
    timeout = deferral_delay.timeout_of(time.time() + seconds).total_seconds()
    assert max(7.5, seconds - 60) < timeout < max(20.0, seconds + 1)


def test_a_thousand_that_wait_share_one_poll(site: Site) -> None:
    site.mark("p=first")
    asked: list[int] = []
    real = site.world.source.partitions

    def counted(table: TableName, names: list[str]) -> Any:
        asked.append(len(names))
        return real(table, names)

    site.world.source.partitions = counted

    async def main() -> None:
        waiting = [asyncio.ensure_future(fired(trigger_for(str(number)))) for number in range(1_000)]
        assert await asyncio.wait_for(fired(trigger_for("first")), 20) == {"set": "p=first", "count": 1}
        [watch] = replica_watch._watches.values()
        rounds, before = watch.rounds, len(asked)
        while watch.rounds < rounds + 3:
            await asyncio.sleep(0.005)
        assert 3 <= len(asked) - before <= 5 and asked[-1] >= 1_001
        assert not any(task.done() for task in waiting)
        site.mark("*", "whole")
        await asyncio.wait_for(asyncio.gather(*waiting), 30)
        assert replica_watch._watches == {}

    asyncio.run(main())


def test_a_database_that_cannot_be_asked_keeps_no_other_waiting(site: Site) -> None:
    site.mark("p=1")
    UnmarkSet(ORDERS, "p=2").run(site.world.source)
    real = site.world.source.table

    def refusing(name: TableName) -> Any:
        if name.database == "hr":
            raise Refused("permission denied")
        return real(name)

    site.world.source.table = refusing

    async def main() -> None:
        waits = asyncio.ensure_future(fired(trigger_for("1", "hr")))
        assert await asyncio.wait_for(fired(trigger_for("1")), 20)
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)

    asyncio.run(main())
