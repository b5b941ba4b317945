"""Copy many files at the same time: threads, also for parts of files, one rate for all, one signal that ends them."""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from twinhive.core.model.errors import Unreachable
from twinhive.core.ports import FileReader, FileWriter
from twinhive.core.threads.parallel_map import Threads
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.transfer.engine.copy_retries import Patience
from twinhive.transfer.engine.file_parts import SPLIT_ABOVE, PartsWriter
from twinhive.transfer.engine.meter import Meter, OnBytes
from twinhive.transfer.engine.transfer import Transfer

Item = TypeVar("Item")
Result = TypeVar("Result")
IsEnding = Callable[[], bool]
"""True when whoever asked for a copy was interrupted: no more is to be written."""


class CopyEngine:
    """What the threads of one copy share, and their run.

    `on_bytes` is told the bytes of each piece before it is written; a file above `split_above` bytes is copied in
    parts. All that has begun ends with `is_ending`, or an interruption.
    """

    def __init__(
        self,
        source: FileReader,
        target: FileWriter,
        threads: int,
        on_bytes: OnBytes,
        bytes_per_second: float | None = None,
        split_above: int = SPLIT_ABOVE,
        is_ending: IsEnding = lambda: False,
    ) -> None:
        self._threads = threads
        self._for_parts = Threads(threads)  # of their own: those that copy files wait for them
        self._on_bytes = on_bytes
        self._limited = Meter(bytes_per_second, self._tell)
        self._stopping = threading.Event()
        self._is_ending = is_ending
        self.patience = Patience()
        self.transfer = Transfer(source, target, self.meter)
        self.parts = PartsWriter(target, self.transfer, self._for_parts, split_above)

    def meter(self, count: int) -> None:
        """Wait until so many bytes may be written, and tell them. Raises Unreachable when all is to end."""
        end_if(self._is_over)
        self._limited(count)

    def _tell(self, count: int) -> None:
        # The end may have come while this one waited for the rate.
        end_if(self._is_over)
        self._on_bytes(count)

    def run(
        self, items: Iterable[Item], work: Callable[[Iterator[Item]], Result], *, right_here: bool = False
    ) -> list[Result]:
        """Run `work` in each thread, all of them with one iterator, so that no item waits in a queue; once.

        A single item that is short may be copied `right_here`, where an interruption ends it. Raises Unreachable when
        all is to end.
        """
        stopping = None if right_here else self._stopping
        with self._for_parts:
            return in_parallel(items, self._threads, lambda some: work(self._until_over(some)), "copy", stopping)

    def _is_over(self) -> bool:
        return self._stopping.is_set() or self._is_ending()

    def _until_over(self, items: Iterator[Item]) -> Iterator[Item]:
        for item in items:
            end_if(self._is_over)
            yield item


def end_if(is_ending: IsEnding) -> None:
    """Raise Unreachable when a copy is to end before all is copied."""
    if is_ending():
        raise Unreachable(
            "not copied to its end: the copy is ending",
            found="a signal to end",
            expected="a copy that may go on",
            next_step="run again: what is copied stays",
        )
