"""Blocking calls of an event loop in a few threads of their own, which nobody waits for when the process ends."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


class DaemonThreads:
    """At most `most` threads; each is started when a call finds none free. What hangs here delays nobody elsewhere.

    The event loop's own threads are shared by all of a process, and are waited for at its end, however long they hang.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name, self._most = name, most
        self._changed = threading.Condition()
        self._waiting: deque[Callable[[], None]] = deque()
        self._started = self._free = 0

    async def run(self, call: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """Return what `call` returns, or raise what it raises. One that nobody waits for any more is not begun."""
        outcome: Future[Result] = Future()
        self._add(partial(_settle, outcome, partial(call, *given, **named)))
        try:
            return await asyncio.wrap_future(outcome)
        finally:
            del outcome, call, given, named  # an error holds this frame, and is not to hold itself, and what was given

    def _add(self, work: Callable[[], None]) -> None:
        with self._changed:
            if len(self._waiting) >= self._free and self._started < self._most:
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
                self._started += 1
            self._waiting.append(work)
            self._changed.notify()

    def _work(self) -> None:
        while True:
            self._next()()

    def _next(self) -> Callable[[], None]:
        with self._changed:
            self._free += 1
            while not self._waiting:
                self._changed.wait()
            self._free -= 1
            return self._waiting.popleft()


def _settle(outcome: Future[Result], call: Callable[[], Result]) -> None:
    if not outcome.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:
        outcome.set_exception(error)
    else:
        outcome.set_result(result)
    finally:
        del outcome, call  # as above
