"""Callbacks of Airflow for a task or a run that has failed for good: record what nobody has, and tell people at once.

Airflow calls this in the task's own process, and where that was killed in its DAG processor; of a run that failed,
whatever became of its tasks, in the DAG processor too. What may pass by itself, in a DAG that starts again by itself,
is left to the monitor, which tells it when it lasts.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.operations.alerting.alert_message import Message
from twinhive.operations.journal.open_records import Open, what_is_open
from twinhive.operations.journal.records import WHOLE_RUN, Failure
from twinhive.operations.journal.writing import Journal, open_journal
from twinhive.operations.monitoring.lag_alerts import Alert, Failing, failure_alert
from twinhive.runtime.pipeline.phase_facts import FACTS, Start
from twinhive.runtime.settings import load_configuration
from twinhive.surfaces.airflow.monitor.alert_delivery import Teller
from twinhive.surfaces.airflow.monitor.open_failures import failing_of
from twinhive.surfaces.airflow.monitor.task_failures import TaskStopped

_LOG = logging.getLogger(__name__)
_UNSCHEDULED = {phase for phase, facts in FACTS.items() if facts.start in (Start.PERSON, Start.RUN)}
"""Phases that no schedule starts again."""


@dataclass(frozen=True)
class FailureCallback:
    """What Airflow calls of one DAG, with the context of a task, or of a run."""

    config: str
    policy: str
    phase: str
    of_run: bool = False

    def __call__(self, context: Mapping[str, Any]) -> None:
        """Write and tell. Raises nothing: no failure of this may hide the one that it is about."""
        try:
            self._note(context, open_journal())
        except Exception as error:
            _LOG.warning("of a failure of %s.%s nobody was told: %s", self.policy, self.phase, error)

    def _note(self, context: Mapping[str, Any], journal: Journal) -> None:
        error = context.get("exception")
        # Who ends with an error of ours has written it; what was wrong with a form is not open.
        resolved = time.time() if isinstance(error, TaskStopped) else None
        journal.record_unsaid_failure(replace(self._unsaid(context), resolved=resolved))
        opened = _opened()
        to = load_configuration(Path(self.config)).notifications(self.policy)
        if not to.send:
            return
        teller = Teller(journal, opened.messages if opened else None, context, _LOG.warning)
        for alert in self._alerts(opened, error):
            if alert.kind is AlertKind.STOPPED or self.phase in _UNSCHEDULED:
                said = Message.of(alert.policy, alert.kind, alert.about, time.time(), to.owner, alert.error)
                teller.tell(said, to, is_news=self._is_news(context))
        teller.send()

    def _alerts(self, opened: Open | None, error: Any) -> Iterator[Alert]:
        if opened is not None:
            mine = (one for one in failing_of(opened.failures) if (one.policy, one.phase) == (self.policy, self.phase))
        else:
            mine = (one for one in [self._failing(error)] if one is not None)
        yield from (failure_alert(one, 0) for one in mine)

    def _failing(self, error: Any) -> Failing | None:
        """Return what the exception says, for want of a journal."""
        known = error.error if isinstance(error, TaskStopped) else None
        return Failing(self.policy, self.phase, 1, known) if isinstance(known, TwinhiveError) else None

    def _is_news(self, context: Mapping[str, Any]) -> bool:
        """Without a memory, of a hundred tasks over which one is mapped the first one speaks."""
        return getattr(context.get("ti"), "map_index", -1) in (-1, 0, None)

    def _unsaid(self, context: Mapping[str, Any]) -> Failure:
        instance = None if self.of_run else context.get("ti")
        map_index = getattr(instance, "map_index", None)
        dag_id, run_id = str(context["dag"].dag_id), str(context["run_id"])
        return Failure(
            policy=self.policy,
            at=time.time(),
            dag_id=dag_id,
            run_id=run_id,
            task_id=str(instance.task_id) if instance else WHOLE_RUN,
            map_index=-1 if map_index is None else int(map_index),
            try_number=int(getattr(instance, "try_number", None) or 0),
            kind="Killed",
            act_now=False,
            what=f"{'a task' if instance else 'the run'} of {dag_id} failed without a word",
            found=str(context.get("exception") or context.get("reason") or "nothing in its log"),
            expected="an error in the log of the task that failed",
            next_step="see docs/runbooks.md, 'A task was killed'; then clear the red tasks of the run",
        )


def _opened() -> Open | None:
    try:
        return what_is_open()
    except TwinhiveError as error:
        _LOG.warning("what has failed before is not known: %s", error)
        return None


def failure_callbacks(config: Path, policy: str, phase: str) -> dict[str, Any]:
    """Return what the tasks of a DAG call when they have failed for good, as default arguments."""
    return {"on_failure_callback": [FailureCallback(str(config), policy, phase)]}


def run_callbacks(config: Path, policy: str, phase: str) -> list[Any]:
    """Return what is called when a run has failed, whatever its tasks could say."""
    return [FailureCallback(str(config), policy, phase, of_run=True)]
