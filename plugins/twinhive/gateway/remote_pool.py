"""The remotes that this process talks to: of each the guard that all its connections share, and how it is reached."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from twinhive.gateway.isolation import BreakerState, RemoteGuard, RemoteLimits
from twinhive.gateway.links import Open
from twinhive.gateway.metrics import CallCounts
from twinhive.model.errors import TwinhiveError
from twinhive.model.remotes.definitions import Definition


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
    open: Open


@dataclass(frozen=True)
class Remote:
    """One metastore elsewhere."""

    key: Hashable
    name: str
    user: str | None
    open: Open
    guard: RemoteGuard


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
        self._reached, self._limits, self._counts = reached, limits, counts
        self._clock, self._wall_clock = clock, wall_clock
        self._known: dict[Hashable, Remote] = {}

    def of(self, definition: Definition) -> Remote:
        """Return a definition's remote. Raises ActNow for one that may not be reached, or has a setting missing."""
        reached = self._reached(definition)
        remote = self._known.get(reached.key)
        if remote is None:
            guard = RemoteGuard(reached.name, self._limits, self._clock)
            remote = Remote(reached.key, reached.name, reached.user, reached.open, guard)
            self._known[reached.key] = remote
        return remote

    def key_of(self, definition: Definition) -> Hashable | None:
        """Return what is equal for remotes of one owner; None for one that cannot be asked."""
        try:
            return self._reached(definition).key
        except TwinhiveError:
            return None

    def note(self, remote: Remote) -> None:
        """Write down how a remote's breaker stands."""
        breaker = remote.guard.breaker
        since = breaker.failing_since
        at = None if since is None else self._wall_clock() - (self._clock() - since)
        self._counts.breakers[remote.name] = (breaker.state, at, breaker.last_failure)

    def is_open(self, remote: Remote) -> bool:
        """True while calls are refused at once."""
        return remote.guard.breaker.state is not BreakerState.CLOSED
