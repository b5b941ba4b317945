"""Start a bootstrap and tell how far it and the runs after it are, a line per task that ends."""

import time
from datetime import UTC, datetime

from rich.console import Console
from rich.markup import escape

from sandbox.airflow.airflow_api import AirflowApi

_ENDED = ("success", "failed", "upstream_failed", "skipped")
_COLOURS = {"success": "green", "skipped": "yellow"}


def follow(airflow: AirflowApi, policy: str, console: Console, seconds: float = 3_600) -> tuple[str, str, str]:
    """Bootstrap a policy and wait until its replica is published.

    Return the state of the last run that belongs to it, its DAG and its id. Raises SystemExit when the
    DAGs do not appear.
    """
    dag_id = f"{policy}.bootstrap"
    _wait_for_dag(airflow, dag_id)
    airflow.unpause(dag_id)
    run_id = airflow.trigger(dag_id, run_id=f"demo-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    deadline = time.monotonic() + seconds
    while True:
        console.print(f"{dag_id}, run {run_id}", highlight=False)
        state = _follow_run(airflow, dag_id, run_id, console, deadline)
        started = _started_run(airflow, dag_id, run_id) if state == "success" else None
        if started is None:
            return state, dag_id, run_id
        dag_id, run_id = f"{policy}.consolidate", started


def _follow_run(airflow: AirflowApi, dag_id: str, run_id: str, console: Console, deadline: float) -> str:
    told: set[tuple[str, int]] = set()
    while True:
        state = str(airflow.dag_run(dag_id, run_id)["state"])
        _tell(airflow, dag_id, run_id, told, console)
        if state in ("success", "failed"):
            return state
        if time.monotonic() > deadline:
            return f"still {state}"
        time.sleep(1)


def _started_run(airflow: AirflowApi, dag_id: str, run_id: str) -> str | None:
    """Return the run that goes on where this one ended, None for the last one."""
    hand_over = "consolidate" if dag_id.endswith(".bootstrap") else "next_round"
    started: str | None = airflow.xcom(dag_id, run_id, hand_over, "trigger_run_id")
    return started


def _wait_for_dag(airflow: AirflowApi, dag_id: str, seconds: float = 900) -> None:
    deadline = time.monotonic() + seconds
    while dag_id not in airflow.dag_ids():
        if time.monotonic() > deadline:
            raise SystemExit(f"Airflow has not parsed {dag_id}: {airflow.import_errors() or 'no import error'}")
        time.sleep(0.5)


def _tell(airflow: AirflowApi, dag_id: str, run_id: str, told: set[tuple[str, int]], console: Console) -> None:
    instances = airflow.task_instances(dag_id, run_id)
    for instance in sorted(instances, key=lambda instance: instance["end_date"] or ""):
        key = (instance["task_id"], instance["map_index"])
        if instance["state"] in _ENDED and key not in told:
            told.add(key)
            label = instance.get("rendered_map_index") or ""
            colour = _COLOURS.get(instance["state"], "red")
            console.print(
                f"  [{colour}]{instance['state']:8}[/] {instance['task_id']:18} {instance['duration'] or 0:6.1f} s  "
                f"{escape(label)}",
                highlight=False,
            )
