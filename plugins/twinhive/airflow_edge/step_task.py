"""Run a step inside an Airflow task, and pass over the tasks after it that have nothing to do."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from airflow.sdk import BaseOperator, SkipMixin

from twinhive.airflow_edge.assets import announce, announce_data, announce_pending
from twinhive.airflow_edge.failures import as_airflow_failures
from twinhive.airflow_edge.stage_task import StageOf, refuse_unknown_keys
from twinhive.steps.apply import WindowApplied
from twinhive.steps.external_pass import ExternalListed
from twinhive.steps.gate import GateOpen
from twinhive.steps.list_objects import ObjectsListed
from twinhive.steps.load import Loaded
from twinhive.steps.pending_files import pending_names
from twinhive.steps.phases import HAND_OVERS
from twinhive.steps.round import Folded
from twinhive.steps.sync_external import ExternalSynced
from twinhive.steps.window import WindowCut

Planned = ObjectsListed | Folded | WindowCut | ExternalListed
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
        """Run the step; its lines go to the task's log."""
        with as_airflow_failures():
            refuse_unknown_keys(context)
            wiring = self.stage.wiring()
            step = self.stage.step(wiring, self.batch or {}, context, self.log.info)
            ports = wiring.write_ports()
            result = step.run(ports)
            outlets, settings = context["outlet_events"], wiring.settings
            if isinstance(result, Loaded | WindowApplied):
                waiting = pending_names(ports.replica_files, wiring.policy)
                announce(outlets, settings, result.event_id, ports.source.current_event_id(), waiting)
                announce_pending(outlets, settings, result.pending)
            if isinstance(result, ExternalSynced):
                announce_data(outlets, settings, pending_names(ports.replica_files, wiring.policy))
        returned = batches_of(result) if isinstance(result, Planned) else asdict(result)
        if isinstance(result, Planned):
            context["ti"].xcom_push(key=SUMMARY, value=summary_of(result))
        if skipped := passed_over(result, self.stage.phase, context["task"].get_flat_relative_ids(upstream=False)):
            # Skipping ends the task, so that nothing after this line would be pushed.
            context["ti"].xcom_push(key="return_value", value=returned)
            self.skip(context["ti"], [context["dag"].get_task(task_id) for task_id in skipped])
        return returned


def passed_over(result: Any, phase: str, downstream: Iterable[str]) -> list[str]:
    """Return the ids of the tasks after this one that are skipped, whatever their trigger rules say.

    An idle window or pass: all of them. A gate: the stages that publish when there is another round, else the task
    that would start one.
    """
    if isinstance(result, WindowCut | ExternalListed):
        return sorted(downstream) if result.idle else []
    if isinstance(result, GateOpen):
        next_round = {hand_over.name for hand_over in HAND_OVERS[phase]}
        return sorted(name for name in downstream if (name in next_round) != result.another_round)
    return []


def batches_of(planned: Planned) -> list[dict[str, str]]:
    """Return what the mapped tasks are expanded over: names and labels, nothing else."""
    return [{"dump": planned.dump, "name": batch.name, "label": batch.label} for batch in planned.batches]


def summary_of(planned: Planned) -> dict[str, Any]:
    """Return what was planned without its batches, of which there may be many."""
    fields = asdict(planned)
    return {name: value for name, value in fields.items() if name not in ("batches", "left_out")}
