"""Bootstrap through a running Airflow, and meet each fault there once: kill, clear, rerun, converge."""

import os
import signal
from typing import Any

import pytest
from hive_metastore.ttypes import GetTableRequest

from sandbox import Sandbox
from tests.dags.airflow_home import create_database, parse_dags, use_own_airflow
from tests.integration.airflow_fixtures import LOST_SPARK, Run, RunningAirflow, until
from tests.policies import PolicyFiles
from tests.twin import assert_equal_twin
from tests.warehouse import Warehouse
from twinhive.copying.listing import list_files

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]

TASKS = {"preflight", "list_objects", "tables.list_files", "tables.copy", "gate", "load"}
GREEN: dict[str, set[str]] = {task: {"success"} for task in TASKS}
ONE_BATCH = {"batch_objects": 100}


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


def everything(west: Warehouse, database: str) -> Any:
    """Return all that a replica holds, so that the slightest change shows: marks and times, too."""
    names = sorted(west.client.get_all_tables(database))
    tables = [west.client.get_table_req(GetTableRequest(dbName=database, tblName=name)).table for name in names]
    partitions = [west.client.get_partitions(database, table.tableName, -1) for table in tables if table.partitionKeys]
    places = [("", table.sd.location) for table in tables if table.sd.location]
    files = [(status.path, status.file_id, status.modified_ms) for _, _, status in list_files(west.files, places)]
    return west.client.get_database(database), tables, partitions, sorted(files)


def assert_log_ends_with_next_step(log: str, *said: str) -> None:
    """Assert that the last lines of a failed task say what is wrong and what to do."""
    tail = "\n".join(log.splitlines()[-15:])
    assert all(text in tail for text in (*said, "  next:  ")), tail


def assert_red_at_once(run: Run, task: str) -> None:
    """Assert that a task failed in its first try and stopped what follows it."""
    [failed] = run.instances(task)
    assert (failed["state"], failed["try_number"]) == ("failed", 1)
    assert run.states()["load"] == {"upstream_failed"}


def a_policy(database: str, replica_cluster: str = "west") -> dict[str, Any]:
    """Return the content of a policy file."""
    return {
        "policy": database,
        "source": {"cluster": "east", "database": database},
        "replica": {"cluster": replica_cluster, "database": database},
    }


@pytest.fixture(scope="module")
def finished(airflow: RunningAirflow, sandbox: Sandbox) -> Run:
    """A run of two batches that has ended; tests look at it and clear it in several ways."""
    east = Warehouse(sandbox.clusters["east"])
    run = airflow.trigger(airflow.add(a_database(east)))
    east.close()
    run.wait()
    return run


def database_of(run: Run) -> str:
    return run.dag_id.removesuffix(".bootstrap")


def test_a_bootstrap_ends_in_an_equal_twin(finished: Run, east: Warehouse, west: Warehouse) -> None:
    assert finished.states() == GREEN
    assert_equal_twin(east, database_of(finished), west)


def test_mapped_tasks_are_named_by_their_tables(finished: Run) -> None:
    database = database_of(finished)
    labels = {f"{database}.orders (3 partitions)", f"{database}.plain +1 table"}
    assert finished.labels("list_files") == finished.labels("copy") == labels


def test_the_copies_went_through_spark_and_compared_what_they_copied(finished: Run) -> None:
    assert "3 of 3 files copied" in finished.log("copy")
    assert "0 compared by length only, 0 failed" in finished.log("copy")


def test_a_finished_list_task_that_is_cleared_alone_changes_nothing(finished: Run, west: Warehouse) -> None:
    before = everything(west, database_of(finished))
    finished.clear_alone("tables.list_files")
    assert finished.wait() == "success"
    assert finished.states() == GREEN
    assert "already applied" in finished.log("list_files")
    assert everything(west, database_of(finished)) == before


def test_finished_tasks_that_are_cleared_in_odd_order_change_nothing(finished: Run, west: Warehouse) -> None:
    before = everything(west, database_of(finished))
    for task in ("load", "tables.copy", "gate"):
        finished.clear_alone(task)
        assert finished.wait() == "success"
        assert "already applied" in finished.log(task)
    assert finished.states() == GREEN
    assert everything(west, database_of(finished)) == before


def test_a_finished_run_that_is_cleared_as_a_whole_changes_nothing(finished: Run, west: Warehouse) -> None:
    before = everything(west, database_of(finished))
    finished.clear()
    assert finished.wait() == "success"
    assert finished.states() == GREEN
    assert "already applied" in finished.log("load")
    assert everything(west, database_of(finished)) == before


