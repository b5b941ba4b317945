"""Write one copy into staging: compared with its source, and only then given its name."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from twinhive.copying.staged import unfinished_directory
from twinhive.domain.errors import CopyDiffers, Refused, TwinhiveError
from twinhive.domain.files import ChecksumForm, FileStatus, join, parent
from twinhive.ports import FileReader, FileWriter


@dataclass(frozen=True)
class Staged:
    """A copy that has its name: bytes, and whether checksums were compared (else lengths only)."""

    length: int
    verified: bool


class Stager:
    """Write copies from one file system into the staging directory of another; may be shared between threads."""

    def __init__(self, source: FileReader, target: FileWriter, staging: str) -> None:
        self._source = source
        self._target = target
        self._staging = staging
        self._made: set[str] = set()

    def stage(self, original: FileStatus, path: str, check_source: Callable[[], None]) -> Staged:
        """Copy `original` (path, length and block size count) to `path`, which is never overwritten.

        `check_source` is called when the copy is written and compared, and raises if the source is
        not the file any more that it was. Raises CopyDiffers, and Refused when `path` is taken.
        """
        temporary = join(unfinished_directory(self._staging), uuid.uuid4().hex)
        try:
            verified = self._write(original, temporary)
            check_source()
            self._commit(original, temporary, path)
        except BaseException:
            self._delete_quietly(temporary)
            raise
        return Staged(original.length, verified)

    def _write(self, original: FileStatus, temporary: str) -> bool:
        """Write a copy and compare it; False when there were no checksums and only the lengths were compared."""
        stream = self._source.open(original.path)
        written = self._target.create_from(stream, temporary, block_size=original.block_size)
        if written != original.length:
            raise _differs(original, "length", written, original.length)
        there = self._source.checksum(original.path, ChecksumForm.COMPARISON)
        here = self._target.checksum(temporary, ChecksumForm.COMPARISON) if there is not None else None
        if there is None or here is None:
            return False
        if here != there:
            raise _differs(original, "checksum", here, there)
        return True

    def _commit(self, original: FileStatus, temporary: str, path: str) -> None:
        """Give a verified copy its name, unless another attempt has been faster."""
        if parent(path) not in self._made:
            self._target.make_directories(parent(path))
            self._made.add(parent(path))
        if self._target.rename(temporary, path):
            return
        there = self._target.status(path)
        if there is None:
            raise CopyDiffers(f"{temporary}: the copy of {original.path} vanished before it had its name")
        if there.is_directory or there.length != original.length:
            raise Refused(
                f"{path}: a copy of {original.path} with a wrong length is in the way",
                found="a directory" if there.is_directory else f"{there.length} bytes",
                expected=f"{original.length} bytes",
                next_step="find out who wrote it, delete it, run again",
            )
        self._delete_quietly(temporary)

    def _delete_quietly(self, path: str) -> None:
        with suppress(TwinhiveError):
            self._target.delete(path)


def _differs(original: FileStatus, what: str, found: object, expected: object) -> CopyDiffers:
    return CopyDiffers(f"{original.path}: the copy has another {what}", found=found, expected=expected)
