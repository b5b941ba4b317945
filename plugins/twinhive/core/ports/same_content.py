"""Tell whether two files hold the same bytes: the one place that concludes so from checksums.

Two file systems may guard their files by checksums of different types, which say nothing of each other, or by none.
What was not compared is not equal: the bytes of both files are read then.
"""

from twinhive.core.model.files import ChecksumForm
from twinhive.core.ports.file_systems import FileReader

_OF_NO_TYPE = ("", "NULL", "MIXED")


def have_same_content(one: FileReader, here: str, other: FileReader, there: str) -> bool:
    """Tell whether two files of one length hold the same bytes. Raises Missing."""
    ours, theirs = (files.checksum(path, ChecksumForm.COMPARISON) for files, path in ((one, here), (other, there)))
    if ours is not None and theirs is not None:
        if ours == theirs:
            return True
        if are_guarded_alike(one, here, other, there):
            return False
    return one.digest(here) == other.digest(there)


def are_guarded_alike(one: FileReader, here: str, other: FileReader, there: str) -> bool:
    """True for two files whose checksums are of one type: if these differ, the bytes do. Raises Missing.

    How many bytes one checksum covers does not count: whole files compare whatever that is.
    """
    types = {files.checksum_type(path).partition("/")[0] for files, path in ((one, here), (other, there))}
    return len(types) == 1 and types.isdisjoint(_OF_NO_TYPE)
