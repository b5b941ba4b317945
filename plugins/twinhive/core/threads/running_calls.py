"""Wait for what has begun in threads, and let nothing begin after that."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_EXCEPTION, Future, wait
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


_NOTICED_SECONDS = 0.5
"""So late is an interruption noticed that came just before a thread began to wait: it does not end that wait."""


def wait_for(calls: Sequence[Future[Any]], return_when: str = ALL_COMPLETED) -> None:
    """Wait until all calls have ended, or, with FIRST_EXCEPTION, until one has failed."""
    while True:
        done, left = wait(calls, _NOTICED_SECONDS, return_when)
        if not left or (return_when == FIRST_EXCEPTION and any(one.exception() for one in done)):
            return


class NotBegun(Exception):
    """A call came too late: whoever had asked for it has gone on."""


class RunningCalls:
    """The calls of one list that are running: at the end of a `with` none is, and none begins after it.

    A pool alone does not wait for a thread whose start was interrupted, and works on what is handed out to it. An
    interruption while it waits here ends the waiting.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._is_over = False

    def run(self, call: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """Return what `call` returns, in the thread that is here. Raises NotBegun after the `with`."""
        with self._changed:
            if self._is_over:
                raise NotBegun
            self._running += 1
        try:
            return call(*given, **named)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def __enter__(self) -> "RunningCalls":
        return self

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._is_over = True
            while not self._changed.wait_for(lambda: not self._running, _NOTICED_SECONDS):
                pass
