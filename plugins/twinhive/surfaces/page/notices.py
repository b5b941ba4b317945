"""What keeps the page, or Airflow, from its work: a silent monitor, a journal or a pool that is not there."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.next_steps import command
from twinhive.core.model.text import commands_of
from twinhive.surfaces.page.airflow_links import MONITOR
from twinhive.surfaces.page.dag_runs import DagStanding, PoolWait
from twinhive.surfaces.page.judging import STALE_SECONDS, Level
from twinhive.surfaces.page.readable_numbers import ago


@dataclass(frozen=True)
class Notice:
    """One line above everything else, and the DAG that it speaks of."""

    level: Level
    text: str
    dag_id: str | None = None
    command: str | None = None


def journal_down(error: TwinhiveError) -> Notice:
    """Say that there is no history to show; replication goes on without it."""
    words = error.words
    said = f"{words.what} ({words.found})" if words.found else words.what
    return Notice(Level.BAD, f"Only Airflow's runs are shown: {said}. Replication itself goes on without the journal.")


def pool_notices(waits: Sequence[PoolWait], names: Collection[str]) -> list[Notice]:
    """Say which tasks of some policies or placements wait for a pool that does not exist, and how it is made."""
    return [_without_pool(wait) for wait in waits if wait.dag_id.rpartition(".")[0] in names]


def _without_pool(wait: PoolWait) -> Notice:
    who = f"1 task of {wait.dag_id} waits" if wait.tasks == 1 else f"{wait.tasks:,} tasks of {wait.dag_id} wait"
    make = next(iter(commands_of(command("airflow", "pools", "set", wait.pool, "8", "twinhive"))), None)
    return Notice(Level.BAD, f"{who} for ever: Airflow has no pool {wait.pool}. Make it:", wait.dag_id, make)


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
