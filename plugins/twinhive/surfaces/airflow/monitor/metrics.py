"""Send what replication does as metrics of Airflow, each with the policy's name as a tag (docs/metrics.md).

Nobody waits for them, and none of them fails a task.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from airflow.sdk.observability import stats
from opentelemetry.metrics import get_meter_provider

from twinhive.operations.journal.time_limit import within
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.publisher_alerts import is_in_trouble
from twinhive.operations.monitoring.publishers import PublisherSeen
from twinhive.replication.verify.verification_outcome import Verified

LAG_SECONDS = "twinhive.lag.seconds"
LAG_EVENTS = "twinhive.lag.events"
RPO_SECONDS = "twinhive.rpo.seconds"
RPO_EVENTS = "twinhive.rpo.events"
LAG_LIMIT = "twinhive.lag.limit.seconds"
TROUBLE = "twinhive.policy.trouble"
FILES_COPIED = "twinhive.files.copied"
BYTES_COPIED = "twinhive.bytes.copied"
EVENTS_APPLIED = "twinhive.events.applied"
FAILURES = "twinhive.failures"
OPEN_FAILURES = "twinhive.failures.open"
STALLED = "twinhive.copies.stalled"
QUARANTINED = "twinhive.tables.quarantined"
PENDING = "twinhive.external.pending"
PENDING_AGE = "twinhive.external.pending.seconds"
SETS_HELD = "twinhive.sets.held"
SETS_HELD_AGE = "twinhive.sets.held.seconds"
SET_SECONDS = "twinhive.set.seconds"
PUBLISHER_EVENTS = "twinhive.publisher.behind.events"
PUBLISHER_SECONDS = "twinhive.publisher.behind.seconds"
PUBLISHER_LIMIT = "twinhive.publisher.limit.seconds"
PUBLISHER_TROUBLE = "twinhive.publisher.trouble"
BROKER_DOWN = "twinhive.broker.down"
EXTERNAL_AGE = "twinhive.external.age.seconds"
EXTERNAL_LIMIT = "twinhive.external.limit.seconds"
FREE = "twinhive.replica.free.bytes"
FREE_LIMIT = "twinhive.replica.free.limit.bytes"
MONITOR_AT = "twinhive.monitor.at"
FINDINGS = "twinhive.verify.findings"
UNJUDGED = "twinhive.verify.unjudged"
VERIFIED_AT = "twinhive.verify.at"
UNTOLD = "twinhive.messages.failed"

_LOG = logging.getLogger(__name__)
_FLUSH_SECONDS = 2.0
_FAMILIES = {True: "act_now", False: "try_again"}


def lags_measured(lags: Iterable[PolicyLag]) -> None:
    """Send how far each policy is behind, what it may be, and whether something is wrong with it."""
    with _sending():
        for lag in lags:
            tags = {"policy": lag.policy}
            stats.gauge(TROUBLE, int(lag.error is not None), tags=tags)
            _gauge(LAG_SECONDS, lag.lag_seconds, tags)
            _gauge(LAG_EVENTS, lag.lag_events, tags)
            _gauge(RPO_SECONDS, lag.rpo_seconds, tags)
            _gauge(RPO_EVENTS, lag.rpo_events, tags)
            _gauge(LAG_LIMIT, lag.max_lag, tags)
            _watched(lag, tags)


def copies_stalled(lags: Iterable[PolicyLag]) -> None:
    """Send how many copies move nothing, 0 too: by policy or placement."""
    with _sending():
        for lag in lags:
            stats.gauge(STALLED, len(lag.stalled), tags={"policy": lag.policy})


def failures_open(policies: Iterable[str], open_ones: Mapping[tuple[str, str], int]) -> None:
    """Send how many failures nothing has made up for, 0 too: by policy or placement, and family."""
    with _sending():
        for policy in policies:
            for family in _FAMILIES.values():
                tags = {"policy": policy, "family": family}
                stats.gauge(OPEN_FAILURES, open_ones.get((policy, family), 0), tags=tags)


def verified(policy: str, found: Verified) -> None:
    """Send what a verification of a whole replica has found, and when."""
    with _sending():
        stats.gauge(FINDINGS, found.found, tags={"policy": policy})
        stats.gauge(UNJUDGED, found.unjudged, tags={"policy": policy})
        stats.gauge(VERIFIED_AT, time.time(), tags={"policy": policy})


def set_shown(policy: str, seconds: float) -> None:
    """Send how long a set has taken from its mark at the source until the replica shows it."""
    with _sending():
        stats.gauge(SET_SECONDS, seconds, tags={"policy": policy})


def publishers_seen(found: Iterable[PublisherSeen]) -> None:
    """Send how far what happens on each cluster is told, and whether its broker answers."""
    with _sending():
        for one in found:
            tags = {"cluster": one.cluster}
            stats.gauge(BROKER_DOWN, int(one.broker_trouble is not None), tags=tags)
            stats.gauge(PUBLISHER_TROUBLE, int(is_in_trouble(one)), tags=tags)
            _gauge(PUBLISHER_EVENTS, one.events, tags)
            _gauge(PUBLISHER_SECONDS, one.behind_seconds, tags)
            _gauge(PUBLISHER_LIMIT, one.max_silence, tags)


def monitor_was_here(at: float) -> None:
    """Send when the monitor has looked at all policies."""
    with _sending():
        stats.gauge(MONITOR_AT, at)


def message_failed(policy: str) -> None:
    """Count a message that could not be sent."""
    with _sending():
        _count(UNTOLD, 1, {"policy": policy})


def copied(policy: str, phase: str, files: int, length: int) -> None:
    """Count files and bytes that one copy has moved."""
    with _sending():
        _count(FILES_COPIED, files, {"policy": policy, "phase": phase})
        _count(BYTES_COPIED, length, {"policy": policy, "phase": phase})


def applied(policy: str, phase: str, events: int) -> None:
    """Count events that the replica has taken."""
    with _sending():
        _count(EVENTS_APPLIED, events, {"policy": policy, "phase": phase})


def failed(policy: str, phase: str, kind: str, *, act_now: bool) -> None:
    """Count a task's failed try: its error's class, and whether a person must act."""
    with _sending():
        _count(FAILURES, 1, {"policy": policy, "phase": phase, "kind": kind, "family": family_of(act_now=act_now)})


def family_of(*, act_now: bool) -> str:
    """Return the family of a failure, as tags say it."""
    return _FAMILIES[act_now]


def _watched(lag: PolicyLag, tags: dict[str, Any]) -> None:
    seen = lag.watched
    if lag.replicated is not None:
        stats.gauge(QUARANTINED, len(seen.quarantined), tags=tags)
    _gauge(PENDING, seen.pending, tags)
    # 0 when nothing waits any more, so that no alert goes on.
    _gauge(PENDING_AGE, seen.pending_age if seen.pending else None if seen.pending is None else 0, tags)
    _gauge(SETS_HELD, None if seen.held is None else len(seen.held), tags)
    _gauge(SETS_HELD_AGE, seen.held_age(lag.at), tags)
    _gauge(EXTERNAL_AGE, seen.external_age, tags)
    _gauge(EXTERNAL_LIMIT, lag.limits.external_age, tags)
    _gauge(FREE, seen.free_bytes, tags)
    _gauge(FREE_LIMIT, lag.limits.free_bytes, tags)


def _gauge(name: str, value: float | None, tags: dict[str, Any]) -> None:
    if value is not None:
        stats.gauge(name, value, tags=tags)


def _count(name: str, number: int, tags: dict[str, Any]) -> None:
    if number:
        stats.incr(name, number, tags=tags)


@contextmanager
def _sending() -> Iterator[None]:
    try:
        yield
        _unsent.waits = True
    except Exception as error:
        _LOG.warning("metrics were not sent: %s", error)


@dataclass
class _Unsent:
    """Whether something waits for OpenTelemetry, and whether its collector is worth waiting for."""

    waits: bool = False
    given_up: bool = False


_unsent = _Unsent()


def flush() -> None:
    """Send what OpenTelemetry holds back for a minute: a task's process ends without a word to it.

    StatsD holds nothing back. A collector that does not answer is waited for once, for 2 s.
    """
    send = getattr(get_meter_provider(), "force_flush", None)
    if send is None or not _unsent.waits or _unsent.given_up:
        return
    _unsent.waits = False
    try:
        within(_FLUSH_SECONDS, send)
    except Exception as error:
        _unsent.given_up = True
        _LOG.warning("metrics were not sent: %s", error)
