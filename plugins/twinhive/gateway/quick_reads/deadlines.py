"""One timer for the deadlines of all calls of a process."""

import asyncio
from collections.abc import Callable
from typing import Final

_MOST_TICK: Final = 0.5


class Deadlines:
    """Call whoever has waited too long, at most a fourth of its time late."""

    def __init__(self) -> None:
        self._waiting: dict[object, tuple[float, Callable[[], None]]] = {}
        self._tick = _MOST_TICK
        self._timer: asyncio.TimerHandle | None = None

    def add(self, who: object, seconds: float, late: Callable[[], None]) -> None:
        """Have `late` called once `seconds` have passed, unless `who` is taken away before."""
        loop = asyncio.get_running_loop()
        self._waiting[who] = (loop.time() + seconds, late)
        if self._timer is None or seconds < self._tick * 4:
            self._begin(loop, min(_MOST_TICK, seconds / 4))

    def remove(self, who: object) -> None:
        """Forget a deadline; one that is not there is no error."""
        self._waiting.pop(who, None)

    def _begin(self, loop: asyncio.AbstractEventLoop, tick: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._tick = tick
        self._timer = loop.call_later(tick, self._look)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        now = loop.time()
        late = [who for who, (ends, _) in self._waiting.items() if ends <= now]
        for who in late:
            _, call = self._waiting.pop(who)
            call()
        if self._waiting:
            self._begin(loop, self._tick)
