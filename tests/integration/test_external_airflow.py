"""Copy external tables through a running Airflow: beside the events, never in their way; and kill a copy."""

from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from tests.integration.airflow_fixtures import Run, RunningAirflow, until
from tests.twin import assert_equal_twin
from tests.warehouse import Warehouse

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]

TABLES = ("clicks", "views", "visits")
FILES, LENGTH = 20, 25_000
# Each table takes a quarter of a minute.
SLOW = {"bandwidth_mb": 0.1, "parallelism": 2, "external_weight": 1}


def a_database(east: Warehouse) -> str:
    """Create a managed table and some external ones, of which each is a copy of its own."""
    database = east.create_database()
    east.create_table(database, "orders", keys=("day",))
    for name in TABLES:
        east.create_table(database, name, kind="EXTERNAL_TABLE", location=place(east, database, name), files=FULL)
    return database


def place(warehouse: Warehouse, database: str, table: str) -> str:
    return f"{warehouse.cluster.hdfs_uri}/raw/{database}/{table}"


FULL = {f"part-{number:05d}": bytes([number]) * LENGTH for number in range(FILES)}


def add_order(east: Warehouse, database: str, day: str) -> None:
    orders = east.client.get_table(database, "orders")
    east.add_partition(orders, day, files={"000000_0": day.encode()})


def spans(run: Run, task: str) -> list[tuple[datetime, datetime]]:
    """Return when the instances of a task began and ended, in this order."""
    return sorted(
        (datetime.fromisoformat(one["start_date"]), datetime.fromisoformat(one["end_date"]))
        for one in run.instances(task)
    )


def started_by(run: Run) -> Any:
    """Say what started a run: `scheduled`, `asset_triggered`, `manual`."""
    return run.airflow.api.dag_run(run.dag_id, run.run_id)["run_type"]


def copied(run: Run) -> int:
    """Count the copies of a run that are through."""
    return sum(one["state"] == "success" for one in run.instances("sync"))


def test_copies_go_one_at_a_time_events_pass_them_and_a_killed_one_converges(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = a_database(east)
    base = f"{west.cluster.hdfs_uri}/external/{database}"
    external = {"base_directory": base, "every_minutes": 59}
    bootstrap = airflow.trigger(airflow.add(database, external_tables=external, options=SLOW))
    lane: Run = until(lambda: airflow.runs(f"{database}.external"), "the bootstrap has started the data lane")[0]
    assert lane.run_id.startswith("after-bootstrap-")

    # The worker that copies dies; so another one takes its lease over when it is cleared.
    lane.kill_task("sync")
    lane.wait_for("sync", "up_for_retry")
    lane.clear("sync")

    assert bootstrap.wait() == "success"
    assert bootstrap.handed_over().wait() == "success"
    # The replica is published without what is not there yet, and follows the events.
    assert set(west.client.get_all_tables(database)).isdisjoint(TABLES[1:])
    airflow.api.unpause(f"{database}.incremental")
    add_order(east, database, "1")
    airflow.trigger(f"{database}.incremental")
    until(lambda: west.client.get_partition_names(database, "orders", -1) == ["day=1"], "the event is applied")
    assert copied(lane) < len(TABLES), "the copies were over before the event came"

    assert lane.wait() == "success"
    times = spans(lane, "sync")
    assert all(ended <= began for (_, ended), (began, _) in pairwise(times))
    # Long before its next scheduled run: the copies have started it.
    until(lambda: set(TABLES) <= set(west.client.get_all_tables(database)), "the tables are published", seconds=60)
    for name in TABLES:
        location = west.client.get_table(database, name).sd.location
        assert location == f"{base}/raw/{database}/{name}"
        assert {path: west.files.read(f"{location}/{path}") for path in FULL} == FULL
    assert "asset_triggered" in {started_by(run) for run in airflow.runs(f"{database}.incremental")}
    assert_equal_twin(east, database, west)
