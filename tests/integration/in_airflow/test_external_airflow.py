"""Copy external tables through a running Airflow: beside the events, never in their way; and kill a copy."""

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from hive_metastore.ttypes import GetTableRequest

from tests.integration.airflow_fixtures import Run, RunningAirflow, until
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]

SMALL = {"part-00000": b"rows"}
LARGE = {f"part-{number:05d}": bytes([number]) * 25_000 for number in range(20)}
# Each large table takes a quarter of a minute, and each table is a copy of its own.
SLOW = {"bandwidth_mb": 0.035, "parallelism": 2, "external_weight": 1}


def create_external(east: Warehouse, database: str, name: str, files: Mapping[str, bytes]) -> None:
    location = f"{east.cluster.hdfs_uri}/raw/{database}/{name}"
    east.create_table(database, name, kind="EXTERNAL_TABLE", location=location, files=files)


def table(warehouse: Warehouse, database: str, name: str) -> Any:
    return warehouse.client.get_table_req(GetTableRequest(dbName=database, tblName=name)).table


def started_by(run: Run) -> str:
    """Say what started a run: `scheduled`, `asset_triggered`, `manual`."""
    return str(run.airflow.api.dag_run(run.dag_id, run.run_id)["run_type"])


def run_that_copies(airflow: RunningAirflow, policy: str) -> Run:
    """Wait until a run that nobody has triggered copies; return it."""

    def found() -> Run | None:
        runs = airflow.runs(f"{policy}.external")
        copying = (run for run in runs if "running" in run.states().get("sync", set()))
        return next((run for run in copying if started_by(run) == "asset_triggered"), None)

    run: Run = until(found, f"the data lane of {policy} copies")
    return run


def spans(run: Run, task: str) -> list[tuple[datetime, datetime]]:
    """Return when the instances of a task began and ended, in this order."""
    return sorted(
        (datetime.fromisoformat(one["start_date"]), datetime.fromisoformat(one["end_date"]))
        for one in run.instances(task)
    )


@pytest.mark.nightly(
    "tests/dags/policies/test_in_process.py::test_external_tables_are_published_by_the_event_lane_when_the_data_lane_has_brought_their_data",
    "tests/integration/external/test_external_tables.py::test_new_objects_wait_for_their_data_and_events_do_not_wait_for_them",
    "tests/unit/replication/external_tables/test_external_killed.py::test_killed_at_any_change_and_run_again_both_sides_are_equal",
)
def test_copies_go_one_at_a_time_events_pass_them_and_a_killed_one_converges(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = east.create_database()
    east.create_table(database, "orders", keys=("day",))
    create_external(east, database, "known", SMALL)
    base = f"{west.cluster.hdfs_uri}/external/{database}"
    external = {"base_directory": base, "every_minutes": 59}
    bootstrap = airflow.trigger(airflow.add(database, external_tables=external, options=SLOW))
    assert bootstrap.wait() == "success"
    [lane] = [run for run in airflow.runs(f"{database}.external") if run.run_id.startswith("after-bootstrap-")]
    assert bootstrap.handed_over().wait() == "success"
    assert lane.wait() == "success"
    assert lane.labels("sync") == {f"{database}.known"}

    # Tables that come later wait for their data; that they do starts the data lane.
    airflow.api.unpause(f"{database}.incremental")
    create_external(east, database, "clicks", LARGE)
    create_external(east, database, "views", LARGE)
    airflow.trigger(f"{database}.incremental")
    copies = run_that_copies(airflow, database)

    east.add_partition(table(east, database, "orders"), "1", files={"000000_0": b"1"})
    airflow.trigger(f"{database}.incremental")
    until(lambda: west.client.get_partition_names(database, "orders", -1) == ["day=1"], "the event is applied")
    assert "success" not in airflow.api.dag_run(copies.dag_id, copies.run_id)["state"], "the copies were too quick"
    assert {"clicks", "views"} - set(west.client.get_all_tables(database)), "a table without its data is published"

    copies.kill_task("sync")
    copies.wait_for("sync", "up_for_retry")
    copies.clear("sync")
    assert copies.wait() == "success"
    assert all(ended <= began for (_, ended), (began, _) in pairwise(spans(copies, "sync")))

    # Data that has come starts the event lane, which publishes it.
    until(lambda: {"clicks", "views"} <= set(west.client.get_all_tables(database)), "the tables are published")
    assert "asset_triggered" in {started_by(run) for run in airflow.runs(f"{database}.incremental")}
    for name, files in {"known": SMALL, "clicks": LARGE, "views": LARGE}.items():
        location = table(west, database, name).sd.location
        assert location == f"{base}/raw/{database}/{name}"
        assert {path: west.files.read(f"{location}/{path}") for path in files} == files
    assert_equal_twin(east, database, west)
