"""Work through a stream of any length with several threads, and stop all of them when one cannot go on."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Generic, TypeVar

from twinhive.core.model.errors import raise_one
from twinhive.core.threads.running_calls import RunningCalls, wait_for

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(
    items: Iterable[Item],
    threads: int,
    work: Callable[[Iterator[Item]], Result],
    name: str = "sync",
    stopping: threading.Event | None = None,
) -> list[Result]:
    """Run `work` in each thread, all of them with one iterator over `items`; return their results.

    But for the first item nothing is read ahead of the threads. What one of them raises ends the others at their next
    item; of several errors one that leaves open what became of a call is raised. `stopping` is set when no thread is
    to go on, also with the item that it has: when whoever waits here is interrupted, or no more threads can be started.
    No thread is started that could have no item; one item is worked on right here, unless somebody may be interrupted.
    """
    if isinstance(items, Sized):
        threads = min(threads, len(items))
    elif threads > 1:
        items, is_empty = _looked_into(iter(items))
        threads = 1 if is_empty else threads
    if threads <= 1 and stopping is None:
        return [work(iter(items))]
    threads = max(threads, 1)
    shared = _Shared(items)
    workers: list[Future[Result]] = []
    with ThreadPoolExecutor(threads, name) as pool, RunningCalls() as running:
        try:
            for _ in range(threads):
                workers.append(pool.submit(running.run, _until_it_fails, work, shared))
            wait_for(workers)
        finally:
            shared.stop()
            if stopping is not None:
                stopping.set()
    raise_one(worker.exception() for worker in workers)
    return [worker.result() for worker in workers]


def _looked_into(items: Iterator[Item]) -> tuple[Iterator[Item], bool]:
    """Return all items again, and whether there are none. Nothing keeps the first when it has been handed out."""
    first = list(islice(items, 1))
    return chain(iter(first), items), not first


class _Shared(Generic[Item]):
    """Hand out items to several threads, one at a time."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = iter(items)
        self._lock = threading.Lock()
        self._stopped = False

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        with self._lock:
            if self._stopped:
                raise StopIteration
            return next(self._items)

    def stop(self) -> None:
        """Hand out nothing more."""
        self._stopped = True


def _until_it_fails(work: Callable[[Iterator[Item]], Result], items: _Shared[Item]) -> Result:
    try:
        return work(items)
    except BaseException:
        items.stop()
        raise
