"""Wait for events of a replica from another DAG: in this process, over two clusters in memory."""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import TaskDeferred
from airflow.sdk.module_loading import import_string  # type: ignore[attr-defined]

from tests.dags.airflow_home import register, use_own_airflow
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.errors import Unreachable
from twinhive.runtime.pipeline.runner import run_bootstrap
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct
from twinhive.surfaces.airflow.sensors.event_id_sensor import ReplicatedEventIdSensor
from twinhive.surfaces.airflow.triggers import replica_watch, stored_trigger
from twinhive.surfaces.airflow.triggers.event_id_trigger import EventIdTrigger

WEST = json.dumps({"connection": "west_metastore"})


class Replicated:
    """A replica, and the DAG of somebody who reads it."""

    def __init__(self, world: World, policies: PolicyFiles) -> None:
        self.world = world
        self.policies = policies
        self.policy = policies.wiring("sales").policy
        self._run(run_bootstrap)

    def _run(self, phase: Callable[..., Any]) -> None:
        phase(self.policy, self.world.ports(), {"run": "b"}, lambda line: None)

    def write(self) -> int:
        """Do something at the source and return its last event."""
        SourceWriter(self.world.source, self.world.source_files, "sales").insert("plain", None, [b"more"])
        return self.world.source.current_event_id()

    def follow(self) -> None:
        self.policies.follow("sales")

    def mark(self, **marks: str | None) -> None:
        database = self.world.replica.database("sales")
        changed = {**database.parameters, **marks}
        left = {key: value for key, value in changed.items() if value is not None}
        self.world.replica.set_database_parameters("sales", left)

    def consumer(self, **given: Any) -> DAG:
        with DAG("reports", params={"event": 1}) as dag:
            ReplicatedEventIdSensor(
                **{"task_id": "there", "policy": "sales", "config": str(self.policies.directory), **given}
            )
        return dag

    def consume(self, **given: Any) -> str:
        """Run the DAG of the consumer to its end and return its state."""
        return self.run(self.consumer(**given))

    def run(self, dag: DAG, **conf: Any) -> str:
        register(dag)
        return str(dag.test(run_conf=conf).state)

    def deferred(self, **given: Any) -> TaskDeferred:
        """Run the sensor's first part, which has to wait."""
        with pytest.raises(TaskDeferred) as waits:
            self.consumer(**given).get_task("there").execute({})
        return waits.value


@pytest.fixture
def replicated(policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> Replicated:
    use_own_airflow()
    for name in ("east", "west"):
        hdfs = {"conn_type": "hdfs", "host": name, "extra": {"uri": f"hdfs://{name}"}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_HDFS", json.dumps(hdfs))
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_METASTORE", json.dumps({"conn_type": "hms", "host": name}))
    world = a_world()
    sides = {"east": world.source, "west": world.replica}
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: world.ports())
    monkeypatch.setattr(stored_trigger, "metastore", lambda endpoint: sides[endpoint.addresses[0][0]])
    monkeypatch.setattr(replica_watch, "POLL_SECONDS", 0.01)
    policies.add("sales", external_tables={"include": False})
    return Replicated(world, policies)


def test_what_is_there_already_is_not_waited_for(replicated: Replicated) -> None:
    assert replicated.consume() == replicated.consume(table="plain") == "success"


@pytest.mark.parametrize("given", [{"table": "sales.plain"}, {}, {"event_id": "{{ params.event }}"}])
def test_it_waits_until_the_event_is_applied(replicated: Replicated, given: dict[str, Any]) -> None:
    event_id = replicated.write()
    later = threading.Timer(1.0, replicated.follow)
    later.start()
    dag = replicated.consumer(**given)
    assert replicated.run(dag, event=event_id) == "success"
    later.join()
    assert int(replicated.world.replica.database("sales").parameters["repl.last.id"]) == event_id


def test_a_restart_waits_for_the_same_event(replicated: Replicated) -> None:
    event_id = replicated.write()
    waits = replicated.deferred()
    path, values = waits.trigger.serialize()
    assert values["event_id"] == waits.kwargs["as_of"] == event_id
    replicated.write()
    again = import_string(path)(**json.loads(json.dumps(values)))
    assert again.serialize() == (path, values)
    # What the triggerer hands back leads to the same end, whatever was written meanwhile.
    sensor = replicated.consumer().get_task("there")
    with pytest.raises(TaskDeferred) as second:
        sensor.look_again({}, {"event_id": 1}, **waits.kwargs)
    assert second.value.kwargs == waits.kwargs
    assert second.value.trigger.serialize() == (path, values)


def test_the_time_is_airflows_and_counts_from_the_first_look(replicated: Replicated) -> None:
    replicated.write()
    waits = replicated.deferred(timeout=100)
    assert 90 < waits.timeout.total_seconds() <= 100
    sensor = replicated.consumer(timeout=100).get_task("there")
    with pytest.raises(TaskDeferred) as late:
        sensor.look_again({}, None, as_of=waits.kwargs["as_of"], until=waits.kwargs["until"] - 60)
    assert late.value.timeout.total_seconds() < 41


def test_an_event_of_the_future_is_waited_for_at_the_source_first(replicated: Replicated) -> None:
    event_id = replicated.write() + 1
    waits = replicated.deferred(event_id=event_id)
    assert waits.trigger.serialize()[1]["database"] is None

    def happen() -> None:
        replicated.write()
        replicated.follow()

    later = threading.Timer(1.0, happen)
    later.start()
    assert replicated.consume(event_id=event_id) == "success"
    later.join()


def test_servers_that_do_not_answer_are_waited_for(replicated: Replicated) -> None:
    replicated.world.source.down = True
    waits = replicated.deferred()
    assert waits.kwargs["as_of"] is None and type(waits.trigger).__name__ == "TimeDeltaTrigger"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"policy": "stock"}, "there is no policy stock"),
        ({"table": "hr.people"}, "does not replicate table hr.people"),
        ({"event_id": "soon"}, "event_id of there is no event id"),
    ],
)
def test_what_only_a_person_can_mend_fails_at_once(replicated: Replicated, given: dict[str, Any], said: str) -> None:
    with pytest.raises(PersonMustAct) as stopped:
        replicated.consumer(**given).get_task("there").execute({})
    assert said in str(stopped.value)


