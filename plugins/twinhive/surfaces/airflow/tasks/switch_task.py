"""What the tasks of a failover and of a failback have in common: their policy, their record, and what they skip."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from airflow.sdk import BaseOperator, BaseSensorOperator, SkipMixin

from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.recording import recorded_task
from twinhive.surfaces.airflow.monitor.task_failures import as_airflow_failures
from twinhive.surfaces.airflow.tasks.stage_task import StageOf
from twinhive.surfaces.airflow.triggers.deferral_delay import noticed_within

SAID = "said"
"""Under this key `prepare` leaves what is to be approved, as one text."""
_LOOKING: Final = 30.0
_BETWEEN_LOOKS: Final = 2.0
_RESTING: Final = 15.0


def wired(config: str, policy: str) -> Wiring:
    """Look the task's policy up. Raises InvalidSettings."""
    return Wiring.of(load_configuration(Path(config)), policy, resolve_from_airflow)


class SwitchTask(BaseOperator, SkipMixin):
    """Be one task of a switch; `_do` is what the task is called.

    switch   the DAG that it belongs to
    """

    inherits_from_skipmixin = True
    switch: ClassVar[str]

    def __init__(self, *, config: str, policy: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.policy = policy

    def execute(self, context: Any) -> Any:
        """Do the task's part; return what others need of it."""
        with as_airflow_failures():
            form = checked_form(context)
            wiring = wired(self.config, self.policy)
            with recorded_task(StageOf(self.config, self.policy, self.switch, self.task_id), context):
                found = self._do(context, form, wiring.policy, wiring.write_ports())
        if self._is_last(form):
            # Skipping ends the task, so that nothing that it returns would be pushed.
            after = context["task"].get_flat_relative_ids(upstream=False)
            self.skip(context["ti"], [context["dag"].get_task(one) for one in sorted(after)])
        return found

    def _do(self, context: Any, form: dict[str, Any], policy: Policy, ports: WritePorts) -> Any:
        raise NotImplementedError

    def _is_last(self, form: dict[str, Any]) -> bool:
        """Tell whether all tasks after this one are passed over."""
        return False

    def _say(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.log.info(line)


class SwitchSensor(BaseSensorOperator):
    """Wait until nothing is missing any more.

    A look every other second for half a minute (half of the task's `execution_timeout` if that is less), as users wait
    for it; then the slot is given back for a while, as what is waited for may need it. Not for less: Airflow may not
    know for five seconds that a task has left its slot, takes it in its next run for lost, and counts a try.
    """

    def __init__(self, *, config: str, policy: str, **kwargs: Any) -> None:
        super().__init__(mode="reschedule", poke_interval=max(_RESTING, 2 * noticed_within()), **kwargs)
        self.config = config
        self.policy = policy

    def poke(self, context: Any) -> bool:
        """Look until nothing is missing any more, or for so long."""
        began = time.monotonic()
        with as_airflow_failures():
            form = checked_form(context)
            wiring = wired(self.config, self.policy)
            ports, said = wiring.write_ports(), None
            for line in self._begin(wiring.policy, ports):
                self.log.info(line)
            for wait in self._waits(began):
                if wait:
                    time.sleep(wait)
                missing = self._missing(context, form, wiring.policy, ports)
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

    def _begin(self, policy: Policy, ports: WritePorts) -> Sequence[str]:
        """Do what has to be done before the first look; return what was done, for people."""
        return ()

    def _missing(self, context: Any, form: dict[str, Any], policy: Policy, ports: WritePorts) -> str | None:
        raise NotImplementedError
