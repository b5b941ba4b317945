"""Bootstrap through a running Airflow, and meet each fault there once: kill, clear, rerun, converge."""

import os
import signal
import time
from typing import Any

import pytest
from hive_metastore.ttypes import GetTableRequest

from sandbox import Sandbox
from sandbox.postgres import JOURNAL_DATABASE
from tests.integration.airflow_fixtures import Run, RunningAirflow, until
from tests.integration.one_policy import ALL_BYTES, a_database, add_orders, settled
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.operations.journal.journal_reading import JournalReader, open_reader
from twinhive.operations.journal.records import WindowRun
from twinhive.transfer.staged.listing import list_files

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]

GREEN: dict[str, set[str]] = {
    task: {"success"} for task in ("preflight", "list_objects", "tables.list_files", "tables.copy", "consolidate")
}
NOTHING_NEW = {
    "round": {"success"},
    "copy": {"skipped"},
    "gate": {"success"},
    "load": {"success"},
    "next_round": {"skipped"},
}
IDLE = {"window": {"success"}, "copy": {"skipped"}, "apply": {"skipped"}}
WITHOUT_SPARK = {"window": {"success"}, "copy": {"skipped"}, "apply": {"success"}}
ONE_BATCH = {"batch_objects": 100}


@pytest.fixture
def journal(sandbox: Sandbox) -> JournalReader:
    return open_reader(sandbox.postgres_url(JOURNAL_DATABASE))


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
    assert run.states()["consolidate"] == {"upstream_failed"}


def a_policy(database: str) -> dict[str, Any]:
    """Return the content of a policy file."""
    return {
        "policy": database,
        "source": {"cluster": "east", "database": database},
        "replica": {"cluster": "west", "database": database},
    }


def a_run_that_applies(airflow: RunningAirflow, policy: str, before: set[str]) -> Run:
    """Wait until a new run has cut a window, which is not applied yet; return it."""

    def found() -> Run | None:
        for run in airflow.runs(f"{policy}.incremental"):
            if run.run_id not in before:
                states = run.states()
                if states.get("window") == {"success"} and states["apply"] != {"skipped"}:
                    return run
        return None

    run: Run = until(found, f"a window of {policy} is cut", every=0.2)
    return run


def has_orders(west: Warehouse, database: str, *days: str) -> bool:
    return {f"day={day}" for day in days} <= set(west.client.get_partition_names(database, "orders", -1))


def test_a_bootstrap_is_consolidated_and_ends_in_an_equal_twin(finished: Run, east: Warehouse, west: Warehouse) -> None:
    assert finished.states() == GREEN
    assert finished.handed_over().states() == NOTHING_NEW
    assert_equal_twin(east, finished.policy, west)


def test_mapped_tasks_are_named_by_their_tables(finished: Run) -> None:
    database = finished.policy
    labels = {f"{database}.orders (3 partitions)", f"{database}.plain +1 table"}
    assert finished.labels("list_files") == finished.labels("copy") == labels


def test_the_copies_went_through_spark_and_compared_what_they_copied(finished: Run) -> None:
    assert "3 of 3 files copied" in finished.log("copy")
    assert "0 compared by length only, 0 failed" in finished.log("copy")


def test_the_first_copy_is_in_the_journal(finished: Run, journal: JournalReader) -> None:
    windows = {window.phase: window for window in journal.windows(finished.policy)}
    assert {window.outcome for window in windows.values()} == {"done"}, windows
    first = windows["bootstrap"]
    assert (first.dag_id, first.run_id) == (finished.dag_id, finished.run_id)
    assert (first.files, first.bytes) == (5, ALL_BYTES)
    batches = journal.batches(finished.policy, first.dump)
    assert sum(batch.bytes for batch in batches) == ALL_BYTES
    assert {(batch.task_id, batch.outcome) for batch in batches} == {("tables.copy", "done")}
    tables = {table.table: table.state for table in journal.tables(finished.policy)[1]}
    assert tables == dict.fromkeys(("orders", "plain", "empty", "recent"), "published")
    assert journal.failures(finished.policy, open_only=False) == []
    state = journal.policy(finished.policy)
    assert state is not None and (state.phase, state.lag_events) == ("following", 0)


def test_finished_tasks_that_are_cleared_alone_in_odd_order_change_nothing(finished: Run, west: Warehouse) -> None:
    before = everything(west, finished.policy)
    consolidated = finished.handed_over()
    cleared = [(consolidated, "load"), (finished, "tables.copy"), (consolidated, "gate"), (finished, "list_files")]
    for run, task in cleared:
        run.clear_alone("tables.list_files" if task == "list_files" else task)
    for run, task in cleared:
        assert run.wait() == "success"
        assert "already applied" in run.log(task)
    assert finished.states() == GREEN
    assert consolidated.states() == NOTHING_NEW
    assert everything(west, finished.policy) == before


