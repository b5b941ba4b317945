"""Copy the bytes of one file, and see that what arrived is what was there."""

from dataclasses import dataclass

from twinhive.core.model.errors import CopyDiffers
from twinhive.core.model.files import AS_USUAL, ChecksumForm, Creation, FileStatus, Written
from twinhive.core.ports import FileReader, FileWriter
from twinhive.transfer.engine.meter import OnBytes

# Asking the source for a checksum costs it calls but reads no bytes: it pays where bytes are many.
_VERIFY_BY_SERVER_FROM = 64 * 1024 * 1024


@dataclass(frozen=True)
class Transferred:
    """A copy: bytes, whether checksums were compared (else lengths only), and the id of the new file (0: none)."""

    length: int
    verified: bool
    file_id: int = 0


class Transfer:
    """Write copies to paths that do not exist yet; may be shared between threads.

    A small file is verified by its bytes: the source's file system verifies what is read, and the checksum of
    what was written is compared with the one that the target's file system has. A large one is read without
    verification, and the checksums of both file systems are compared: from end to end, without a second pass.
    `meter` is called with the bytes of each piece (`ports.FileWriter.create_from`).
    """

    def __init__(
        self,
        source: FileReader,
        target: FileWriter,
        meter: OnBytes | None = None,
        *,
        by_server_from: int = _VERIFY_BY_SERVER_FROM,
    ) -> None:
        self._source = source
        self._target = target
        self._meter = meter
        self._by_server_from = by_server_from
        self._are_comparable = True
        self._source_checksums: str | None = None

    def source_checksums(self, original: FileStatus) -> str:
        """Say how the source guards its files, for copies that compare with them ever after.

        It is asked of the first file that holds something, and taken for all: a cluster's writers mostly agree.
        """
        if self._source_checksums is None and original.length:
            self._source_checksums = self._source.checksum_type(original.path)
        return self._source_checksums or ""

    def copy(self, original: FileStatus, path: str, how: Creation = AS_USUAL) -> Transferred:
        """Copy `original` (path and length count) to `path`. Raises CopyDiffers, AlreadyThere, Missing."""
        if original.length < self._by_server_from or not self._are_comparable:
            written = self._write(original, path, how, verified=True)
            return self._verified(original, path, written, written.checksum)
        written = self._write(original, path, how, verified=False)
        expected = self._checksum(self._source, original.path) or written.checksum
        try:
            return self._verified(original, path, written, expected)
        except CopyDiffers:
            self._target.delete_file(path)
            return self.copy_again(original, path, how)

    def copy_again(self, original: FileStatus, path: str, how: Creation = AS_USUAL) -> Transferred:
        """Copy a file whose copy was not equal to it: verified, as that takes another replica of a corrupt block.

        The reason can also be that the source guards its blocks by checksums of another type, which never
        compare: later files are verified by their bytes then.
        """
        written = self._write(original, path, how, verified=True)
        copied = self._verified(original, path, written, written.checksum)
        self._are_comparable = written.checksum == self._checksum(self._source, original.path)
        return copied

    def copy_range(
        self, original: FileStatus, offset: int, length: int, path: str, how: Creation = AS_USUAL
    ) -> Written:
        """Copy a part of a large file; only its length is compared (`compare` is for the whole)."""
        stream = self._source.open(original.path, offset=offset, verified=False)
        written = self._target.create_from(stream, path, how=how, length=length, meter=self._meter)
        if written.length != length:
            raise _differs(original, f"length of the part at {offset}", written.length, length)
        return written

    def compare(self, original: FileStatus, path: str) -> bool:
        """Compare a whole copy with its source; False when there were no checksums. Raises CopyDiffers."""
        return self._compare(original, path, self._checksum(self._source, original.path))

    def _write(self, original: FileStatus, path: str, how: Creation, *, verified: bool) -> Written:
        stream = self._source.open(original.path, verified=verified)
        written = self._target.create_from(stream, path, how=how, meter=self._meter)
        if written.length != original.length:
            raise _differs(original, "length", written.length, original.length)
        return written

    def _verified(self, original: FileStatus, path: str, written: Written, expected: str | None) -> Transferred:
        if not written.length:
            return Transferred(0, True, written.file_id)
        if expected is None:
            expected = self._checksum(self._source, original.path)
        return Transferred(written.length, self._compare(original, path, expected), written.file_id)

    def _compare(self, original: FileStatus, path: str, expected: str | None) -> bool:
        found = None if expected is None else self._checksum(self._target, path)
        if found is None:
            return False
        if found != expected:
            raise _differs(original, "checksum", found, expected)
        return True

    def _checksum(self, files: FileReader, path: str) -> str | None:
        return files.checksum(path, ChecksumForm.COMPARISON)


def _differs(original: FileStatus, what: str, found: object, expected: object) -> CopyDiffers:
    return CopyDiffers(
        f"{original.path}: the copy has another {what}",
        found=found,
        expected=expected,
        next_step="nothing at first: it is copied anew. If it goes on, look whether the file is being written, and at "
        "the disks of both file systems (hdfs fsck)",
    )
