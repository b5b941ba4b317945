"""Run a step inside an Airflow task, and pass over the tasks after it that have nothing to do."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from airflow.sdk import BaseOperator, SkipMixin

from twinhive.core.model.batches import label_for_airflow
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Then
from twinhive.federation.placement.list_copies import CopiesListed
from twinhive.replication.bootstrap.consolidation_round import Folded
from twinhive.replication.bootstrap.list_objects import ObjectsListed
from twinhive.replication.external_tables.list_external import ExternalListed
from twinhive.replication.external_tables.sync_external import ExternalSynced
from twinhive.replication.incremental.window_stage import WindowCut
from twinhive.replication.replica.pending_files import pending_names
from twinhive.runtime.dry_run.rehearsal import rehearse
from twinhive.runtime.pipeline.phases import hand_overs
from twinhive.surfaces.airflow.dags import versions
from twinhive.surfaces.airflow.dags.policy_assets import announce_data
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.monitor_watchdog import tell_of_silence
from twinhive.surfaces.airflow.monitor.recording import Recording, recorded
from twinhive.surfaces.airflow.monitor.task_failures import as_airflow_failures
from twinhive.surfaces.airflow.tasks.dry_run import DRY_RUN, PLAN, leave_to_a_real_run, say_plan
from twinhive.surfaces.airflow.tasks.log_groups import FoldedLog
from twinhive.surfaces.airflow.tasks.replica_events import Announcing
from twinhive.surfaces.airflow.tasks.stage_task import StageOf

PlanningResult = ObjectsListed | Folded | WindowCut | ExternalListed | CopiesListed
"""What the steps return that mapped tasks are expanded over."""

SUMMARY = "summary"
"""Under this key a planning task says in short what it planned, beside the batches."""


class StepOperator(BaseOperator, SkipMixin):
    """Run one step; push a small result that people can read."""

    # Airflow asks this before it runs a task whose upstream task has passed it over.
    inherits_from_skipmixin = True
    template_fields: Sequence[str] = ("batch",)
    ui_color = "#e8f0fe"

    def __init__(self, *, stage: StageOf, batch: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stage = stage
        self.batch = batch

    def execute(self, context: Any) -> Any:
        """Run the step; its lines go to the task's log. In a dry run, the first one says the plan of all."""
        with as_airflow_failures():
            # What a form holds is between Airflow and whoever filled it in: no failure of the replication.
            form = checked_form(context)
            if self.stage.is_first and (said := versions.warning(context)):
                self.log.warning(said)
            with recorded(self.stage, context, self.batch) as recording:
                wiring = self.stage.wiring()
                ports = wiring.write_ports()
                if form[DRY_RUN]:
                    return self._say_plan(context, form, wiring.policy, ports)
                announcing = Announcing.before(self.stage.effects, wiring, ports)
                with FoldedLog(_heard(self.log.info, recording)) as log:
                    step = self.stage.step(wiring, self.batch or {}, context, log)
                    result = recording.watching(step).run(ports)
                outlets, settings = context["outlet_events"], wiring.settings
                announcing.after(result, context)
                if isinstance(result, ExternalSynced):
                    announce_data(outlets, settings, pending_names(ports.replica_files, wiring.policy))
                recording.succeeded(result, wiring, ports)
        if isinstance(result, WindowCut):
            tell_of_silence(wiring.settings, context)
        returned = batches_of(result) if isinstance(result, PlanningResult) else asdict(result)
        if isinstance(result, PlanningResult):
            context["ti"].xcom_push(key=SUMMARY, value=summary_of(result))
        skipped = passed_over(result, self.stage, context["task"].get_flat_relative_ids(upstream=False))
        return self._pass_over(context, skipped, returned)

    def _say_plan(self, context: Any, form: dict[str, Any], policy: Policy, ports: WritePorts) -> Any:
        if not self.stage.is_first:
            leave_to_a_real_run(form)
        plan = rehearse(self.stage.phase, ports, policy, again=form.get("again", False), deep=form.get("deep", False))
        say_plan(plan, self.log.info)
        context["ti"].xcom_push(key=PLAN, value=plan.as_json())
        # Nothing is mapped over what the plan says.
        return self._pass_over(context, context["task"].get_flat_relative_ids(upstream=False), [])

    def _pass_over(self, context: Any, task_ids: Iterable[str], returned: Any) -> Any:
        """End the task, and skip others after it."""
        if skipped := [context["dag"].get_task(task_id) for task_id in sorted(task_ids)]:
            # Skipping ends the task, so that nothing after this line would be pushed.
            context["ti"].xcom_push(key="return_value", value=returned)
            self.skip(context["ti"], skipped)
        return returned


def _heard(say: Callable[[str], None], recording: Recording) -> Callable[[str], None]:
    """Return what says lines, and takes each for a sign that the task goes on."""

    def said(line: str) -> None:
        say(line)
        recording.moves()

    return said


def passed_over(result: Any, stage: StageOf, downstream: Iterable[str]) -> list[str]:
    """Return the ids of the tasks after this one that are skipped, whatever their trigger rules say.

    After an idle window or pass: all of them. After a gate: the stages that publish when there is another round, else
    the task that would start one.
    """
    others = {one.name for one in hand_overs(stage.phase) if one.on is Then.AGAIN and one.after == stage.stage}
    match Then.of(result):
        case Then.END:
            return sorted(downstream)
        case Then.AGAIN:
            return sorted(name for name in downstream if name not in others)
        case Then.GO_ON:
            return sorted(name for name in downstream if name in others)


def batches_of(planned: PlanningResult) -> list[dict[str, str]]:
    """Return what the mapped tasks are expanded over: names and labels, nothing else."""
    return [
        {"dump": planned.dump, "name": batch.name, "label": label_for_airflow(batch.label)} for batch in planned.batches
    ]


def summary_of(planned: PlanningResult) -> dict[str, Any]:
    """Return what was planned without what there may be many of: batches, and what is told of each table."""
    fields = asdict(planned)
    return {name: value for name, value in fields.items() if name not in ("batches", "left_out", "sizes")}
