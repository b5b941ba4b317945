"""Once what is the same of all DAGs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Param

from twinhive.runtime.settings import PolicyEntry
from twinhive.surfaces.airflow.dags.lane_priorities import priority_of
from twinhive.surfaces.airflow.dags.task_resources import TaskKind, placed
from twinhive.surfaces.airflow.monitor.failure_callbacks import failure_callbacks
from twinhive.surfaces.airflow.monitor.task_failures import RETRIES

ALWAYS: Mapping[str, Any] = {
    "catchup": False,
    # A run goes on with the files as they are now, also where Airflow keeps versions of them: who corrects a policy
    # file and clears a task wants the corrected one, and a first copy of days must see changed options.
    "disable_bundle_versioning": True,
}


def with_form(dag: DAG, params: Mapping[str, Param]) -> DAG:
    """Give a DAG that has all its tasks the fields of its form.

    Airflow copies the fields of a DAG to each task that is made after them, and checks each copy's schema several times
    when it stores the DAG. A task that runs gets those of its DAG all the same.
    """
    dag.params = dict(params)  # type: ignore[assignment]  # attrs converts it
    return dag


def dag_arguments(entry: PolicyEntry, config: Path, dag: str, kind: TaskKind) -> dict[str, Any]:
    """Return what is the same of all DAGs of a policy; `dag` is a phase or a form, `kind` that of its tasks."""
    return {
        "dag_id": f"{entry.name}.{dag}",
        "max_active_runs": 1,
        "tags": {"twinhive", entry.name, *(["invalid"] if entry.error else [])},
        "default_args": {
            **RETRIES,
            **priority_of(dag),
            **placed(entry.settings, kind),
            **failure_callbacks(config, entry.name, dag),
        },
        **ALWAYS,
    }
