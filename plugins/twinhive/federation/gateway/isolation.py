"""Keep a remote that is down or slow from harming anything else: a breaker, and a limit of calls at once."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from twinhive.hive.wire.stream_reader import MOST_BUFFERED_BYTES


@dataclass(frozen=True)
class RemoteLimits:
    """What a remote may take, in seconds and calls."""

    connect: float = 2.0
    """A connection, its tunnel included."""
    call: float = 60.0
    """One call, from its last byte sent to the last byte of its answer."""
    calls_at_once: int = 16
    wait: float = 1.0
    """For one of these calls to end."""
    failures: int = 3
    """One after the other: they open the breaker."""
    probe_every: float = 10.0
    """An open breaker lets one call through."""
    buffered: int = MOST_BUFFERED_BYTES
    """Bytes of an answer that are held before it is handed on in pieces."""
    refusals: float = 40.0
    """A second at most, of an open breaker: clients that ask again at once must not take the gateway's time."""
    several: float = 2.0
    """What a list over several owners waits for each of them."""

    @property
    def of_a_probe(self) -> "RemoteLimits":
        """Return those of a question that asks whether a remote is there: a small one, which ends before the next."""
        return replace(self, call=min(self.call, self.probe_every))


class BreakerState(StrEnum):
    """Whether calls are let through."""

    CLOSED = "closed"
    OPEN = "open"
    PROBING = "probing"
    """One call is under way, to find out."""


class Breaker:
    """Let no calls through to who has failed several times in a row, but for one probe at intervals."""

    def __init__(self, limits: RemoteLimits, clock: Callable[[], float]) -> None:
        self._limits, self._clock = limits, clock
        self._failures = 0
        self._probed = 0.0
        self.state = BreakerState.CLOSED
        self.failing_since: float | None = None
        """By the clock; None for one that has answered last."""
        self.last_failure = ""

    def lets_through(self) -> bool:
        """True for a call that may be tried; of an open breaker that is the probe."""
        if self.state is BreakerState.CLOSED:
            return True
        now = self._clock()
        if now - self._probed < self._limits.probe_every:
            return False
        self._probed, self.state = now, BreakerState.PROBING
        return True

    def answered(self) -> None:
        """Note an answer, a refusal too: it is there."""
        self._failures, self.state, self.failing_since, self.last_failure = 0, BreakerState.CLOSED, None, ""

    def failed(self, text: str) -> None:
        """Note that there was no answer."""
        now = self._clock()
        self._failures += 1
        self.last_failure = text
        self.failing_since = now if self.failing_since is None else self.failing_since
        if self.state is BreakerState.PROBING or self._failures >= self._limits.failures:
            self.state, self._probed = BreakerState.OPEN, now


class RemoteBusyError(Exception):
    """As many calls as it may have at once are under way, and none has ended in time."""


class RemoteDownError(Exception):
    """The breaker is open."""


class _Slots:
    """So many calls at once; who waits gets a place in turn."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take(self) -> bool:
        """Take a free place; False where there is none."""
        if not self._free:
            return False
        self._free -= 1
        return True

    async def taken(self) -> None:
        """Wait for a place, and take it."""
        if self.take():
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give()
            raise

    def give(self) -> None:
        """Give a place back, to who waits first."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self._free += 1


class RemoteGuard:
    """What all connections to one remote share in one process."""

    def __init__(self, name: str, limits: RemoteLimits, clock: Callable[[], float]) -> None:
        self.name, self.limits = name, limits
        self.breaker = Breaker(limits, clock)
        self._slots = _Slots(limits.calls_at_once)
        self._next_refusal = 0.0
        self._clock = clock

    def enter(self) -> bool:
        """Hold one of the calls it may have at once, if that needs no waiting; `leave` gives it back."""
        return self.breaker.state is BreakerState.CLOSED and self._slots.take()

    def leave(self) -> None:
        """Give back what `enter` has taken."""
        self._slots.give()

    @asynccontextmanager
    async def call(self, *, is_held: bool = False) -> AsyncIterator[None]:
        """Hold one of the calls it may have at once. Raises RemoteDownError and RemoteBusyError.

        is_held   it is held already, by `enter`; here it is given back
        """
        if not is_held and not self._slots.take():
            try:
                async with asyncio.timeout(self.limits.wait):
                    await self._slots.taken()
            except TimeoutError:
                raise RemoteBusyError from None
        try:
            lets_through = is_held or self.breaker.lets_through()
            if lets_through:
                yield
        finally:
            self._slots.give()
        if not lets_through:
            await self._pause()
            raise RemoteDownError

    async def _pause(self) -> None:
        """Let the next refusal wait for its turn."""
        now = self._clock()
        self._next_refusal = max(now, self._next_refusal) + 1 / self.limits.refusals
        await asyncio.sleep(self._next_refusal - now - 1 / self.limits.refusals)
