"""Run a step inside an Airflow task."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from airflow.sdk import BaseOperator

from twinhive.airflow_edge.connections import resolve_from_airflow
from twinhive.airflow_edge.failures import as_airflow_failures
from twinhive.domain.errors import InvalidSettings
from twinhive.settings import load_configuration
from twinhive.steps.base import Work
from twinhive.steps.list_objects import ObjectsListed
from twinhive.steps.phases import Step, stage_of
from twinhive.steps.preflight import Preflight
from twinhive.wiring import Wiring


@dataclass(frozen=True)
class StageOf:
    """A stage of a policy's phase, and where its policy file is: all that a task keeps."""

    config: str
    policy: str
    phase: str
    stage: str
    planned_version: str

    def wiring(self) -> Wiring:
        """Load the configuration as it is now. Raises InvalidSettings."""
        return Wiring.of(load_configuration(Path(self.config)), self.policy, resolve_from_airflow)

    def step(self, wiring: Wiring, batch: dict[str, str], context: Any, report: Any) -> Step:
        """Build the step with what this task instance works on."""
        work = Work(wiring.policy, batch.get("name", ""), batch.get("dump", ""), holder(context), report)
        step = stage_of(self.phase, self.stage).step
        if step is Preflight:
            return Preflight(work, self.planned_version)
        return step(work)


def holder(context: Any) -> dict[str, str]:
    """Say who runs this, for the lease and for people."""
    instance = context["ti"]
    return {"run": str(context["run_id"]), "task": instance.task_id, "try": str(instance.try_number)}


class StepOperator(BaseOperator):
    """Run one step; push a small result that people can read."""

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
            result = step.run(wiring.write_ports())
        return batches_of(result) if isinstance(result, ObjectsListed) else asdict(result)


def refuse_unknown_keys(context: Any) -> None:
    """Refuse a trigger form with a key that the DAG does not have; Airflow takes it without a word."""
    known = set(context["dag"].params)
    unknown = sorted(set(context["dag_run"].conf or {}) - known)
    if unknown:
        raise InvalidSettings(
            f"the trigger form of {context['dag'].dag_id} holds unknown keys",
            found=", ".join(unknown),
            expected=f"only {', '.join(sorted(known))}",
            next_step="trigger a new run without them",
        )


def batches_of(listed: ObjectsListed) -> list[dict[str, str]]:
    """Return what the mapped tasks are expanded over: names and labels, nothing else."""
    return [{"dump": listed.dump, "name": batch.name, "label": batch.label} for batch in listed.batches]
