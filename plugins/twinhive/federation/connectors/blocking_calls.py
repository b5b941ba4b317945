"""Blocking calls of one remote in threads of its own: bounded, and never waited for by anybody who has given up."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Generic, TypeVar

T = TypeVar("T")
MOST_CALLS: Final = 8


class BlockingCalls:
    """Run at most `most` calls of a remote at once, others wait.

    A call whose caller was cancelled gives its place back at once, and its answer is thrown away. Its thread cannot be
    ended: when `most` of these still wait for an answer, further calls fail until one has got it.
    """

    def __init__(self, name: str, most: int = MOST_CALLS) -> None:
        self._name, self._most = name, most
        self._places = asyncio.Semaphore(most)
        self._abandoned = 0
        self._lock = threading.Lock()

    @property
    def abandoned(self) -> int:
        """Threads that wait for an answer which nobody wants any more."""
        return self._abandoned

    async def run(self, function: Callable[[], T]) -> T:
        """Return what `function` returns or raises. Raises ConnectionError when the remote has gone silent."""
        async with self._places:
            if self._abandoned >= self._most:
                raise ConnectionError(f"{self._name}: {self._abandoned} calls have had no answer yet")
            call = _Call(function, asyncio.get_running_loop(), self._came_back)
            threading.Thread(target=call.work, name=f"remote {self._name}", daemon=True).start()
            try:
                return await call.future
            except asyncio.CancelledError:
                with self._lock:
                    self._abandoned += call.abandon()
                raise

    def _came_back(self) -> None:
        with self._lock:
            self._abandoned -= 1


class _Call(Generic[T]):
    def __init__(
        self, function: Callable[[], T], loop: asyncio.AbstractEventLoop, came_back: Callable[[], None]
    ) -> None:
        self._function, self._loop, self._came_back = function, loop, came_back
        self._lock = threading.Lock()
        self._is_abandoned = self._is_done = False
        self.future: asyncio.Future[T] = loop.create_future()

    def work(self) -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = self._function()
        except BaseException as raised:
            error = raised
        with self._lock:
            self._is_done = True
            is_abandoned = self._is_abandoned
        if is_abandoned:
            self._came_back()
            return
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._settle, result, error)

    def abandon(self) -> bool:
        """Stop waiting; True while the thread is still at it."""
        with self._lock:
            self._is_abandoned = not self._is_done
            return self._is_abandoned

    def _settle(self, result: T | None, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)  # type: ignore[arg-type]
