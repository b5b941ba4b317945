"""Trigger runs through a real Airflow's API as people do: plans, second clicks, wrong values; and read red logs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sandbox.errors import SandboxError
from tests.integration.airflow_fixtures import Run, RunningAirflow, until
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]

AFTER_A_TASK = ("::group::Post Execute", "::endgroup::")
FOLDED = "::group::Plan of "


def lines_of(run: Run, task: str) -> list[str]:
    """Return what the log of a task shows beside Airflow's own closing group, without times and levels."""
    lines = [line.partition("info ")[2] or line for line in run.log(task).splitlines()]
    end = max(number for number, line in enumerate(lines) if line.endswith(AFTER_A_TASK[0]))
    return lines[:end]


def a_database(east: Warehouse) -> str:
    database = east.create_database("formed")
    east.create_table(database, "plain", files={"data": b"1,2\n" * 1000})
    return database


def replica_names(west: Warehouse) -> list[str]:
    return list(west.client.get_all_databases())


@pytest.mark.thorough
def test_a_dry_run_says_its_plan_and_ends_green_with_nothing_changed(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = a_database(east)
    run = airflow.trigger(airflow.add(database), dry_run=True)
    assert run.wait() == "success"
    assert run.states() == {
        "preflight": {"success"},
        **{task: {"skipped"} for task in ("list_objects", "tables.list_files", "tables.copy", "consolidate")},
    }
    said = lines_of(run, "preflight")
    begins = next(number for number, line in enumerate(said) if FOLDED in line)
    assert any(f"create tables: 1: {database}.plain" in line for line in said[begins:])
    assert "a real run would copy 1 files with 4.0 kB" in said[-2]
    assert "trigger again without dry_run" in said[-1]
    plan = airflow.api.xcom(run.dag_id, run.run_id, "preflight", "plan")
    assert (plan["files"], plan["bytes"], plan["refused"]) == (1, 4_000, False)
    assert database not in replica_names(west)
    assert airflow.runs(f"{database}.consolidate") == []
    assert not [
        child
        for _, found in east.files.list_directories([f"hdfs://east/twinhive/dumps/{database}"])
        for child in found or ()
    ]


def trigger_at(airflow: RunningAirflow, dag_id: str, moment: datetime, **conf: Any) -> str:
    body = {"logical_date": None, "run_after": moment.isoformat(), "conf": conf}
    return str(airflow.api._send("POST", f"/dags/{dag_id}/dagRuns", body)["dag_run_id"])


@pytest.mark.thorough
def test_a_second_click_starts_nothing_and_a_wrong_value_is_refused_at_once(
    airflow: RunningAirflow, east: Warehouse
) -> None:
    dag_id = airflow.add(a_database(east))
    moment = datetime.now(UTC).replace(second=30, microsecond=0)
    first = trigger_at(airflow, dag_id, moment, dry_run=True)
    with pytest.raises(SandboxError, match="409"):
        trigger_at(airflow, dag_id, moment.replace(microsecond=400_000), dry_run=True)
    assert [run.run_id for run in airflow.runs(dag_id)] == [first]
    with pytest.raises(SandboxError, match="400"):
        airflow.trigger(dag_id, copy_threads=0)
    misspelt = Run(airflow, dag_id, trigger_at(airflow, dag_id, moment - timedelta(minutes=1), dry_runn=True))
    assert misspelt.wait() == "failed"
    assert lines_of(misspelt, "preflight")[-2].endswith("next:     trigger a new run without them")


@pytest.mark.nightly(
    "tests/integration/phases/test_kills.py::test_two_runs_at_once_end_or_fail_plainly_and_another_run_converges",
)
def test_what_three_people_start_at_once_is_done_once(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = a_database(east)
    bootstrap = airflow.trigger(airflow.add(database))
    assert bootstrap.wait() == "success"
    assert bootstrap.handed_over().wait() == "success"
    east.create_table(database, "made", files={"data": b"3,4\n"})
    incremental = f"{database}.incremental"
    ids = [airflow.api.trigger(incremental, {}, f"{name}-started-it") for name in ("watcher", "schedule", "person")]
    airflow.api.unpause(incremental)
    runs = [Run(airflow, incremental, run_id) for run_id in ids]
    assert [run.wait() for run in runs] == ["success"] * 3
    # The real watcher and the real schedule have had their say as well, when the DAG was let go.
    until(lambda: all(run["state"] == "success" for run in airflow.api.dag_runs(incremental)), "no run is under way")
    airflow.api.pause(incremental)
    states = [run.states()["apply"] for run in airflow.runs(incremental)]
    assert states.count({"success"}) == 1
    assert states.count({"skipped"}) >= 2
    assert_equal_twin(east, database, west)


@pytest.mark.thorough
def test_the_last_lines_of_a_red_task_are_what_to_do_and_no_traceback(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = a_database(east)
    west.client.create_database(west.client.get_database("default").__class__(name=database))
    run = airflow.trigger(airflow.add(database))
    assert run.wait() == "failed"
    [failed] = run.instances("preflight")
    assert (failed["state"], failed["try_number"]) == ("failed", 1)
    print(run.log("preflight"))
    assert "Traceback" not in run.log("preflight")
    *_, found, expected, following, exited = lines_of(run, "preflight")
    assert "found:    no mark of any policy" in found
    assert "expected: no such database" in expected
    assert "next:     name another replica database" in following
    assert "Task exited" in exited


@pytest.mark.nightly(
    "tests/dags/tasks/test_airflow_edge.py",
    "tests/integration/in_airflow/test_airflow.py::test_a_window_whose_apply_is_killed_is_retried_and_converges",
)
def test_what_may_pass_is_tried_again_after_a_wait_and_passes(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    dag_id = airflow.add(a_database(east))
    with airflow.frozen("west-metastore"):
        run = airflow.trigger(dag_id)
        waiting = run.wait_for("preflight", "up_for_retry")
        assert waiting["try_number"] == 1
        assert "Traceback" not in run.log("preflight")
    assert run.wait() == "success"
    assert until(lambda: run.instances("preflight")[0]["try_number"] == 2, "the second try is counted")
