"""One timer for the deadlines of all calls of a process."""

import asyncio
from typing import Final, Protocol

_MOST_TICK: Final = 0.5


class WaitingCall(Protocol):
    """Who waits for an answer."""

    def late(self) -> None:
        """Wait no longer."""
        ...


class Deadlines:
    """Tell whoever has waited too long, at most a fourth of its time late. Times are the event loop's (monotonic)."""

    def __init__(self) -> None:
        self._waiting: dict[WaitingCall, float] = {}
        self._tick = _MOST_TICK
        self._timer: asyncio.TimerHandle | None = None

    def add(self, who: WaitingCall, now: float, seconds: float) -> None:
        """Call `late` of it once `seconds` have passed, unless it is taken away before."""
        self._waiting[who] = now + seconds
        if self._timer is None or seconds < self._tick * 4:
            self._begin(min(_MOST_TICK, seconds / 4))

    def remove(self, who: WaitingCall) -> None:
        """Forget a deadline; one that is not there is no error."""
        self._waiting.pop(who, None)

    def _begin(self, tick: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._tick = tick
        self._timer = asyncio.get_running_loop().call_later(tick, self._look)

    def _look(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        for who in [who for who, ends in self._waiting.items() if ends <= now]:
            if self._waiting.pop(who, None) is not None:
                who.late()
        if self._waiting:
            self._begin(self._tick)
