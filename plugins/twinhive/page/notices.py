"""Say what is wrong with the page itself: nobody looks at the policies, or the journal does not answer."""

from dataclasses import dataclass

from twinhive.domain.errors import TwinhiveError
from twinhive.page.dag_runs import DagStanding
from twinhive.page.judging import STALE_SECONDS, Level
from twinhive.page.links import MONITOR
from twinhive.page.words import ago


@dataclass(frozen=True)
class Notice:
    """One line above everything else, and the DAG that it speaks of."""

    level: Level
    text: str
    dag_id: str | None = None


def journal_down(error: TwinhiveError) -> Notice:
    """Say that there is no history to show; replication goes on without it."""
    said = f"{error.what} ({error.found})" if error.found else error.what
    return Notice(Level.BAD, f"Only Airflow's runs are shown: {said}. Replication itself goes on without the journal.")


def monitor_notice(monitor: DagStanding | None, looked_at: float | None, now: float) -> Notice | None:
    """Say why nothing new is seen, when that is so; `looked_at` is the newest time that a policy was looked at."""
    if looked_at is not None and now - looked_at <= STALE_SECONDS:
        return None
    seen = "Nothing is recorded yet" if looked_at is None else f"Last looked at {ago(looked_at, now)}"
    if monitor is None:
        return Notice(Level.WARN, f"{seen}: Airflow does not know the DAG {MONITOR}; see its import errors.")
    if monitor.paused:
        return Notice(
            Level.WARN, f"{seen}: {MONITOR} is paused. Unpause it; it looks at all policies each minute.", MONITOR
        )
    return Notice(Level.WARN, f"{seen}: {MONITOR} is not paused; see its last run.", MONITOR)
