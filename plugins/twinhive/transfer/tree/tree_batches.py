"""Deal the actions of a plan into batches for tasks that run at the same time on several machines."""

import gzip
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from twinhive.core.model.errors import LeaseLost
from twinhive.core.model.files import copying_weight, join
from twinhive.core.ports import FileReader, FileWriter
from twinhive.transfer.tree.tree_actions import length_of
from twinhive.transfer.tree.work_directories import Places

_GOOD_FOR_SECONDS = 1.0


@dataclass(frozen=True)
class FileBatch:
    """The file of one batch, and what is in it: actions, and the bytes of their files."""

    path: str
    files: int
    length: int


def write_batches(
    lines: Iterable[str], files: FileWriter, directory: str, *, most_files: int, aim_bytes: int
) -> Iterator[FileBatch]:
    """Write lines into gzipped files of a directory, in their order; yield each batch when it is there.

    A batch is full with `most_files`, or when its files, and a megabyte for each, reach `aim_bytes`. As plans hold the
    largest files first, so do batches: the last ones that run are small.
    """
    for number, (batch, length) in enumerate(_dealt(lines, most_files, aim_bytes)):
        path = join(directory, f"{number:06d}.gz")
        files.write(path, gzip.compress("\n".join(batch).encode("ascii"), compresslevel=1))
        yield FileBatch(path, len(batch), length)


def read_batch(files: FileReader, path: str) -> Iterator[str]:
    """Yield the lines of a batch. Raises Missing."""
    yield from gzip.decompress(files.read(path)).decode("ascii").split("\n")


class StillWanted:
    """Raise LeaseLost once a batch is gone: another run has taken over, and removed it before it began.

    An answer is good for a second: a new run waits longer than that. To be shared between threads.
    """

    def __init__(self, target: FileReader, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._target = target
        self._path = path
        self._clock = clock
        self._seen_at = -math.inf

    def __call__(self) -> None:
        """Look, unless somebody has just looked. Raises LeaseLost."""
        asked_at = self._clock()
        if asked_at - self._seen_at < _GOOD_FOR_SECONDS:
            return
        if self._target.status(self._path) is None:
            raise batch_is_gone(self._path)
        self._seen_at = asked_at


def stop_leftover_tasks(target: FileWriter, places: Places, settle: Callable[[], None]) -> None:
    """Take their batches away from tasks on other machines, which may have outlived the run that started them.

    `settle` waits for the last call of theirs.
    """
    if target.delete(places.plan):
        settle()


def batch_is_gone(path: str) -> LeaseLost:
    """Say that a batch is not there any more."""
    return LeaseLost(
        f"{path}: this batch is gone",
        found="no such file",
        expected="a file system that all executors reach, and no other copy to the same target",
        next_step="look for another run; then run again",
    )


def _dealt(lines: Iterable[str], most_files: int, aim_bytes: int) -> Iterator[tuple[list[str], int]]:
    batch: list[str] = []
    length = 0
    for line in lines:
        batch.append(line)
        length += length_of(line)
        if len(batch) >= most_files or copying_weight(len(batch), length) >= aim_bytes:
            yield batch, length
            batch, length = [], 0
    if batch:
        yield batch, length
