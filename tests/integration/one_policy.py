"""Give the tests of a running Airflow one replicated database, which has come by Spark: that takes a minute."""

from pathlib import Path

import pytest
from hive_metastore.ttypes import GetTableRequest

from sandbox import Sandbox
from tests.integration.airflow_fixtures import Run, RunningAirflow, until
from tests.support.users.warehouse import Warehouse

CONSUMERS = """
from airflow.sdk import DAG, Asset, task
from twinhive.sensors import ReplicatedEventIdSensor

ORDERS = Asset("twinhive://west/{database}/orders")

with DAG("orders_of_{database}", schedule=[ORDERS], is_paused_upon_creation=False):

    @task(inlets=[ORDERS])
    def report(triggering_asset_events):
        return [event.extra for event in triggering_asset_events[ORDERS]]

    report()

with DAG("waits_for_{database}", schedule=None, is_paused_upon_creation=False):
    ReplicatedEventIdSensor(task_id="there", policy="{database}", table="orders", timeout=600)
"""

ALL_BYTES = 500 * sum(len(day.encode()) for day in ("1 a", "2=%", "3 ü")) + len(b"1,2\n" * 1000)
"""What `a_database` holds."""


def consumers_of(database: str) -> tuple[str, str]:
    """Return the ids of the DAGs of others: one is started by the table orders, one waits for it."""
    return f"orders_of_{database}", f"waits_for_{database}"


def a_database(east: Warehouse) -> str:
    """Create three small tables and a view; batches of three objects make two of them."""
    database = east.create_database(description="all sales")
    orders = east.create_table(database, "orders", keys=("day",))
    for day in ("1 a", "2=%", "3 ü"):
        east.add_partition(orders, day, files={"000000_0": day.encode() * 500})
    east.create_table(database, "plain", files={"data": b"1,2\n" * 1000, "zero": b""})
    east.create_table(database, "empty")
    east.create_view(database, "recent", f"SELECT a FROM {database}.plain")
    return database


@pytest.fixture(scope="session")
def finished(airflow: RunningAirflow, sandbox: Sandbox) -> Run:
    """A bootstrap of two batches that has ended; tests look at it and clear it in several ways.

    DAGs of others are there from the start, who read its table orders.
    """
    east = Warehouse(sandbox.clusters["east"])
    database = a_database(east)
    bootstrap = airflow.add(database, announced_tables=["orders"], announced_sets=["orders"], max_lag=86_400)
    Path(airflow.consumers, f"{database}.py").write_text(CONSUMERS.format(database=database))
    until(lambda: set(consumers_of(database)) <= set(airflow.api.dag_ids()), "the consumers' DAGs are known", every=0.5)
    run = airflow.trigger(bootstrap)
    east.close()
    assert run.wait() == "success"
    assert run.handed_over().wait() == "success"
    return run


@pytest.fixture(scope="session")
def followed(finished: Run) -> str:
    """A published policy that follows its source; its name, and that of its databases."""
    dag_id = f"{finished.policy}.incremental"
    finished.airflow.api.unpause(dag_id)
    # A watcher exists from the first time on that the DAG is parsed while it is not paused.
    finished.airflow.api.parse_again(dag_id)
    until(lambda: finished.airflow.runs(dag_id), "the watcher says that it watches")
    return finished.policy


def settled(airflow: RunningAirflow, policy: str) -> set[str]:
    """Wait until no run of a policy is under way; return the ids of those there were."""

    def at_rest() -> tuple[set[str]] | None:
        # One look for both: a run that begins between two would be taken for one of before.
        runs = airflow.api.dag_runs(f"{policy}.incremental")
        has_ended = all(run["state"] in ("success", "failed") for run in runs)
        return ({run["dag_run_id"] for run in runs},) if has_ended else None

    found: tuple[set[str]] = until(at_rest, "no run is under way")
    return found[0]


def add_orders(east: Warehouse, database: str, *days: str) -> None:
    """Add partitions to the table orders, an event each."""
    orders = east.client.get_table_req(GetTableRequest(dbName=database, tblName="orders")).table
    for day in days:
        east.add_partition(orders, day, files={"000000_0": day.encode() * 500})
