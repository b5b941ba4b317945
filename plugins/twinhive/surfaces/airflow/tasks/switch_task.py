"""The tasks of a failover and of a failback: each does what its stage says, with the policy as it is now."""

import time
from collections.abc import Iterator
from typing import Any, Final

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import BaseOperator, BaseSensorOperator, SkipMixin

from twinhive.core.step.step_base import Work
from twinhive.operations.failover.switch_steps import PREPARE, Switch
from twinhive.runtime.pipeline.switches import SWITCHES, StartRun, SwitchStep, WaitUntil
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.dags.params import NOTHING_CHANGED
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.recording import recorded_task
from twinhive.surfaces.airflow.monitor.task_failures import as_airflow_failures
from twinhive.surfaces.airflow.tasks.stage_task import StageOf, holder, is_last_try
from twinhive.surfaces.airflow.triggers.deferral_delay import noticed_within

SAID = "said"
"""Under this key `prepare` leaves what is to be approved, as one text."""
_LOOKING: Final = 30.0
_BETWEEN_LOOKS: Final = 2.0
_RESTING: Final = 15.0


def _stage_of(of: StageOf) -> Any:
    return next(stage for stage in SWITCHES[of.phase] if stage.name == of.stage)


def _begun(task: Any, context: Any) -> tuple[Switch, Wiring]:
    """Return what a task's step works with, as the policy and the form are now. Raises InvalidSettings."""
    form, instance, wiring = checked_form(context), context["ti"], task.stage.wiring()
    began = getattr(context["dag_run"], "start_date", None)
    work = Work(wiring.policy, holder=holder(context), report=task.log.info, is_last_try=is_last_try(instance))
    return Switch(
        work,
        form,
        lambda task_id: instance.xcom_pull(task_ids=task_id),
        began.timestamp() if began else 0.0,
        lambda seconds: time.sleep(seconds),
    ), wiring


class SwitchTask(BaseOperator, SkipMixin):
    """Take a step."""

    ui_color = "#fde8e8"
    inherits_from_skipmixin = True

    def __init__(self, *, stage: StageOf, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stage = stage

    def execute(self, context: Any) -> Any:
        """Take the step; return what others need of it."""
        stage: SwitchStep = _stage_of(self.stage)
        with as_airflow_failures():
            switch, wiring = _begun(self, context)
            with recorded_task(self.stage, context):
                found = stage.step(switch, wiring.write_ports())
        if self.task_id == PREPARE:
            context["ti"].xcom_push(key=SAID, value="\n".join(f"* {line}" for line in switch.said))
        if stage.ends(switch.form):
            if switch.form["dry_run"]:
                self.log.info(NOTHING_CHANGED)
            # Skipping ends the task, so that nothing that it returns would be pushed.
            after = context["task"].get_flat_relative_ids(upstream=False)
            self.skip(context["ti"], [context["dag"].get_task(one) for one in sorted(after)])
        return found


class SwitchSensor(BaseSensorOperator):
    """Wait until nothing is missing any more.

    A look every other second for half a minute (half of the task's `execution_timeout` if that is less), as users wait
    for it; then the slot is given back for a while, as what is waited for may need it. Not for less: Airflow may not
    know for five seconds that a task has left its slot, takes it in its next run for lost, and counts a try.
    """

    ui_color = "#fde8e8"

    def __init__(self, *, stage: StageOf, **kwargs: Any) -> None:
        super().__init__(mode="reschedule", poke_interval=max(_RESTING, 2 * noticed_within()), **kwargs)
        self.stage = stage

    def poke(self, context: Any) -> bool:
        """Look until nothing is missing any more, or for so long."""
        stage: WaitUntil = _stage_of(self.stage)
        began = time.monotonic()
        with as_airflow_failures():
            switch, wiring = _begun(self, context)
            ports, said = wiring.write_ports(), None
            if stage.begin:
                stage.begin(switch, ports)
            for wait in self._waits(began):
                if wait:
                    time.sleep(wait)
                missing = stage.missing(switch, ports)
                if missing is None:
                    return True
                if missing != said:
                    self.log.info("%s", missing)
                    said = missing
        return False

    def _waits(self, began: float) -> Iterator[float]:
        """Yield the seconds before each look, while there is time for one."""
        limit = self.execution_timeout
        seconds = _LOOKING if limit is None else min(_LOOKING, limit.total_seconds() / 2)
        yield 0.0
        for _ in range(int(seconds / _BETWEEN_LOOKS)):
            if time.monotonic() - began > seconds:
                return
            yield _BETWEEN_LOOKS


class SwitchStart(TriggerDagRunOperator):
    """Start a run that is named by this run; cleared, it starts that one again.

    Runs of that DAG wait for each other: one that began before ends first.
    """

    ui_color = "#fde8e8"
    template_fields = ()

    def __init__(self, *, stage: StageOf, **kwargs: Any) -> None:
        start: StartRun = _stage_of(stage)
        super().__init__(
            trigger_dag_id=f"{stage.policy}.{start.dag}",
            conf=dict(start.conf),
            logical_date=None,
            reset_dag_run=True,
            openlineage_inject_parent_info=False,
            **kwargs,
        )
        self.stage = stage

    def execute(self, context: Any) -> None:
        """Start it, unless a failover is unplanned or has happened."""
        start: StartRun = _stage_of(self.stage)
        with as_airflow_failures():
            switch, wiring = _begun(self, context)
            ports = wiring.write_ports()
            if said := switch.why_not(ports):
                self.log.info(said[0])
                return
            if start.begin:
                start.begin(switch, ports)
        self.trigger_run_id = start.run_id.format(switch=self.stage.phase, run=context["run_id"])
        super().execute(context)
