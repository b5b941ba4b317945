"""Do the same with each of several items, several at a time."""

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor
from typing import TypeVar

from twinhive.core.model.errors import raise_one
from twinhive.core.threads.running_calls import NotBegun, RunningCalls, wait_for

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """Threads that work on the items of lists, for whoever has one; each is started when it has something to do.

    What they work on must not wait for items of its own here: all of them could be waiting then.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._pool = ThreadPoolExecutor(most)

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()

    def each(self, call: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return what `call` returns for each item, in their order; a single item is worked on right here.

        When one fails nothing else is handed out, and what was is waited for. Of several errors one that leaves open
        what became of a call is raised: an order of items must not decide whether a lease is released.
        """
        waiting = list(items)
        if len(waiting) < 2 or self._most < 2:
            return [call(item) for item in waiting]
        with RunningCalls() as running:
            calls = [self._pool.submit(running.run, call, item) for item in waiting]
            wait_for(calls, FIRST_EXCEPTION)
        errors = (one.exception() for one in calls)
        raise_one(error for error in errors if not isinstance(error, NotBegun))
        return [one.result() for one in calls]


def in_threads(call: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """Return what `call` returns for each item, in their order, up to `threads` at a time; raises as Threads.each."""
    with Threads(threads) as started:
        return started.each(call, items)
