"""Make the DAGs of all policies from the phases; build only the one that is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Param, TaskGroup, get_parsing_context, task_group

from twinhive import __version__
from twinhive.airflow_edge.copy_task import CopyOperator
from twinhive.airflow_edge.step_task import StageOf, StepOperator
from twinhive.settings import ClusterSettings, PolicyEntry, load_configuration
from twinhive.steps.phases import PHASES, RunsOn, Stage

_RETRIES: dict[str, Any] = {
    "retries": 3,
    "retry_delay": timedelta(seconds=15),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(minutes=10),
}
_COPY_JOB = "spark_jobs/copy_files.py"


def replication_dags(config: Path, project: Path) -> dict[str, DAG]:
    """Return the DAGs by id, `<policy>.<phase>`.

    `config` holds clusters.yaml and policies/, `project` holds spark_jobs/. When Airflow parses or
    runs one DAG, only that one is built: with hundreds of policies every task start would
    otherwise pay for all of them.
    """
    wanted = get_parsing_context().dag_id
    configuration = load_configuration(config)
    place = Place(config, project)
    return {
        dag_id: build_dag(entry, phase, configuration.clusters, place)
        for entry in configuration.policies.values()
        for phase in PHASES
        if (dag_id := f"{entry.name}.{phase}") == wanted or wanted is None
    }


@dataclass(frozen=True)
class Place:
    """Where the configuration and the Spark jobs are."""

    config: Path
    project: Path


def build_dag(entry: PolicyEntry, phase: str, clusters: Mapping[str, ClusterSettings], place: Place) -> DAG:
    """Build one DAG. A policy that cannot be used gives the same tasks, and each fails with the reason."""
    with DAG(
        dag_id=f"{entry.name}.{phase}",
        description=_description(entry, phase),
        doc_md=_documentation(entry, phase),
        schedule=None,
        catchup=False,
        max_active_runs=1,
        is_paused_upon_creation=True,
        tags={"twinhive", entry.name, *(["invalid"] if entry.error else [])},
        default_args=_RETRIES,
        params=_params(entry),
    ) as dag:
        _Builder(entry, phase, _spark(entry, clusters, place), place).build(PHASES[phase])
    return dag


def _spark(entry: PolicyEntry, clusters: Mapping[str, ClusterSettings], place: Place) -> dict[str, Any]:
    """Return what a Spark task needs to know when the DAG is parsed."""
    arguments: dict[str, Any] = {"application": str(place.project / _COPY_JOB)}
    if entry.settings is not None and entry.settings.replica.cluster in clusters:
        arguments["conn_id"] = clusters[entry.settings.replica.cluster].job_tracker.connection
        arguments["conf"] = dict(entry.settings.options.spark_conf)
        arguments["max_active_tis_per_dagrun"] = entry.settings.options.parallel_copies
    return arguments


def _description(entry: PolicyEntry, phase: str) -> str:
    if entry.settings is None or entry.error:
        return f"{phase}: {entry.path.name} cannot be used"
    source, replica = entry.settings.source, entry.settings.replica
    return f"{phase}: {source.cluster}/{source.database} to {replica.cluster}/{replica.database}"


def _documentation(entry: PolicyEntry, phase: str) -> str:
    problem = f"\n\n```\n{entry.error}\n```" if entry.error else ""
    return f"**{_description(entry, phase)}** (policy file `{entry.path.name}`){problem}"


def _params(entry: PolicyEntry) -> dict[str, Param]:
    threads = entry.settings.options.copy_threads if entry.settings else 8
    return {
        "copy_threads": Param(
            threads,
            type="integer",
            minimum=1,
            maximum=64,
            title="Files copied at the same time by one Spark task",
            description="Lower it to spare the source's DataNodes; the policy file sets the default.",
        )
    }


class _Builder:
    """Turn stages into tasks: unmapped ones as they are, mapped ones inside a mapped task group."""

    def __init__(self, entry: PolicyEntry, phase: str, spark: Mapping[str, Any], place: Place) -> None:
        self._entry = entry
        self._phase = phase
        self._spark = spark
        self._place = place

    def build(self, stages: tuple[Stage, ...]) -> None:
        """Create all tasks of a phase, and the arrows between them."""
        made: dict[str, Any] = {}
        for stage in stages:
            if stage.name in made:
                continue
            if stage.mapped_over:
                group = self._group([other for other in stages if other.mapped_over == stage.mapped_over], made)
                made |= group
            else:
                made[stage.name] = self._task(stage)
                for before in {id(made[name]): made[name] for name in stage.after}.values():
                    before >> made[stage.name]

    def _group(self, stages: list[Stage], made: Mapping[str, Any]) -> dict[str, TaskGroup]:
        """Build one mapped task group: each batch passes its stages without waiting for others."""

        @task_group(group_id="tables", tooltip="one per batch of tables")
        def tables(batch: Any) -> None:
            before = None
            for stage in stages:
                task = self._task(stage, batch)
                if before is not None:
                    before >> task
                before = task

        group = tables.expand(batch=made[stages[0].mapped_over or ""].output)
        return {stage.name: group for stage in stages}

    def _task(self, stage: Stage, batch: Any = None) -> Any:
        stage_of = StageOf(str(self._place.config), self._entry.name, self._phase, stage.name, __version__)
        common: dict[str, Any] = {"task_id": stage.name, "stage": stage_of}
        if stage.mapped_over:
            common |= {"batch": batch, "map_index_template": "{{ task.batch['label'] }}"}
        elif stage.after:
            # A phase with nothing to map over skips its mapped tasks; the rest goes on.
            common |= {"trigger_rule": "none_failed"}
        if stage.runs_on is RunsOn.SPARK:
            return CopyOperator(**self._spark, **common)
        return StepOperator(**common)
