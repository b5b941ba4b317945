"""Blocking calls of an event loop in a few threads of their own, which nobody waits for when the process ends."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import ParamSpec, TypeVar

from twinhive.core.model.errors import TryAgain

Given = ParamSpec("Given")
Result = TypeVar("Result")


class DaemonThreads:
    """At most `most` threads; each is started when a call finds none free. What hangs here delays nobody elsewhere.

    Where all threads are at work `most_waiting` more calls wait, if it is said, and further ones are refused. The event
    loop's own threads are shared by all of a process, and are waited for at its end, however long they hang.
    """

    def __init__(self, name: str, most: int, most_waiting: int | None = None) -> None:
        self._name, self._most, self._most_waiting = name, most, most_waiting
        self._changed = threading.Condition()
        self._waiting: deque[Callable[[], None]] = deque()
        self._started = self._free = self._at_work = 0

    async def run(self, call: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """Return what `call` returns, or raise what it raises. One that nobody waits for any more is not begun.

        Raises TryAgain where too many wait.
        """
        outcome: Future[Result] = Future()
        work = partial(_settle, outcome, partial(call, *given, **named))
        self._add(work)
        try:
            return await asyncio.wrap_future(outcome)
        except asyncio.CancelledError:
            self._take_away(work)
            raise
        finally:
            # An error holds this frame, and is not to hold itself, and what was given.
            del outcome, work, call, given, named

    def _add(self, work: Callable[[], None]) -> None:
        with self._changed:
            if self._most_waiting is not None and self._in_hand() >= self._most + self._most_waiting:
                raise _too_many(self._most_waiting, self._name)
            if len(self._waiting) >= self._free and self._started < self._most:
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
                self._started += 1
            self._waiting.append(work)
            self._changed.notify()

    def _in_hand(self) -> int:
        return self._at_work + len(self._waiting)

    def _take_away(self, work: Callable[[], None]) -> None:
        """Hold nothing for a caller that has gone, however long the others wait."""
        with self._changed:
            if work in self._waiting:
                self._waiting.remove(work)

    def _work(self) -> None:
        while True:
            self._next()()
            with self._changed:
                self._at_work -= 1

    def _next(self) -> Callable[[], None]:
        with self._changed:
            self._free += 1
            while not self._waiting:
                self._changed.wait()
            self._free -= 1
            self._at_work += 1
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


def _too_many(waiting: int, name: str) -> TryAgain:
    return TryAgain(
        "too many calls wait for servers that answer late",
        found=f"{waiting} calls that wait for a thread of {name}",
        expected="fewer",
        next_step="try again in some seconds; if it lasts, see which metastore or file system does not answer",
    )
