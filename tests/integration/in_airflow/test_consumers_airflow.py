"""DAGs of others start when a table of the replica has changed, and wait for it; and the monitor says how it is."""

import re

import pytest

from tests.integration.airflow_fixtures import RunningAirflow, until
from tests.integration.one_policy import add_orders, consumers_of, settled
from tests.support.users.warehouse import Warehouse

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]


def reports(airflow: RunningAirflow, dag_id: str) -> list[dict[str, object]]:
    """Return what the runs of a consumer were told, oldest first."""
    ended = [run for run in airflow.runs(dag_id)[::-1] if run.states().get("report") == {"success"}]
    return [extra for run in ended for extra in airflow.api.xcom(dag_id, run.run_id, "report", "return_value")]


def replicated(west: Warehouse, database: str) -> int:
    return int(west.client.get_database(database).parameters["repl.last.id"])


@pytest.mark.thorough
def test_consumers_start_when_a_table_is_there_and_a_sensor_waits_for_it(
    airflow: RunningAirflow, followed: str, east: Warehouse, west: Warehouse
) -> None:
    consumer, waits = consumers_of(followed)
    # By now the load of the bootstrap has told it, and perhaps windows since.
    told = until(lambda: reports(airflow, consumer), "the load has started the consumer")
    settled(airflow, followed)
    airflow.api.pause(f"{followed}.incremental")
    add_orders(east, followed, "for consumers")
    run = airflow.trigger(waits)
    run.wait_for("there", "deferred")
    airflow.api.unpause(f"{followed}.incremental")
    airflow.api.parse_again(f"{followed}.incremental")  # its watcher is back from then on
    assert run.wait() == "success"
    assert "day=for consumers" in west.client.get_partition_names(followed, "orders", -1)
    assert re.search(r"event \d+ is to come", run.log("there"))

    def newer() -> list[dict[str, object]]:
        return [one for one in reports(airflow, consumer) if one not in told]

    until(lambda: {"event_id": replicated(west, followed)} in newer(), "the window has started the consumer")


@pytest.mark.nightly("tests/dags/monitor/test_monitor_dag.py", "tests/dags/monitor/test_failure_callbacks.py")
def test_the_monitor_is_red_while_a_policy_needs_somebody_and_says_who(airflow: RunningAirflow) -> None:
    run = airflow.measure()
    assert run.states()["measure"] == {"success"}
    airflow.policies.write("policies/broken.yaml", {"policy": "broken", "colour": 1})
    try:
        red = airflow.measure()
        assert red.states() == {"measure": {"success"}, "alert": {"failed"}}
        assert "broken.yaml cannot be used" in red.log("alert")
    finally:
        (airflow.policies.directory / "policies" / "broken.yaml").unlink()
