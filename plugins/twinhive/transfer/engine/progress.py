"""How far a copy has come, often at first and then ever less often."""

import threading
import time
from collections.abc import Callable
from typing import Protocol

from twinhive.core.model.files import copying_weight
from twinhive.core.model.human_readable import readable

_FIRST_SECONDS = 5.0
_LONGEST_SECONDS = 300.0
_GROWTH = 1.5


class Counting(Protocol):
    """Be told by several threads how far a copy has come."""

    def moved(self, count: int) -> None:
        """Count bytes of a file that is being copied."""
        ...

    def done(self, length: int) -> None:
        """Count one more file whose bytes were counted while they moved."""
        ...

    def skipped(self, length: int) -> None:
        """Count one more file that need not be copied."""
        ...


class CopyProgress:
    """Count files and bytes of several threads; say a line when it is time to."""

    def __init__(
        self, files: int, length: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._files = files
        self._length = length
        self._say = say
        self._clock = clock
        self._started = clock()
        self._interval = _FIRST_SECONDS
        self._next = self._started + self._interval
        self._done_files = 0
        self._done_bytes = 0
        self._moving_bytes = 0
        self._lock = threading.Lock()

    def moved(self, count: int) -> None:
        """Count bytes of a file that is being copied."""
        self._count(0, 0, count)

    def done(self, length: int, files: int = 1) -> None:
        """Count files, copied or not, and their bytes; what was counted of these before is not counted twice."""
        self._count(files, length, -length)

    def skipped(self, length: int) -> None:
        """Count one more file that need not be copied."""
        self._count(1, length, 0)

    def _count(self, files: int, length: int, moving: int) -> None:
        with self._lock:
            self._done_files += files
            self._done_bytes += length
            # A file that failed, or was copied twice, has moved more or less than its length.
            self._moving_bytes = max(0, self._moving_bytes + moving)
            now = self._clock()
            if now < self._next:
                return
            self._interval = min(self._interval * _GROWTH, _LONGEST_SECONDS)
            self._next = now + self._interval
            line = self._line(now - self._started)
        self._say(line)

    def _line(self, seconds: float) -> str:
        length = min(self._done_bytes + self._moving_bytes, max(self._length, self._done_bytes))
        share = length / self._length if self._length else self._done_files / max(1, self._files)
        # Bytes alone would tell of years to come while files of a few of them are copied.
        done = copying_weight(self._done_files, length) / max(1, copying_weight(self._files, self._length))
        left = max(0.0, seconds / done - seconds) if done else 0.0
        return (
            f"{self._done_files:,} of {self._files:,} files, {readable(length)} of {readable(self._length)} "
            f"({share:.0%}), {readable(length / max(seconds, 0.001))}/s, about {_duration(left)} left"
        )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
