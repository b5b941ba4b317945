"""Keep which sets a replica shows for the page, and how long they took as a metric."""

from collections.abc import Iterable

from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_mark import SetMark
from twinhive.core.ports import ReadPorts
from twinhive.operations.journal.records import RecordedSet
from twinhive.operations.journal.writing import Journal
from twinhive.publishing.sets.listed_sets import shown_sets
from twinhive.replication.replica.sets_run import run_of_sets
from twinhive.surfaces.airflow.monitor import metrics

_MOST = 1_000


def record_sets(journal: Journal, ports: ReadPorts, policy: Policy, run_id: str) -> None:
    """Write the newest sets that a replica shows, where the run has changed any of them."""
    if run_of_sets(ports.replica_files, policy) != run_id:
        return
    shown = [one for one in shown_sets(ports.replica, policy.replica.database) if one.shown is not None]
    newest = sorted(shown, key=lambda one: -(one.shown or 0))[:_MOST]
    journal.sets_shown(policy.name, [_recorded(policy, one) for one in newest])
    if (seconds := slowest(shown, run_id)) is not None:
        metrics.set_shown(policy.name, seconds)


def slowest(shown: Iterable[SetMark], run_id: str) -> float | None:
    """Return the longest time that a set of this run took from its mark until it was shown; None: it has shown none."""
    took = [float(max(0, (one.shown or 0) - one.marked)) for one in shown if one.shown_by == run_id]
    return max(took, default=None)


def _recorded(policy: Policy, one: SetMark) -> RecordedSet:
    return RecordedSet(policy.name, one.table.table, one.spec, one.marked, one.shown or 0, one.count, one.by)
