"""Copy one very large file as ranges that are written side by side and put together in the end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow, AlreadyThere, CopyDiffers, CopyWasSwept, Refused, TwinhiveError
from twinhive.core.model.files import AS_USUAL, Creation, FileStatus, join
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.ports import FileWriter, rename_into
from twinhive.core.threads.parallel_map import Threads
from twinhive.transfer.engine.transfer import Transfer, Transferred

SPLIT_ABOVE = 1 << 30
_USUAL_BLOCK = 128 * 1024 * 1024


@dataclass(frozen=True)
class Range:
    """Consecutive bytes of a file; `number` is its place among the others."""

    number: int
    offset: int
    length: int


def split(length: int, block_size: int, above: int) -> list[Range]:
    """Cut a file into ranges of about equal size, none above `above` bytes or one block, all of whole blocks.

    A file of at most `above` bytes is one range.
    """
    block = block_size or _USUAL_BLOCK
    if length <= above:
        return [Range(0, 0, length)]
    most = max(above // block, 1)
    blocks = math.ceil(length / block)
    size = math.ceil(blocks / math.ceil(blocks / most)) * block
    return [Range(number, offset, min(size, length - offset)) for number, offset in enumerate(range(0, length, size))]


class PartsWriter:
    """Copy large files in parts; may be shared between threads.

    Parts that an earlier run has left with the right length are taken over. The whole is compared with its source
    as any copy is; if it differs, or cannot be put together, the file is copied once more, in one stream.
    """

    def __init__(self, target: FileWriter, transfer: Transfer, threads: Threads, above: int = SPLIT_ABOVE) -> None:
        self._target = target
        self._transfer = transfer
        self._threads = threads
        self._above = above
        self._can_concatenate: bool | None = None

    def takes(self, original: FileStatus) -> bool:
        """True for a file that is large enough, on a file system that can put parts together."""
        return original.length > self._above and self._can()

    def copy(self, original: FileStatus, path: str, directory: str, how: Creation = AS_USUAL) -> Transferred:
        """Copy `original` to `path`, which must not exist, by way of parts in `directory`.

        `directory` must be named by what the original is (also its time and its id): its parts are believed to be
        of that very file. Raises CopyDiffers, AlreadyThere, Missing, and CopyWasSwept where another try works on the
        same parts; parts stay for the next try.
        """
        ranges = split(original.length, how.block_size or original.block_size, self._above)
        first, *others = [join(directory, f"{each.number:05d}") for each in ranges]
        left = self._lengths(directory)
        if left.get(first) != original.length:
            self._write(original, ranges, directory, left, how)
        try:
            if left.get(first) != original.length:
                self._target.concatenate(first, others)
            verified = self._transfer.compare(original, first)
        except (CopyDiffers, ActNow):
            self._remove(directory)
            return self._transfer.copy_again(original, path, how)
        if not rename_into(self._target, first, path):
            if self._target.status(path) is None:
                raise _in_use(first, "nothing there any more")
            raise AlreadyThere(
                f"{path}: {self._target.root} has this path already",
                found=f"another file than the copy of {original.path}",
                expected="nothing there",
                next_step="run again: what is there is compared first",
            )
        self._remove(directory)
        return Transferred(original.length, verified, self._file_id(path))

    def _write(
        self, original: FileStatus, ranges: Sequence[Range], directory: str, left: dict[str, int], how: Creation
    ) -> None:
        failed: list[TwinhiveError] = []

        def write(part: Range) -> None:
            path = join(directory, f"{part.number:05d}")
            if failed or left.get(path) == part.length:
                return
            try:
                if path in left:
                    self._target.delete_file(path)
                self._transfer.copy_range(original, part.offset, part.length, path, how)
            except AlreadyThere:
                failed.append(_in_use(path, "a file that was not there before"))
            except TwinhiveError as error:
                failed.append(error)

        self._threads.each(write, ranges)
        # Not before the others have ended: they would still be writing when this is tried again.
        if failed:
            raise failed[0]

    def _lengths(self, directory: str) -> dict[str, int]:
        return {
            status.path: status.length
            for _, children in self._target.list_directories([directory])
            for status in children or ()
        }

    def _remove(self, directory: str) -> None:
        for path in self._lengths(directory):
            self._target.delete_file(path)
        self._target.delete_file(directory)

    def _file_id(self, path: str) -> int:
        status = self._target.status(path)
        return status.file_id if status else 0

    def _can(self) -> bool:
        if self._can_concatenate is None:
            try:
                self._target.concatenate(self._target.root, ())
                self._can_concatenate = True
            except Refused:
                self._can_concatenate = False
        return self._can_concatenate


def _in_use(path: str, found: str) -> CopyWasSwept:
    return CopyWasSwept(
        f"{path}: another try copies the same file now",
        found=found,
        expected="parts that nobody else writes or takes",
        next_step=RETRIES,
    )
