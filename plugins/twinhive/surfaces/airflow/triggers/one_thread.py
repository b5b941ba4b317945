"""Make blocking calls from inside an event loop, in one thread that keeps no process alive.

An executor's threads are joined when the process ends: a metastore that hangs would delay the triggerer's stop.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class OneThread:
    """Make calls one after the other."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        Thread(target=self._work, name=name, daemon=True).start()

    async def call(self, do: Callable[[], T]) -> T:
        """Return what `do` returns, raise what it raises."""
        answer: Future[T] = Future()
        self._calls.put((answer, do))
        return await asyncio.wrap_future(answer)

    def leave(self) -> None:
        """Let the thread end after the call that is under way, which nobody may ever answer."""
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            answer, do = call
            if not answer.set_running_or_notify_cancel():
                continue
            try:
                answer.set_result(do())
            except BaseException as error:
                answer.set_exception(error)
