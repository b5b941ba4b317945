"""The remotes that this process talks to: of each the guard that all its connections share, and how it is reached."""

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.remotes.definitions import Definition
from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.isolation import BreakerState, RemoteGuard, RemoteLimits
from twinhive.federation.gateway.metastore_links import OpenLink

_LOG = logging.getLogger(__name__)

MOST_KNOWN = 1_000
"""Addresses and identities. One that does not answer, and that no name leads to, is forgotten by who asks it again."""


@dataclass(frozen=True)
class ReachedRemote:
    """How a definition's metastore is reached.

    key   equal for definitions that share a metastore, a tunnel and an identity
    name  for people: its address, without anything secret
    user  whom calls are made as; None for whoever calls
    """

    key: Hashable
    name: str
    user: str | None
    open: OpenLink


@dataclass(frozen=True)
class Remote:
    """One metastore elsewhere; `asked_by` is the definition that a client has asked it by."""

    reached: ReachedRemote
    guard: RemoteGuard
    asked_by: Definition

    @property
    def key(self) -> Hashable:
        """What is equal for definitions that share it."""
        return self.reached.key

    @property
    def name(self) -> str:
        """Its address, for people."""
        return self.reached.name

    @property
    def user(self) -> str | None:
        """Whom calls are made as; None for whoever calls."""
        return self.reached.user

    @property
    def open(self) -> OpenLink:
        """How it is connected to."""
        return self.reached.open


class RemotePool:
    """Know each remote once, however many definitions and clients ask for it."""

    def __init__(
        self,
        reached: Callable[[Definition], ReachedRemote],
        limits: RemoteLimits,
        counts: CallCounts,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self._reached, self.limits, self._counts = reached, limits, counts
        self._clock, self._wall_clock = clock, wall_clock
        self._known: dict[Hashable, Remote] = {}

    def of(self, definition: Definition) -> Remote:
        """Return a definition's remote. Raises ActNow for one that may not be reached, or has a setting missing."""
        reached = self._reached(definition)
        remote = self._known.get(reached.key)
        if remote is None:
            if len(self._known) >= MOST_KNOWN:
                self._forget_some()
            remote = Remote(reached, RemoteGuard(reached.name, self.limits, self._clock), definition)
            self._known[reached.key] = remote
        return remote

    def key_of(self, definition: Definition) -> Hashable | None:
        """Return what is equal for remotes of one owner; None for one that cannot be asked."""
        try:
            return self._reached(definition).key
        except TwinhiveError:
            return None

    def open_ones(self) -> list[Remote]:
        """Return the remotes whose breaker is open."""
        return [remote for remote in self._known.values() if self.is_open(remote)]

    def forget(self, remote: Remote) -> None:
        """Know nothing of a remote any more; who asks for it finds its breaker closed."""
        self._known.pop(remote.key, None)
        if all(one.name != remote.name for one in self._known.values()):
            self._counts.forget(remote.name)

    def _forget_some(self) -> None:
        """Forget those that answer: whoever asks for them again finds the same. Who may create tables makes remotes."""
        for remote in [remote for remote in self._known.values() if not self.is_open(remote)]:
            self.forget(remote)

    def note(self, remote: Remote) -> None:
        """Write down, and log, how a remote's breaker stands."""
        breaker = remote.guard.breaker
        about = {"remote": remote.name, "breaker": breaker.state, "failure": breaker.last_failure}
        if breaker.state is BreakerState.CLOSED and breaker.failing_since is None:
            _LOG.info("a remote answers again", extra=about)
        else:
            _LOG.warning("a remote does not answer", extra=about)
        since = breaker.failing_since
        at = None if since is None else self._wall_clock() - (self._clock() - since)
        self._counts.breakers[remote.name] = (breaker.state, at, breaker.last_failure)

    def is_open(self, remote: Remote) -> bool:
        """True while calls are refused at once."""
        return remote.guard.breaker.state is not BreakerState.CLOSED
