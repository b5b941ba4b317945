"""Compare the contents of two files without reading them: by checksums that are equal for equal contents."""

from twinhive.core.model.files import ChecksumForm, FileStatus
from twinhive.core.ports import FileReader


def are_equal(
    source: FileReader, original: FileStatus, target: FileReader, there: FileStatus, *, length: int | None = None
) -> bool | None:
    """Say whether the target's file is the original, or its first `length` bytes; None where that cannot be told.

    Not every store has checksums, and those that have guard their files in different ways. Raises Missing.
    """
    expected = source.checksum(original.path, ChecksumForm.COMPARISON, length=length)
    found = target.checksum(there.path, ChecksumForm.COMPARISON) if expected is not None else None
    return None if expected is None or found is None else expected == found


def is_not_older(there: FileStatus, original: FileStatus) -> bool:
    """Compare two files of one length by their times: what DistCp does where checksums cannot be compared."""
    return there.modified_ms >= original.modified_ms
