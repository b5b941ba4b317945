"""Know copies of ours again where the two file systems guard files by different kinds of checksums.

HDFS's default checksum of a copy is that of its source only if both are cut and guarded alike. With erasure coding,
another type or size of checksums, or odd blocks (append, concat) equal bytes have another one.
"""

import uuid
from collections.abc import Iterator

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.files import ChecksumForm, FileStatus, join
from twinhive.core.ports import FileReader, FileWriter, if_there
from twinhive.transfer.engine.transfer import Transfer
from twinhive.transfer.staged.event_source import kept_path
from twinhive.transfer.staged.staged_files import unfinished_directory


class OwnCopies:
    """Compare what stands at a file's place with another copy of it, or with the source's file."""

    def __init__(self, files: FileWriter, source_files: FileReader, staging: str) -> None:
        self._files = files
        self._source_files = source_files
        self._unfinished = unfinished_directory(staging)

    def is_copy(self, there: FileStatus, file: SourceFile, staged: str) -> bool:
        """True when a file has the bytes of an event's file, which lies at `staged` or is still at the source."""
        ours = self._files.checksum(there.path, ChecksumForm.COMPARISON)
        if ours is None:
            return False
        if self._files.status(staged) is not None and self._files.checksum(staged, ChecksumForm.COMPARISON) == ours:
            return True
        original = next(self._originals(file), None)
        if original is None or original.length != there.length:
            return False
        if self._source_files.checksum(original.path, ChecksumForm.COMPARISON) == ours:
            return True
        return self._copied_again(original) == ours

    def _originals(self, file: SourceFile) -> Iterator[FileStatus]:
        """Yield the event's file at the source: at its path, or in the change manager."""
        kept = [kept_path(file.cmroot, file.path, file.checksum)] if file.cmroot and file.checksum else []
        for path in (file.path, *kept):
            status, asked = self._source_files.status(path), self._source_files.checksum
            if status and not status.is_directory and if_there(asked, path, ChecksumForm.IDENTITY) == file.checksum:
                yield status

    def _copied_again(self, original: FileStatus) -> str | None:
        """Copy a file out of sight for its checksum here: those of other types never compare."""
        temporary = join(self._unfinished, uuid.uuid4().hex)
        try:
            Transfer(self._source_files, self._files).copy(original, temporary)
            return self._files.checksum(temporary, ChecksumForm.COMPARISON)
        finally:
            self._files.delete_file(temporary)
