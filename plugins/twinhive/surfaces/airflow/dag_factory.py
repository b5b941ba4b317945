"""Make the DAGs of all policies from the phases; build only the one that is asked for."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, get_parsing_context, task_group

from twinhive.core.model.errors import TwinhiveError
from twinhive.runtime.pipeline.phase_facts import Start, facts_of
from twinhive.runtime.pipeline.phases import PHASES, PLACEMENT_PHASES, RunsOn, Stage, hand_overs, stages_of
from twinhive.runtime.pipeline.switches import SWITCHES
from twinhive.runtime.settings import ClusterSettings, PolicyEntry, load_configuration
from twinhive.runtime.spark.applications import look_in
from twinhive.surfaces.airflow.dags.dag_arguments import dag_arguments, with_form
from twinhive.surfaces.airflow.dags.dag_file_shares import WHOLE, Share, is_in, makes_the_rest, refuse_unusable
from twinhive.surfaces.airflow.dags.lane_priorities import EVENT_LANE, EXTERNAL_LANE, has_hand_over, limits_of
from twinhive.surfaces.airflow.dags.monitor_dag import MONITOR, Notify, monitor_dag
from twinhive.surfaces.airflow.dags.move_dag import MOVE, move_dag, sharing_clusters
from twinhive.surfaces.airflow.dags.operate_dag import FORMS, form_dag
from twinhive.surfaces.airflow.dags.params import params_of
from twinhive.surfaces.airflow.dags.policy_assets import outlets_of
from twinhive.surfaces.airflow.dags.schedule import Crowd, schedule_of
from twinhive.surfaces.airflow.dags.sql_dag import SQL, sql_dag
from twinhive.surfaces.airflow.dags.switch_dag import switch_dag
from twinhive.surfaces.airflow.dags.task_resources import TaskKind, most_active_tasks, placed, refuse_unknown_executors
from twinhive.surfaces.airflow.monitor.failure_callbacks import run_callbacks
from twinhive.surfaces.airflow.tasks.copy_task import CopyOperator
from twinhive.surfaces.airflow.tasks.hand_over import HandOverOperator
from twinhive.surfaces.airflow.tasks.stage_task import StageOf
from twinhive.surfaces.airflow.tasks.step_task import StepOperator

_log = logging.getLogger(__name__)
_COPY_JOB = "copy_files"


def replication_dags(
    config: Path, project: Path, notify: Sequence[Notify] = (), *, statements: bool = True, share: Share = WHOLE
) -> dict[str, DAG]:
    """Return the DAGs by id: of each policy (phases, failover, failback, forms), `twinhive.monitor`, `twinhive.sql`.

    `config` holds clusters.yaml, policies/, and placements/ with one DAG each, `<placement>.copies`; `project` holds
    spark_jobs/; `notify` are called with the context of a
    task when the monitor finds something new (Airflow's notifiers, or functions). When Airflow parses or
    runs one DAG, only that one is built: with hundreds of policies every task start would
    otherwise pay for all of them. `statements=False` leaves out `twinhive.sql`, whose form reaches every
    database of every cluster. `share=(1, 4)` makes the DAGs of one policy of four, and the first share those that are
    no policy's: each share in a file of its own, all with the same configuration.
    """
    refuse_unusable(share)
    wanted = get_parsing_context().dag_id
    look_in(project)
    configuration = load_configuration(config)
    place = Place(config, project, Crowd.of(configuration.policies.values()))
    makers: dict[str, Callable[[], DAG | None]] = {}
    for entry in configuration.policies.values():
        if is_in(share, entry.name):
            makers |= _makers(entry, configuration.clusters, place, PHASES, FORMS)
    for placement in configuration.placements.values():
        if is_in(share, placement.name):
            makers |= _makers(placement.as_policy(), configuration.clusters, place, PLACEMENT_PHASES, {})
    if makes_the_rest(share):
        makers[MONITOR] = partial(monitor_dag, config, notify)
    if statements and makes_the_rest(share):
        makers[SQL] = partial(sql_dag, config, configuration)
    if sharing_clusters(configuration) and makes_the_rest(share):
        makers[MOVE] = partial(move_dag, config, configuration)
    built = {dag_id: make() for dag_id, make in makers.items() if wanted in (dag_id, None)}
    return {dag_id: dag for dag_id, dag in built.items() if dag is not None}


def _makers(
    entry: PolicyEntry,
    clusters: Mapping[str, ClusterSettings],
    place: "Place",
    phases_of_it: Iterable[str],
    forms_of_it: Mapping[str, Any],
) -> dict[str, Callable[[], DAG | None]]:
    """Return what makes each of the DAGs of a policy, or of a placement."""
    phases = {phase: partial(build_dag, phase=phase, clusters=clusters, place=place) for phase in phases_of_it}
    forms = {name: partial(form_dag, config=place.config, form=form) for name, form in forms_of_it.items()}
    if forms_of_it:
        forms |= {name: partial(switch_dag, config=place.config, switch=name) for name in SWITCHES}
    return {f"{entry.name}.{name}": partial(_red_or, build, entry) for name, build in {**phases, **forms}.items()}


def _red_or(build: Callable[[PolicyEntry], DAG], entry: PolicyEntry) -> DAG | None:
    """Build a DAG; of a policy that Airflow cannot take, the red one. None, with the log saying why, if not even that.

    One odd policy must not take the DAGs of all others along.
    """
    try:
        refuse_unknown_executors(entry)
        return build(entry)
    except Exception as error:
        said = str(error) if isinstance(error, TwinhiveError) else f"{type(error).__name__}: {error}"
        _log.error("policy %s: Airflow cannot take its DAGs: %s", entry.name, said)
        red = replace(entry, settings=None, error=entry.error or f"{entry.path.name} cannot be used: {said}")
        try:
            return build(red)
        except Exception:
            _log.exception("policy %s: no DAG at all", entry.name)
            return None


@dataclass(frozen=True)
class Place:
    """Where the configuration and the Spark jobs are, and how many policies there are."""

    config: Path
    project: Path
    crowd: Crowd


def build_dag(entry: PolicyEntry, phase: str, clusters: Mapping[str, ClusterSettings], place: Place) -> DAG:
    """Build one DAG. A policy that cannot be used gives the same tasks, and each fails with the reason."""
    with DAG(
        description=_description(entry, phase),
        doc_md=_documentation(entry, phase),
        schedule=schedule_of(entry, phase, clusters, place.crowd),
        # A person starts the first copy; what follows from it goes on by itself.
        is_paused_upon_creation=facts_of(phase).start is Start.PERSON or entry.reverse_of is not None,
        on_failure_callback=run_callbacks(place.config, entry.name, phase),
        **most_active_tasks(entry.settings),
        **dag_arguments(entry, place.config, phase, TaskKind.STEPS),
    ) as dag:
        _Builder(entry, phase, _spark(entry, clusters, place), place).build(stages_of(phase))
    return with_form(dag, params_of(entry, phase))


def _spark(entry: PolicyEntry, clusters: Mapping[str, ClusterSettings], place: Place) -> dict[str, Any]:
    """Return what a Spark task needs to know when the DAG is parsed."""
    arguments: dict[str, Any] = {"application": str(place.project / "spark_jobs" / f"{_COPY_JOB}.py")}
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


class _Builder:
    """Turn stages into tasks; stages that are mapped over the same batches become one mapped task group."""

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
            together = [other for other in stages if stage.mapped_over and other.mapped_over == stage.mapped_over]
            if len(together) > 1:
                made |= self._group(together, made)
            elif stage.mapped_over:
                made[stage.name] = self._mapped(stage, made[stage.mapped_over].output)
            else:
                made[stage.name] = self._task(stage)
                for before in {id(made[name]): made[name] for name in stage.after}.values():
                    before >> made[stage.name]
        self._hand_over(made)

    def _group(self, stages: list[Stage], made: Mapping[str, Any]) -> dict[str, Any]:
        """Build one mapped task group: each batch passes its stages without waiting for others."""

        @task_group(group_id="tables", tooltip="one per batch of tables")
        def tables(batch: Any) -> None:
            before = None
            for stage in stages:
                task = self._task(stage, batch=batch)
                if before is not None:
                    before >> task
                before = task

        group = tables.expand(batch=made[stages[0].mapped_over or ""].output)
        return {stage.name: group for stage in stages}

    def _mapped(self, stage: Stage, batches: Any) -> Any:
        operator, arguments = self._operator(stage)
        return operator.partial(**arguments).expand(batch=batches)

    def _task(self, stage: Stage, **more: Any) -> Any:
        operator, arguments = self._operator(stage)
        return operator(**arguments, **more)

    def _operator(self, stage: Stage) -> tuple[type[Any], dict[str, Any]]:
        arguments: dict[str, Any] = {"task_id": stage.name, "stage": self._stage_of(stage.name)}
        if stage.mapped_over:
            arguments["map_index_template"] = "{{ task.batch['label'] }}"
        elif stage.after:
            # A phase with nothing to map over skips its mapped tasks; the rest goes on.
            arguments["trigger_rule"] = "none_failed"
        if self._entry.settings:
            arguments["outlets"] = outlets_of(stage.effects, self._entry.settings)
        is_external = bool(stage.mapped_over) and self._phase == EXTERNAL_LANE
        if is_external and self._entry.settings:
            arguments |= limits_of(self._entry.settings)
        if stage.runs_on is RunsOn.SPARK:
            return CopyOperator, {**self._spark, **arguments, **self._placed(TaskKind.COPIES)}
        if is_external:
            return StepOperator, {**arguments, **self._placed(TaskKind.EXTERNAL)}
        return StepOperator, {**arguments, **self._placed(self._usual)}

    @property
    def _usual(self) -> TaskKind:
        return TaskKind.EVENTS if self._phase == EVENT_LANE else TaskKind.STEPS

    def _placed(self, kind: TaskKind) -> dict[str, Any]:
        return placed(self._entry.settings, kind)

    def _hand_over(self, made: Mapping[str, Any]) -> None:
        """Create the tasks that start the runs which go on from here."""
        for hand_over in hand_overs(self._phase):
            if not has_hand_over(self._entry.settings, hand_over):
                continue
            made[hand_over.after] >> HandOverOperator(
                task_id=hand_over.name,
                stage=self._stage_of(hand_over.name),
                hand_over=hand_over,
                trigger_rule="none_failed",
                **self._placed(self._usual),
            )

    def _stage_of(self, name: str) -> StageOf:
        return StageOf(str(self._place.config), self._entry.name, self._phase, name)
