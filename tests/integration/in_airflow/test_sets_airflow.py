"""Consumers of the replica start by themselves when a day is complete: by an asset, by a sensor, by a message."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.brokers.broker import WORDS
from sandbox.brokers.broker_users import PUBLISHER, READER
from tests.integration.airflow_fixtures import Run, RunningAirflow, until
from tests.integration.one_policy import settled
from tests.support.messages.running_broker import RunningBroker
from twinhive.core.model.sets.set_mark import SetMark, sets_table
from twinhive.runtime.wiring.policy_wiring import Wiring

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]

CONSUMERS = """
from airflow.providers.common.messaging.triggers.msg_queue import MessageQueueTrigger
from airflow.sdk import DAG, Asset, AssetWatcher, PartitionedAssetTimetable, task
from twinhive.operators import MarkSetDoneOperator
from twinhive.sensors import SetDoneSensor

NAME = "{database}"
RUNS = {{"is_paused_upon_creation": False}}

with DAG("produces_" + NAME, schedule=None, **RUNS):
    for number, value in enumerate(("1 a", "2=%")):
        MarkSetDoneOperator(task_id=f"done_{{number}}", cluster="east", table=NAME + ".orders", set={{"day": value}})

for cluster in ("east", "west"):
    days = Asset(f"twinhive-set://{{cluster}}/{{NAME}}/orders")
    with DAG(f"day_on_{{cluster}}_of_" + NAME, schedule=PartitionedAssetTimetable(assets=days), **RUNS):

        @task
        def report(dag_run=None):
            return dag_run.partition_key

        report()

with DAG("waits_for_a_day_of_" + NAME, schedule=None, **RUNS):
    SetDoneSensor(task_id="complete", policy=NAME, table="orders", set={{"day": "2=%"}}, timeout=600)

message = MessageQueueTrigger(
    scheme="stomp", connection="sets_bus_reader", topics=["twinhive.west." + NAME], kinds=["SET_DONE"]
)
told = Asset("told_of_" + NAME, watchers=[AssetWatcher(name="told", trigger=message)])
with DAG("told_of_" + NAME, schedule=[told], **RUNS):

    @task(inlets=[told])
    def hear(triggering_asset_events):
        payloads = [event.extra["payload"] for event in triggering_asset_events[told]]
        return [payload.get("set", "listening") for payload in payloads]

    hear()
"""


@pytest.fixture
def told(airflow: RunningAirflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give west a broker and a publisher."""
    broker = RunningBroker(tmp_path)
    broker.start()
    for name, user in (("sets_bus", PUBLISHER), ("sets_bus_reader", READER)):
        at = {"host": "127.0.0.1", "port": broker.port, "login": user, "password": WORDS[user]}
        airflow.api.add_connection(name, "stomp", **at)
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", f"stomp://{user}:{WORDS[user]}@127.0.0.1:{broker.port}")
    clusters = airflow.policies.directory / "clusters.yaml"
    before = clusters.read_text()
    file = yaml.safe_load(before)
    file["clusters"]["west"]["messages"] = {"broker": "sets_bus", "reader": "sets_bus_reader"}
    airflow.policies.write("clusters.yaml", file)
    command = [sys.executable, "-m", "twinhive.surfaces.cli.app", "publish", "west", "--name", "one", "--poll", "0.2"]
    with (tmp_path / "publisher.log").open("ab") as log:
        directory = str(airflow.policies.directory)
        publisher = subprocess.Popen([*command, "--config", directory], stderr=log, stdout=log)
    yield
    publisher.terminate()
    publisher.wait()
    clusters.write_text(before)
    broker.kill()


def returned(airflow: RunningAirflow, dag_id: str, task: str = "report") -> list[Any]:
    """Return what the runs of a consumer that have ended well say, in no order."""
    ended = [run for run in airflow.runs(dag_id) if run.states().get(task) == {"success"}]
    return [airflow.api.xcom(dag_id, run.run_id, task, "return_value") for run in ended]


@pytest.mark.nightly(
    "tests/integration/in_airflow/test_consumers_airflow.py::test_consumers_start_when_a_table_is_there_and_a_sensor_waits_for_it",
    "tests/dags/waiting/test_sets.py",
    "tests/dags/waiting/test_hearing.py",
)
def test_days_that_are_complete_start_consumers_at_the_source_and_on_the_replica(
    airflow: RunningAirflow, followed: str, told: None
) -> None:
    Path(airflow.consumers, f"sets_of_{followed}.py").write_text(CONSUMERS.format(database=followed))
    ids = [f"{name}_{followed}" for name in ("produces", "day_on_east_of", "day_on_west_of", "told_of")]
    ids.append(f"waits_for_a_day_of_{followed}")
    until(lambda: set(ids) <= set(airflow.api.dag_ids()), "the consumers' DAGs are known", every=0.5)
    produces, at_source, on_replica, hears, waits = ids
    settled(airflow, followed)
    waiting = airflow.trigger(waits)
    waiting.wait_for("complete", "deferred")
    # Its watcher is there once a message would be heard.
    until(lambda: ["listening"] in returned(airflow, hears, "hear"), "the watcher listens")
    assert airflow.trigger(produces).wait() == "success"
    days = ["day=1 a", "day=2%3D%25"]
    until(lambda: sorted(returned(airflow, at_source)) == days, "one run for each day at the source")
    until(lambda: sorted(returned(airflow, on_replica)) == days, "one run for each day on the replica")
    assert waiting.wait() == "success"
    found = airflow.api.xcom(waits, waiting.run_id, "complete", "return_value")
    assert (found["set"], found["count"]) == (days[1], 1)
    # Of two messages in one moment Airflow may keep the second for the run of the next one.
    until(lambda: {*chain(*returned(airflow, hears, "hear"))} & {*days}, "a day was heard on the replica's topic")
    # The run that has shown a set announces it again when it is cleared, and no other run does.
    shown = shown_marks(airflow, followed)
    runs = {mark.shown_by for mark in shown}
    assert {mark.spec for mark in shown} == set(days)
    settled(airflow, followed)
    for run_id in runs:
        Run(airflow, f"{followed}.incremental", str(run_id)).clear()
    # A task that Airflow tries again after it has announced them does so once more.
    until(lambda: Counter(returned(airflow, on_replica)) >= Counter([*days, *days]), "both are announced again")


def shown_marks(airflow: RunningAirflow, policy: str) -> list[SetMark]:
    wiring: Wiring = airflow.policies.wiring(policy)
    replica = wiring.read_ports().replica
    table = sets_table(wiring.policy.replica.database)
    return [SetMark.read(one) for one in replica.partitions(table, replica.partition_names(table))]
