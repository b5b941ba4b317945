"""Take the right to write from directories of copies, from their owner too, and give it back.

Engines change files before they ask a metastore, or without asking it. What has no write bit HDFS guards against
everybody but its superusers: it lets nobody add, replace or remove a name there.
"""

from collections.abc import Iterator

from twinhive.core.model.files import FileStatus
from twinhive.core.ports import FileReader, FileWriter

_WRITE = 0o222
OWNER_WRITES = 0o200


def protect(files: FileWriter, directory: str) -> None:
    """Let nobody write into a directory, nor into any below it; its own bits go last, and say that all is done."""
    for one in reversed(list(_directories(files, directory))):
        if one.permission & _WRITE:
            files.set_permission(one.path, one.permission & ~_WRITE)


def unprotect(files: FileWriter, directory: str) -> None:
    """Let the owner write into a directory again, and into all below it: who removes one has to."""
    for one in _directories(files, directory):
        if not one.permission & OWNER_WRITES:
            files.set_permission(one.path, one.permission | OWNER_WRITES)


def _directories(files: FileReader, directory: str) -> Iterator[FileStatus]:
    """Yield a directory and those below it, those above first; nothing for one that is not there."""
    status = files.status(directory)
    waiting = [status] if status is not None and status.is_directory else []
    while waiting:
        yield from waiting
        pages = files.list_pages([one.path for one in waiting])
        waiting = [child for _, page in pages for child in page or () if child.is_directory]
