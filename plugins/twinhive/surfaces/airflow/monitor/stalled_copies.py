"""Find the copies that move nothing: from what they have noted, and from what Airflow says of their tasks."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.operations.journal.writing import open_journal
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.monitored_policy import Limits
from twinhive.runtime.settings import Configuration, PlacementEntry
from twinhive.runtime.settings.watch_settings import CopyWatchSettings

IsRunning = Callable[[CopyAtWork], bool]

_LOG = logging.getLogger(__name__)


def with_stalled(
    found: Iterable[PolicyLag], copies: Sequence[CopyAtWork], is_running: IsRunning | None = None
) -> list[PolicyLag]:
    """Return the policies, or placements, with those of their copies that have moved nothing for longer than they may.

    What does not run any more was killed before it could say that it ends: it is forgotten.
    """
    asked = is_running or airflow_runs
    return [replace(lag, stalled=_stalled(lag, copies, asked)) for lag in found]


def placements_at(configuration: Configuration, at: float) -> list[PolicyLag]:
    """Return the placements as what is judged like policies: without a lag, but with copies that may stand still.

    One whose file cannot be used has no schedule either: nobody else would tell of it.
    """
    entries = sorted(configuration.placements.items())
    return [PolicyLag(name, at, error=_error(entry), limits=_limits(entry)) for name, entry in entries]


def _error(entry: PlacementEntry) -> TwinhiveError | None:
    try:
        entry.usable()
    except TwinhiveError as error:
        return error
    return None


def _limits(entry: PlacementEntry) -> Limits:
    watch = entry.settings.watch if entry.settings else CopyWatchSettings()
    return Limits(failed_for=watch.failed_for, stalled_for=watch.stalled_for)


def _stalled(lag: PolicyLag, copies: Sequence[CopyAtWork], is_running: IsRunning) -> tuple[CopyAtWork, ...]:
    limit = lag.limits.stalled_for
    if limit is None:
        return ()
    quiet = [one for one in copies if one.policy == lag.policy and one.stands(lag.at) > limit]
    stalled = [one for one in quiet if is_running(one)]
    for gone in (one for one in quiet if one not in stalled):
        open_journal().copy_ends(gone)
    return tuple(stalled)


def airflow_runs(work: CopyAtWork) -> bool:
    """Tell whether Airflow has the task running; what it does not answer leaves it at what was noted."""
    try:
        states = RuntimeTaskInstance.get_task_states(
            dag_id=work.dag_id,
            map_index=None if work.map_index < 0 else work.map_index,
            task_ids=[work.task_id],
            run_ids=[work.run_id],
        )
    except Exception as error:
        _LOG.warning("whether %s of %s runs is not known: %s", work.task, work.dag_id, error)
        return True
    return any(str(state) == "running" for state in states.get(work.run_id, {}).values())
