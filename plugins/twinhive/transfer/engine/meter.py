"""Count the bytes of a whole job, and hold them to a rate."""

import threading
import time
from collections.abc import Callable

OnBytes = Callable[[int], None]
"""Is told the bytes of a piece that is about to be written; it may wait, and what it raises ends the copy."""

# A job that was slower for a while does not make up for all of it at once.
_BURST_SECONDS = 1.0


class Meter:
    """Be called with the bytes of each piece by all threads of a job; make them wait for the rate of the job.

    bytes_per_second   None for no limit
    on_bytes           is told what may be written now: progress, or a check that raises to end the copy
    """

    def __init__(
        self,
        bytes_per_second: float | None = None,
        on_bytes: OnBytes = lambda count: None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rate = bytes_per_second
        self._on_bytes = on_bytes
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._free_at = clock() - _BURST_SECONDS

    def __call__(self, count: int) -> None:
        """Wait until `count` more bytes fit the rate, then tell them."""
        if self._rate is not None:
            self._wait_for(count / self._rate)
        self._on_bytes(count)

    def _wait_for(self, seconds: float) -> None:
        """Take a place behind those who wait already; nobody holds the lock while he sleeps."""
        with self._lock:
            now = self._clock()
            self._free_at = max(self._free_at, now - _BURST_SECONDS) + seconds
            wait = self._free_at - now
        if wait > 0:
            self._sleep(wait)
