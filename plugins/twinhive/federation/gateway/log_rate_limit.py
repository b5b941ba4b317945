"""Of many lines of the log that say the same, write one a second: clients that ask again at once are many."""

from collections.abc import Callable, Hashable
from typing import Final

_MOST_KNOWN: Final = 1_000


class OneASecond:
    """Say which lines to write."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._written: dict[Hashable, float] = {}
        self._passed_over: dict[Hashable, int] = {}

    def another(self, line: Hashable) -> int | None:
        """Return how many like it were passed over since one was written, None for one to pass over."""
        now = self._clock()
        if now - self._written.get(line, float("-inf")) < 1.0:
            self._passed_over[line] = self._passed_over.get(line, 0) + 1
            return None
        if len(self._written) >= _MOST_KNOWN:
            self._written.clear()
            self._passed_over.clear()
        self._written[line] = now
        return self._passed_over.pop(line, 0)