def test_a_copy_that_is_marked_failed_or_killed_is_cleared_and_converges(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = a_database(east)
    run = airflow.trigger(airflow.add(database, options=ONE_BATCH))

    run.wait_for_spark()
    run.mark_failed(run.wait_for("copy", "running"))
    assert run.wait() == "failed"
    until(lambda: not run.spark_processes(), "Airflow has ended the Spark job")

    run.clear("tables.copy")
    for process in run.wait_for_spark():
        os.kill(process, signal.SIGKILL)
    run.wait_for("copy", "up_for_retry")
    assert_log_ends_with_next_step(run.log("copy"), f"{database}.", "the Spark job did not finish")

    run.clear("tables.copy")
    assert run.wait() == "success"
    assert run.states() == GREEN
    assert_equal_twin(east, database, west)


def test_tasks_whose_processes_are_killed_are_cleared_and_converge(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = a_database(east)
    run = airflow.trigger(airflow.add(database, options=ONE_BATCH))

    run.wait_for("list_objects", "success")
    with airflow.frozen("east-namenode"):
        run.kill_task("list_files")
    run.wait_for("list_files", "up_for_retry")
    run.clear("tables.list_files")

    until(lambda: database in west.client.get_databases(database), "the load has begun", every=0.005)
    with airflow.frozen("west-metastore"):
        run.kill_task("load")
    run.wait_for("load", "up_for_retry")
    assert west.client.get_database(database).parameters["twinhive.phase"] == "loading"
    run.clear("load")

    assert run.wait() == "success"
    assert run.states() == GREEN
    assert_equal_twin(east, database, west)


def test_after_airflow_itself_was_killed_a_cleared_run_converges(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = a_database(east)
    run = airflow.trigger(airflow.add(database, options=ONE_BATCH))
    run.wait_for_spark()
    airflow.kill()
    airflow.start()
    assert not run.spark_processes()
    run.clear()
    assert run.wait() == "success"
    assert run.states() == GREEN
    assert_equal_twin(east, database, west)


def test_the_dag_also_runs_in_process_without_scheduler(
    sandbox: Sandbox, east: Warehouse, west: Warehouse, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_own_airflow()
    create_database()
    monkeypatch.setenv("TWINHIVE_CONFIG", str(policies.directory))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    database = policies.add(a_database(east), options=ONE_BATCH)
    [dag] = parse_dags(policies.directory).values()
    run = dag.test()
    assert run.state == "success"
    assert_equal_twin(east, database, west)


def test_a_broken_policy_is_red_at_once_and_its_log_says_why(airflow: RunningAirflow) -> None:
    airflow.policies.write("policies/broken.yaml", {**a_policy("broken"), "colour": "red"})
    run = airflow.trigger(airflow.reload("broken"))
    assert run.wait() == "failed"
    assert_red_at_once(run, "preflight")
    assert_log_ends_with_next_step(
        run.log("preflight"), "broken.yaml cannot be used", "colour: unknown key", "twinhive check broken"
    )


def test_an_unknown_key_of_the_trigger_form_is_red_and_named(airflow: RunningAirflow) -> None:
    run = airflow.trigger("first.bootstrap", copy_treads=4)
    assert run.wait() == "failed"
    assert_red_at_once(run, "preflight")
    assert_log_ends_with_next_step(run.log("preflight"), "copy_treads", "only copy_threads", "trigger a new run")


def test_a_source_database_that_is_missing_is_red_and_named(airflow: RunningAirflow) -> None:
    run = airflow.trigger(airflow.add("nowhere"))
    assert run.wait() == "failed"
    assert_red_at_once(run, "preflight")
    assert_log_ends_with_next_step(run.log("preflight"), "database nowhere does not exist on cluster east")


def test_an_unknown_spark_connection_is_red_and_nothing_is_submitted(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = a_database(east)
    airflow.policies.write(f"policies/{database}.yaml", a_policy(database, replica_cluster="west_lost"))
    run = airflow.trigger(airflow.reload(database))
    assert run.wait() == "failed"
    assert_red_at_once(run, "copy")
    log = run.log("copy")
    assert_log_ends_with_next_step(log, f"Airflow knows no connection {LOST_SPARK}", "airflow connections add")
    assert "spark-submit" not in log and "yarn" not in log
    assert database not in west.client.get_all_databases()