def test_an_event_and_a_table_at_once_are_refused_when_the_dag_is_parsed(replicated: Replicated) -> None:
    with pytest.raises(ValueError, match="not both"):
        replicated.consumer(event_id=1, table="plain")


def trigger_for(event_id: int, database: str | None = "sales", **more: Any) -> EventIdTrigger:
    return EventIdTrigger(WEST, event_id, "sales", database, **more)


async def fired(trigger: EventIdTrigger) -> Any:
    async for event in trigger.run():
        return event.payload


def test_it_does_not_fire_before_airflow_knows_that_its_task_waits(
    replicated: Replicated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Airflow takes a task for lost that goes on before the end of the process that deferred it has been noticed."""
    monkeypatch.setattr("twinhive.surfaces.airflow.triggers.deferral_delay.noticed_within", lambda: 0.5)
    at = int(replicated.world.replica.database("sales").parameters["repl.last.id"])
    began = time.monotonic()
    asyncio.run(asyncio.wait_for(fired(trigger_for(at)), 20))
    assert time.monotonic() - began >= 0.5


def test_many_that_wait_share_one_poll_and_each_is_told_of_its_own(replicated: Replicated) -> None:
    asked: list[str] = []
    database = replicated.world.replica.database

    def counted(name: str) -> Any:
        asked.append(name)
        return database(name)

    replicated.world.replica.database = counted
    at = int(database("sales").parameters["repl.last.id"])

    async def main() -> None:
        waiting = [asyncio.ensure_future(fired(trigger_for(at + 1))) for _ in range(100)]
        assert await asyncio.wait_for(fired(trigger_for(at)), 20) == {"event_id": at}
        [watch] = replica_watch._watches.values()
        rounds, before = watch.rounds, len(asked)
        while watch.rounds < rounds + 3:
            await asyncio.sleep(0.005)
        assert len(asked) - before <= 5
        assert not any(task.done() for task in waiting)
        replicated.mark(**{"repl.last.id": str(at + 1)})
        await asyncio.wait_for(asyncio.gather(*waiting), 20)
        assert replica_watch._watches == {}

    asyncio.run(main())


def test_a_metastore_that_is_away_is_waited_out_and_a_cancelled_wait_ends_the_poll(
    replicated: Replicated, caplog: pytest.LogCaptureFixture
) -> None:
    replicated.world.replica.down = True
    at = int(replicated.world.replica._databases["sales"].parameters["repl.last.id"])

    async def main() -> None:
        waiting = asyncio.ensure_future(fired(trigger_for(at)))
        given_up = asyncio.ensure_future(fired(trigger_for(at + 9)))
        while not any("cannot be looked at" in record.message for record in caplog.records):
            await asyncio.sleep(0.005)
        replicated.world.replica.down = False
        assert await asyncio.wait_for(waiting, 20) == {"event_id": at}
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        assert replica_watch._watches == {}

    asyncio.run(main())
    assert sum("cannot be looked at" in record.message for record in caplog.records) == 1


def test_a_quarantined_table_keeps_the_trigger_waiting_and_a_forgotten_replica_ends_it(replicated: Replicated) -> None:
    at = int(replicated.world.replica.database("sales").parameters["repl.last.id"])
    replicated.mark(**{"twinhive.quarantine.plain": "3 no room"})

    async def main() -> None:
        for table in ("plain", None):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(fired(trigger_for(at, table=table)), 0.2)
        for others in ({"table": "orders"}, {"position": True}):
            assert await asyncio.wait_for(fired(trigger_for(at, **others)), 20)
        replicated.mark(**{"twinhive.policy": None})
        assert await asyncio.wait_for(fired(trigger_for(at, table="plain")), 20)

    asyncio.run(main())


def test_the_trigger_of_a_source_waits_for_its_newest_event(replicated: Replicated) -> None:
    newest = replicated.world.replica.current_event_id()

    async def main() -> None:
        assert await asyncio.wait_for(fired(trigger_for(newest, None)), 20) == {"event_id": newest}
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(fired(trigger_for(newest + 1, None)), 0.1)

    asyncio.run(main())


def test_an_unreachable_metastore_is_no_reason_to_fire(replicated: Replicated) -> None:
    def away(name: str) -> Any:
        raise Unreachable("away")

    replicated.world.replica.database = away

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(fired(trigger_for(0)), 0.2)

    asyncio.run(main())
