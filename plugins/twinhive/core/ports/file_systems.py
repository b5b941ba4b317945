"""State what is needed of the files of a file system."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import AS_USUAL, ChecksumForm, Creation, FileStatus, Space, Usage, Written, parent

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class FileReader(Protocol):
    """Read one file system. Paths are full URIs."""

    @property
    def root(self) -> str:
        """Scheme and authority: `hdfs://east`."""
        ...

    def in_safe_mode(self) -> bool:
        """True while the file system refuses writes by itself."""
        ...

    def status(self, path: str) -> FileStatus | None:
        """Return the status of a path, or None when it does not exist."""
        ...

    def list_directories(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        """Yield the direct children of each directory, sorted, or None for a missing one.

        Directories come in the given order and in bulk calls where the file system has them.
        """
        ...

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        """Yield the direct children of each directory in pieces, so that none of any size is held as a whole.

        Directories come in the given order, an empty one as one empty page, a missing one as None. The
        children are in the order of `name_order`, over all pages of a directory.
        """
        ...

    def usage(self, path: str) -> Usage:
        """Return what is below a path. Raises Missing."""
        ...

    def space(self, path: str, within: str) -> Space:
        """Return free space for writes below a path; the nearest existing ancestor counts.

        Quotas are looked for at `within` and below it, on the way to the path. To ask a directory without a quota makes
        the NameNode count all that is in it: nobody may ask what holds more than our own.
        """
        ...

    def checksum(self, path: str, form: ChecksumForm, *, length: int | None = None) -> str | None:
        """Return the checksum in hex of a file or of its first `length` bytes. Raises Missing.

        None where the file system has none.
        """
        ...

    def checksum_type(self, path: str) -> str:
        """Say how HDFS guards a file's blocks (`CRC32C/512`), '' where that is not known. Raises Missing."""
        ...

    def digest(self, path: str) -> str:
        """Return the SHA-256 in hex of a file of any size, whose bytes are read for it. Raises Missing."""
        ...

    def read(self, path: str) -> bytes:
        """Return a whole (small) file. Raises Missing."""
        ...

    def open(self, path: str, *, offset: int = 0, verified: bool = True) -> Any:
        """Open a file as a stream that a writer of the same kind can copy from. Raises Missing.

        Without `verified` the file system does not compare the bytes with its own checksums, for a
        reader who does that with the whole file.
        """
        ...

    def attribute(self, path: str, name: str) -> str | None:
        """Return an extended attribute of a path, or None. Raises Missing."""
        ...


class FileWriter(FileReader, Protocol):
    """Write one file system."""

    def write(self, path: str, content: bytes) -> None:
        """Write a (small) file as a whole, replacing one of the same name; parents are made."""
        ...

    def create_from(
        self,
        stream: Any,
        path: str,
        *,
        how: Creation = AS_USUAL,
        length: int | None = None,
        meter: Callable[[int], None] | None = None,
    ) -> Written:
        """Write what `stream` holds, or its next `length` bytes, into a new file; close both.

        Parents are made. `meter` is called with the bytes of each piece, before it is written: it may wait,
        and what it raises ends the copy. Raises AlreadyThere.
        """
        ...

    def append_from(self, stream: Any, path: str, *, meter: Callable[[int], None] | None = None) -> int:
        """Write what `stream` holds behind the end of a file, close both, return the bytes. Raises Missing."""
        ...

    def concatenate(self, path: str, parts: Sequence[str]) -> None:
        """Move the bytes of `parts`, in their order, behind the end of a file of the same directory.

        Raises Refused where the file system cannot, which a call without parts finds out at no cost.
        """
        ...

    def make_directories(self, path: str) -> None:
        """Make a directory and its parents; one that exists is fine."""
        ...

    def make_private(self, path: str) -> None:
        """Make a directory that nobody but its owner may look into, its parents as usual; one that exists stays."""
        ...

    def set_permission(self, path: str, permission: int) -> None:
        """Give a path another mode, as chmod does. Raises Missing, Refused."""
        ...

    def rename(self, source: str, target: str) -> bool:
        """Rename without overwriting; False when the target exists or the source is gone.

        Raises Missing when the directory around the target does not exist.
        """
        ...

    def replace(self, source: str, target: str) -> None:
        """Rename a file over another, in one step where the file system can. Raises Missing, Refused (a directory)."""
        ...

    def delete_file(self, path: str) -> bool:
        """Delete a file, or a directory with nothing in it; False when there was none.

        Raises Refused for a directory with something in it.
        """
        ...

    def delete(self, path: str) -> bool:
        """Delete a file or a whole directory for good; False when there was none.

        Outside of `owned`, which asks whose a directory is, nobody but a copy of trees calls this.
        """
        ...

    def to_trash(self, path: str) -> bool:
        """Move a file or a whole directory to the trash of the file system's user.

        False when nothing was moved: no trash is kept, or nothing is there. Raises Refused when the trash does not
        take it.
        """
        ...

    def set_attribute(self, path: str, name: str, value: str) -> None:
        """Set an extended attribute. Raises Missing."""
        ...


def if_there(ask: Callable[Asked, Answer], *given: Asked.args, **named: Asked.kwargs) -> Answer | None:
    """Return what somebody answers of a thing, None where he says that it is missing."""
    try:
        return ask(*given, **named)
    except Missing:
        return None


def children(files: FileReader, directory: str) -> list[FileStatus]:
    """Return what lies in a directory, sorted; nothing where there is none."""
    ((_, found),) = files.list_directories([directory])
    return found or []


def rename_into(files: FileWriter, source: str, target: str) -> bool:
    """Make the directory around a target, then rename to it; False when the target exists or the source is gone."""
    files.make_directories(parent(target))
    return files.rename(source, target)


def rename_or_make(files: FileWriter, source: str, target: str) -> bool:
    """Do the same where that directory is mostly there: it is made only when the rename says that it is missing."""
    try:
        return files.rename(source, target)
    except Missing:
        return rename_into(files, source, target)
