"""Write for the monitor that a copy is at work, and from time to time that it goes on.

Whether it goes on is judged by the monitor: a task whose process is frozen could not say it.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.operations.journal.address import journal_address
from twinhive.operations.journal.writing import Journal

_EVERY_SECONDS = 60.0


class CopyNotes:
    """The notes of one try of a task; threads may share it. Raises nothing."""

    def __init__(
        self,
        work: CopyAtWork,
        open_journal: Callable[[], Journal] = lambda: Journal(journal_address()),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._work = work
        # A new one each time: what was down an hour ago must not make a copy look as if it stood still.
        self._open_journal = open_journal
        self._clock = clock
        self._noted = work.began
        self._lock = threading.Lock()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Have the copy known as at work inside."""
        self._open_journal().copy_begins(self._work)
        try:
            yield
        finally:
            self._open_journal().copy_ends(self._work)

    def moves(self) -> None:
        """Note that the copy goes on, at most once a minute."""
        with self._lock:
            now = self._clock()
            if now - self._noted < _EVERY_SECONDS:
                return
            self._noted = now
        self._open_journal().copy_moves(self._work, now)
