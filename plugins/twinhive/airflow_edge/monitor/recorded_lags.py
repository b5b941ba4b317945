"""Keep how far policies were behind: in the journal for the page, and as metrics for alerts."""

from collections.abc import Sequence
from dataclasses import fields

from twinhive.airflow_edge.monitor import metrics
from twinhive.journal.records import PolicyState
from twinhive.journal.writing import Journal
from twinhive.observe.lag import PolicyLag
from twinhive.observe.lag_alerts import stalled_line

_TOLD = ("trouble", "stalled")
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
    return PolicyState(**same, trouble=trouble, stalled=stalled or None)
