"""Write one copy into staging: compared with its source, and only then given its name."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from twinhive.core.model.errors import CopyDiffers, Missing, Refused, TwinhiveError
from twinhive.core.model.files import Creation, FileStatus, base_name, is_below, join, parent
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.ports import FileWriter
from twinhive.transfer.engine.file_parts import PartsWriter
from twinhive.transfer.engine.transfer import Transfer, Transferred
from twinhive.transfer.staged.ownership import Ownership
from twinhive.transfer.staged.staged_files import base_directory, unfinished_directory


@dataclass(frozen=True)
class Staged:
    """A copy that has its name: bytes, and whether checksums were compared (else lengths only)."""

    length: int
    verified: bool


class Stager:
    """Write copies into a staging directory; may be shared between threads."""

    def __init__(
        self,
        target: FileWriter,
        transfer: Transfer,
        parts: PartsWriter,
        staging: str,
        ownership: Ownership | None = None,
    ) -> None:
        self._target = target
        self._transfer = transfer
        self._parts = parts
        self._ownership = ownership
        self._unfinished = unfinished_directory(staging)
        self._shared = base_directory(staging)
        self._made: set[str] = set()

    def stage(self, original: FileStatus, path: str, check_source: Callable[[], None]) -> Staged:
        """Copy `original` (path, length and block size count) to `path`, which is never overwritten.

        `check_source` is called when the copy is written and compared, and raises if the source is
        not the file any more that it was. Raises CopyDiffers, and Refused when `path` is taken.
        """
        temporary = join(self._unfinished, uuid.uuid4().hex)
        try:
            copied = self._copy(original, temporary, path)
            if self._ownership:
                self._ownership.give(original.path, temporary)
            check_source()
            self._commit(original, temporary, path)
        except BaseException:
            self._delete_quietly(temporary)
            raise
        return Staged(copied.length, copied.verified)

    def _copy(self, original: FileStatus, temporary: str, path: str) -> Transferred:
        how = Creation(block_size=original.block_size, checksum=self._transfer.source_checksums(original))
        if not self._parts.takes(original):
            return self._transfer.copy(original, temporary, how)
        return self._parts.copy(original, temporary, self._parts_directory(path), how)

    def _parts_directory(self, path: str) -> str:
        """Return where the parts of a copy lie: the final name says what it is, so the next attempt finds them.

        The copies of two events may have the same name, in directories of their own: theirs is said with the event.
        """
        event = "" if is_below(path, self._shared) else f"{base_name(parent(path))}-"
        return join(self._unfinished, "parts", event + base_name(path))

    def _commit(self, original: FileStatus, temporary: str, path: str) -> None:
        """Give a verified copy its name, unless another attempt has been faster."""
        if self._rename(temporary, path):
            return
        there = self._target.status(path)
        if there is None:
            raise CopyDiffers(
                f"{temporary}: the copy of {original.path} vanished before it had its name",
                found="nothing there",
                expected="the copy that was just written",
                next_step=RETRIES,
            )
        if there.is_directory or there.length != original.length:
            raise Refused(
                f"{path}: a copy of {original.path} with a wrong length is in the way",
                found="a directory" if there.is_directory else f"{there.length} bytes",
                expected=f"{original.length} bytes",
                next_step="find out who wrote it, delete it, run again",
            )
        self._delete_quietly(temporary)

    def _rename(self, temporary: str, path: str) -> bool:
        """Rename; the directory of an event is made before it, one of those that all share only where it is missing."""
        directory = parent(path)
        if directory not in self._made and is_below(directory, self._shared):
            try:
                return self._target.rename(temporary, path)
            except Missing:
                pass
        if directory not in self._made:
            self._target.make_directories(directory)
            self._made.add(directory)
        try:
            return self._target.rename(temporary, path)
        except Missing:
            self._made.discard(directory)
            raise

    def _delete_quietly(self, path: str) -> None:
        with suppress(TwinhiveError):
            self._target.delete_file(path)
