"""Notice that the monitor does not look any more: the task that runs most often of each policy looks after it."""

import logging
import time
from collections.abc import Mapping
from typing import Any

from twinhive.core.model.errors import ActNow, TwinhiveError
from twinhive.core.model.human_readable import spoken_time
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.operations.alerting.alert_message import Message
from twinhive.operations.journal.open_records import what_is_open
from twinhive.operations.journal.writing import open_journal
from twinhive.runtime.settings import PolicySettings
from twinhive.surfaces.airflow.monitor.alert_delivery import Teller

SILENT_SECONDS = 900.0
"""So long nobody has looked before that is told; the page says it earlier."""

_LOG = logging.getLogger(__name__)


def tell_of_silence(settings: PolicySettings, context: Mapping[str, Any]) -> None:
    """Tell the people of a policy when the monitor has been silent for too long. Raises nothing.

    An installation whose monitor has never run has not begun to be watched.
    """
    try:
        opened = what_is_open()
    except TwinhiveError:
        return
    seen = opened.monitor_at
    if seen is None or time.time() - seen <= SILENT_SECONDS:
        return
    error = _silent(settings.policy, time.time() - seen)
    _LOG.warning("%s", error)
    to = settings.notifications
    message = Message.of(settings.policy, AlertKind.SILENT, "", seen, to.owner, error)
    teller = Teller(open_journal(), opened.messages, context, _LOG.warning)
    teller.tell(message, to, is_news=True)
    teller.send()


def _silent(policy: str, seconds: float) -> ActNow:
    return ActNow(
        f"nobody watches policy {policy}: the DAG twinhive.monitor has not looked at it",
        found=f"its last look was {spoken_time(seconds)} ago",
        expected="one each minute",
        next_step="look at its newest run; without one, unpause it: airflow dags unpause twinhive.monitor",
    )
