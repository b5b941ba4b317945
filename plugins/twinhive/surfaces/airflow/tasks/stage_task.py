"""Which stage of which policy a task is for, and build its step when the task runs."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from twinhive.core.step.step_base import Work
from twinhive.runtime.pipeline.phases import Effect, Step, stage_of, stages_of
from twinhive.runtime.pipeline.runner import RunOptions, step_of
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.tasks.external_copies import copies_of


@dataclass(frozen=True)
class StageOf:
    """A stage of a policy's phase, and where its policy file is: all that a task keeps."""

    config: str
    policy: str
    phase: str
    stage: str

    def wiring(self) -> Wiring:
        """Load the configuration as it is now. Raises InvalidSettings."""
        return Wiring.of(load_configuration(Path(self.config)), self.policy, resolve_from_airflow)

    @property
    def is_first(self) -> bool:
        """True for the stage that a run of the phase begins with."""
        return any(stage.name == self.stage for stage in stages_of(self.phase)[:1])

    @property
    def effects(self) -> frozenset[Effect]:
        """What the stage may bring about; nothing for a hand-over, which is none."""
        return next((one.effects for one in stages_of(self.phase) if one.name == self.stage), frozenset())

    def step(self, wiring: Wiring, batch: dict[str, str], context: Any, report: Any) -> Step:
        """Build the step with what this task instance works on."""
        params = context["params"]
        threads = params.get("copy_threads", wiring.policy.options.copy_threads)
        work = Work(
            replace(wiring.policy, options=replace(wiring.policy.options, copy_threads=threads)),
            batch.get("name", ""),
            batch.get("dump", ""),
            holder(context),
            report,
            is_last_try=is_last_try(context["ti"]),
        )
        options = RunOptions(params.get("again", False), params.get("deep", False), copies_of(wiring))
        return step_of(stage_of(self.phase, self.stage), work, options)


def is_last_try(instance: Any) -> bool:
    """Tell whether Airflow gives a task no other try when this one fails; a clear gives new ones."""
    return int(instance.try_number) > int(getattr(instance, "max_tries", None) or 0)


def holder(context: Any) -> dict[str, str]:
    """Say who runs this, for the lease and for people."""
    instance = context["ti"]
    # Runs that nobody triggered have no user; neither have those of an Airflow without users.
    user = getattr(context.get("dag_run"), "triggering_user_name", None)
    said = {"run": str(context["run_id"]), "task": instance.task_id, "try": str(instance.try_number)}
    return {**said, "by": str(user)} if user else said
