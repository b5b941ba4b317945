"""Trigger a DAG and tell how far it is, a line per task that ends."""

import time
from datetime import UTC, datetime

from rich.console import Console
from rich.markup import escape

from sandbox.airflow_api import AirflowApi

_ENDED = ("success", "failed", "upstream_failed", "skipped")
_COLOURS = {"success": "green", "skipped": "yellow"}


def follow(airflow: AirflowApi, dag_id: str, console: Console, seconds: float = 600) -> tuple[str, str]:
    """Return the state in which the run ended, and its id. Raises SystemExit when the DAG does not appear."""
    _wait_for_dag(airflow, dag_id)
    airflow.unpause(dag_id)
    run_id = airflow.trigger(dag_id, run_id=f"demo-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    console.print(f"triggered {dag_id}, run {run_id}")
    told: set[tuple[str, int]] = set()
    deadline = time.monotonic() + seconds
    while True:
        state = str(airflow.dag_run(dag_id, run_id)["state"])
        _tell(airflow, dag_id, run_id, told, console)
        if state in ("success", "failed"):
            return state, run_id
        if time.monotonic() > deadline:
            return f"{state} after {seconds:.0f} s", run_id
        time.sleep(1)


def _wait_for_dag(airflow: AirflowApi, dag_id: str, seconds: float = 120) -> None:
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
