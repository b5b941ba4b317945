"""DAGs of others start when a table of the replica has changed, and wait for it; and the monitor says how it is."""

import re
from pathlib import Path

import pytest

from tests.integration.airflow_fixtures import Run, RunningAirflow, until
from tests.support.users.warehouse import Warehouse

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]

CONSUMERS = """
from airflow.sdk import DAG, Asset, task
from twinhive.airflow_edge.event_id_sensor import ReplicatedEventIdSensor

ORDERS = Asset("twinhive://west/{database}/orders")

with DAG("orders_of_{database}", schedule=[ORDERS], is_paused_upon_creation=False):

    @task(inlets=[ORDERS])
    def report(triggering_asset_events):
        return [event.extra for event in triggering_asset_events[ORDERS]]

    report()

with DAG("waits_for_{database}", schedule=None, is_paused_upon_creation=False):
    ReplicatedEventIdSensor(task_id="there", policy="{database}", table="orders", timeout=600)
"""


def reports(airflow: RunningAirflow, dag_id: str) -> list[dict[str, object]]:
    """Return what the runs of a consumer were told, oldest first."""
    ended = [run for run in airflow.runs(dag_id)[::-1] if run.states().get("report") == {"success"}]
    return [extra for run in ended for extra in airflow.api.xcom(dag_id, run.run_id, "report", "return_value")]


def replicated(west: Warehouse, database: str) -> int:
    return int(west.client.get_database(database).parameters["repl.last.id"])


def test_consumers_start_when_a_table_is_there_and_a_sensor_waits_for_it(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = east.create_database()
    orders = east.create_table(database, "orders", keys=("day",))
    east.create_table(database, "silent", keys=("day",))
    bootstrap = airflow.add(database, announced_tables=["orders"], max_lag=86_400)
    Path(airflow.consumers, f"{database}.py").write_text(CONSUMERS.format(database=database))
    consumer, waits = f"orders_of_{database}", f"waits_for_{database}"
    until(lambda: {consumer, waits} <= set(airflow.api.dag_ids()), "the consumers' DAGs are known", every=0.5)
    assert airflow.api.import_errors() == {}

    assert airflow.trigger(bootstrap).handed_over().wait() == "success"
    [loaded] = until(lambda: reports(airflow, consumer), "the load has started the consumer")
    assert loaded == {"event_id": replicated(west, database)}

    east.add_partition(orders, "1", files={"000000_0": b"1"})
    run = airflow.trigger(waits)
    run.wait_for("there", "deferred")
    airflow.api.unpause(f"{database}.incremental")
    assert run.wait() == "success"
    assert "day=1" in west.client.get_partition_names(database, "orders", -1)
    assert re.search(r"event \d+ is to come", run.log("there"))
    until(lambda: len(reports(airflow, consumer)) == 2, "the window has started the consumer")
    assert reports(airflow, consumer)[-1] == {"event_id": replicated(west, database)}


def newest_monitor_run(airflow: RunningAirflow) -> Run:
    """Wait for a run of the monitor that begins from now on, and for its end."""
    known = {run.run_id for run in airflow.runs("twinhive.monitor")}
    run: Run = until(
        lambda: next((run for run in airflow.runs("twinhive.monitor") if run.run_id not in known), None),
        "the monitor has another run",
    )
    run.wait()
    return run


def test_the_monitor_is_red_while_a_policy_needs_somebody_and_says_who(airflow: RunningAirflow) -> None:
    run = newest_monitor_run(airflow)
    assert run.states()["measure"] == {"success"}
    airflow.policies.write("policies/broken.yaml", {"policy": "broken", "colour": 1})
    try:
        red = newest_monitor_run(airflow)
        assert red.states() == {"measure": {"success"}, "alert": {"failed"}}
        assert "broken.yaml cannot be used" in red.log("alert")
    finally:
        (airflow.policies.directory / "policies" / "broken.yaml").unlink()
