"""Measure the lag of all policies of a configuration, also of those that cannot be used."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from twinhive.core.model.connections import Connection
from twinhive.core.model.errors import ActNow, Foreign, TwinhiveError
from twinhive.hive.adapters.file_clients import start_clients
from twinhive.operations.monitoring.lag import PolicyLag, measure
from twinhive.operations.monitoring.monitored_policy import Follower, Limits
from twinhive.replication.notification_log.event_backlog import Counted
from twinhive.runtime.settings import Configuration, PolicyEntry, PolicySettings, Resolve
from twinhive.runtime.wiring.policy_wiring import Wiring

__all__ = ["PolicyLag", "measure_policies"]

PATIENCE_SECONDS = 20.0


def measure_policies(
    configuration: Configuration,
    resolve: Resolve,
    *,
    patience: float = PATIENCE_SECONDS,
    names: Collection[str] | None = None,
    known: Mapping[str, Counted] | None = None,
) -> list[PolicyLag]:
    """Return how the policies are, all or those named, sorted by name. Raises nothing.

    What was counted before (`known`) is not read again. It takes at most twice `patience` (seconds), however many
    servers do not answer, and the start of Java.
    """
    resolve_once = _Remembered(resolve)
    now = time.time()
    followers: list[Follower] = []
    found: list[PolicyLag] = []
    for name, entry in configuration.policies.items():
        if names is not None and name not in names:
            continue
        try:
            followers.append(_follower(configuration, entry, resolve_once))
        except TwinhiveError as error:
            found.append(_unusable(entry, now, error))
        except Exception as error:  # one policy must not take the others out of sight
            found.append(_unusable(entry, now, _unexpected(name, error)))
    start_clients(one.ports.replica_files for one in followers)
    asleep = {name for name, entry in configuration.policies.items() if entry.reverse_of}
    measured = measure(followers, now, patience, known)
    # A policy of the opposite direction is none of anybody's until somebody has failed back by it.
    found += [one for one in measured if one.policy not in asleep or not isinstance(one.error, Foreign)]
    return sorted(found, key=lambda lag: lag.policy)


def _follower(configuration: Configuration, entry: PolicyEntry, resolve: Resolve) -> Follower:
    wiring = Wiring.of(configuration, entry.name, resolve)
    return Follower(wiring.policy, wiring.read_ports(), limits_of(wiring.settings))


def limits_of(settings: PolicySettings) -> Limits:
    """Return from when on somebody has to look at a policy."""
    watch = settings.watch
    return Limits(
        settings.max_lag, watch.external_age, watch.free_bytes, watch.failed_for, watch.stalled_for, watch.held_for
    )


def _unexpected(policy: str, error: Exception) -> ActNow:
    return ActNow(
        f"policy {policy} cannot be looked at",
        found=f"{type(error).__name__}: {error}",
        expected="settings and connections from which its servers are known",
        next_step="look at what clusters.yaml and the connections say of both of its clusters; the next measurement "
        "asks again",
    )


def _unusable(entry: PolicyEntry, now: float, error: TwinhiveError) -> PolicyLag:
    settings = entry.settings
    if settings is None:
        return PolicyLag(entry.name, now, error=error)
    source, replica = (f"{side.cluster}/{side.database}" for side in (settings.source, settings.replica))
    return PolicyLag(entry.name, now, source, replica, limits=limits_of(settings), error=error)


@dataclass
class _Remembered:
    """Resolve each connection once: hundreds of policies name the same few, and Airflow is asked over HTTP."""

    resolve: Resolve
    _known: dict[str, Connection | TwinhiveError] = field(default_factory=dict)

    def __call__(self, connection_id: str) -> Connection:
        if connection_id not in self._known:
            try:
                self._known[connection_id] = self.resolve(connection_id)
            except TwinhiveError as error:
                self._known[connection_id] = error
        known = self._known[connection_id]
        if isinstance(known, TwinhiveError):
            raise known
        return known