def test_a_finished_run_that_is_cleared_as_a_whole_changes_nothing(finished: Run, west: Warehouse) -> None:
    before = everything(west, finished.policy)
    finished.clear()
    assert finished.wait() == "success"
    assert finished.states() == GREEN
    assert "already applied" in finished.log("consolidate")
    assert everything(west, finished.policy) == before


def test_what_is_added_at_the_source_appears_on_the_replica_by_itself(
    airflow: RunningAirflow, followed: str, east: Warehouse, west: Warehouse
) -> None:
    for day in ("4", "5"):
        before = settled(airflow, followed)
        add_orders(east, followed, day)
        committed = time.time()
        until(lambda day=day: has_orders(west, followed, day), "the replica has it", every=0.1)
        print(f"lag from commit to visible: {time.time() - committed:.1f} s")
        run = a_run_that_applies(airflow, followed, before)
        assert run.wait() == "success"
        assert run.states() == WITHOUT_SPARK
        print(f"run of a small window: {run.seconds():.1f} s, its tasks {run.task_seconds()}")
    assert_equal_twin(east, followed, west)


def test_a_window_is_in_the_journal(
    airflow: RunningAirflow, followed: str, east: Warehouse, journal: JournalReader
) -> None:
    settled(airflow, followed)
    east.create_table(followed, "made", files={"data": b"5,6\n"})

    def brought() -> list[WindowRun]:
        ended = [one for one in journal.windows(followed) if (one.phase, one.outcome) == ("incremental", "done")]
        return [window for window in ended if window.bytes == len(b"5,6\n")]

    until(brought, "the window is in the journal")
    until(lambda: journal.tables(followed, search="made", state="published")[1], "the new table is in the journal")
    until(lambda: journal.lag(followed, time.time() - 3600), "its lag is in the journal")


def test_a_run_with_nothing_to_do_executes_one_task(airflow: RunningAirflow, followed: str) -> None:
    settled(airflow, followed)
    run = airflow.trigger(f"{followed}.incremental")
    assert run.wait() == "success"
    assert run.states() == IDLE
    assert "nothing to do" in run.log("window")
    print(f"idle run: {run.seconds():.1f} s, its task {run.task_seconds()}")


@pytest.mark.thorough
def test_a_window_whose_apply_is_killed_is_retried_and_converges(
    airflow: RunningAirflow, followed: str, east: Warehouse, west: Warehouse
) -> None:
    before = settled(airflow, followed)
    add_orders(east, followed, *(f"k{number}" for number in range(20)))
    run = a_run_that_applies(airflow, followed, before)
    with airflow.frozen("west-metastore"):
        run.kill_task("apply")
    run.wait_for("apply", "up_for_retry")
    run.clear("apply")
    assert run.wait() == "success"
    until(lambda: has_orders(west, followed, "k19"), "the replica has all of it")
    settled(airflow, followed)
    assert_equal_twin(east, followed, west)


@pytest.mark.nightly(
    "tests/integration/in_airflow/test_airflow.py::test_a_window_whose_apply_is_killed_is_retried_and_converges",
    "tests/unit/runtime/spark/test_submitter_lock.py::test_a_killed_submitter_lets_go",
    "tests/unit/replication/bootstrap/test_bootstrap_killed.py::test_killed_at_any_change_and_rerun_it_converges",
)
def test_a_bootstrap_that_is_killed_in_every_way_is_cleared_and_converges(
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
    # Meanwhile the source goes on: what follows has an event to fold in.
    add_orders(east, database, "late")

    run.clear("tables.copy")
    run.wait_for_spark()
    airflow.kill()
    airflow.start()
    assert not run.spark_processes()

    run.clear("tables.copy")
    assert run.wait() == "success"
    consolidated = run.handed_over()
    until(lambda: database in west.client.get_databases(database), "the load has begun", every=0.005)
    with airflow.frozen("west-metastore"):
        consolidated.kill_task("load")
    consolidated.wait_for("load", "up_for_retry")
    assert west.client.get_database(database).parameters["twinhive.phase"] == "loading"
    consolidated.clear("load")

    assert consolidated.wait() == "success"
    assert_equal_twin(east, database, west)


def test_a_broken_policy_is_red_at_once_and_its_log_says_why(airflow: RunningAirflow) -> None:
    airflow.policies.write("policies/broken.yaml", {**a_policy("broken"), "colour": "red"})
    run = airflow.trigger(airflow.reload("broken"))
    assert run.wait() == "failed"
    assert_red_at_once(run, "preflight")
    assert_log_ends_with_next_step(
        run.log("preflight"), "broken.yaml cannot be used", "colour: unknown key", "twinhive check broken"
    )


@pytest.mark.thorough
def test_a_source_database_that_is_missing_is_red_and_named(airflow: RunningAirflow) -> None:
    run = airflow.trigger(airflow.add("nowhere"))
    assert run.wait() == "failed"
    assert_red_at_once(run, "preflight")
    assert_log_ends_with_next_step(run.log("preflight"), "database nowhere does not exist on cluster east")
