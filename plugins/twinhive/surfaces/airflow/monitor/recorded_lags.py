"""Keep how far policies were behind: in the journal for the page, and as metrics for alerts."""

from collections.abc import Sequence
from dataclasses import fields

from twinhive.operations.journal.records import HeldSets, PolicyState
from twinhive.operations.journal.writing import Journal
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.lag_alerts import stalled_line
from twinhive.surfaces.airflow.monitor import metrics

_TOLD = ("trouble", "stalled", "held_sets")
_HELD = 100
_NAMED = 3


def record_lags(journal: Journal, lags: Sequence[PolicyLag]) -> None:
    """Write what was measured. Neither journal nor metrics raise anything."""
    progress = {lag.policy: lag.watched.progress for lag in lags if lag.watched.progress}
    journal.record_states([state_of(lag) for lag in lags], progress)
    metrics.lags_measured(lags)
    metrics.flush()


def state_of(lag: PolicyLag) -> PolicyState:
    """Return what the journal keeps of a measurement; `trouble` is all that the error says."""
    same = {field.name: getattr(lag, field.name) for field in fields(PolicyState) if field.name not in _TOLD}
    trouble = None if lag.error is None else str(lag.error)
    stalled = "; ".join(stalled_line(one, lag.at) for one in lag.stalled[:_NAMED])
    return PolicyState(**same, trouble=trouble, stalled=stalled or None, held_sets=_held(lag))


def _held(lag: PolicyLag) -> str | None:
    """Return the sets that are held, those that are so for the longest first, as `PolicyState` wants them."""
    if not (held := lag.watched.held):
        return None
    oldest = sorted(held.items(), key=lambda one: (one[1].since, one[0]))[:_HELD]
    return HeldSets(len(held), [(name, note.why, note.since) for name, note in oldest]).as_json()
