"""Do in a run whose form says `dry_run` what that means: the first task says the plan, nothing else happens."""

from typing import Any

from airflow.sdk.exceptions import AirflowSkipException

from twinhive.core.model.human_readable import Say
from twinhive.runtime.dry_run.phase_plan import PhasePlan
from twinhive.surfaces.airflow.tasks.log_groups import folded

DRY_RUN = "dry_run"
PLAN = "plan"
"""Under this key the first task of a dry run leaves its plan, as plain values."""


def leave_to_a_real_run(form: dict[str, Any]) -> None:
    """Skip this task in a dry run, also when somebody clears it by itself."""
    if form[DRY_RUN]:
        raise AirflowSkipException("dry run: only the first task does anything, and that is to say the plan")


def say_plan(plan: PhasePlan, say: Say) -> None:
    """Say what a real run would do; the last lines hold it in short."""
    *lines, verdict = plan.lines()
    with folded(say, f"Plan of {plan.policy}.{plan.phase}"):
        for line in lines:
            say(line)
    say(f"dry run, nothing has been changed: {verdict}")
    if not plan.refused and not plan.nothing:
        say("to do it, trigger again without dry_run")
