"""List a tree that is nowhere: as large as wanted, made up while it is listed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import FileStatus, join, relative_to

_MODIFIED_MS = 1_700_000_000_000
_LENGTH = 10_000
_FIRST_FILE_ID = 20_000_000
_FILE = vars(FileStatus("", _LENGTH, _MODIFIED_MS, False, 0, "hive", "hive", 0o644, 134_217_728, 3))


@dataclass(frozen=True)
class Shape:
    """A directory with directories of files; with `different`, every so many-th file is longer on the `longer` side."""

    directories: int
    files: int
    different: int = 0
    page: int = 1000

    @property
    def all_files(self) -> int:
        """Return how many files there are."""
        return self.directories * self.files


class GeneratedListing:
    """Be what planning needs of a file system; directories and files have ids, as in HDFS."""

    def __init__(self, base: str, shape: Shape | None, *, longer: bool = False) -> None:
        self.base = base
        self.shape = shape
        self.longer = longer
        self.root = InMemoryFiles(base.rpartition("/")[0]).root

    def status(self, path: str) -> FileStatus | None:
        """Only the base exists by itself."""
        return _directory(path, 1) if path == self.base and self.shape else None

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        """Yield pages as HDFS would."""
        for path in paths:
            inside = relative_to(path, self.base) if self.shape else "nothing"
            if not self.shape or not (inside == "" or inside.startswith("d")):
                yield path, None
            elif inside:
                yield from self._files(path, int(inside[1:]), self.shape)
            else:
                yield from self._directories(path, self.shape)

    def _directories(self, path: str, shape: Shape) -> Iterator[tuple[str, list[FileStatus]]]:
        for start in range(0, max(1, shape.directories), shape.page):
            numbers = range(start, min(start + shape.page, shape.directories))
            yield path, [_directory(join(path, f"d{number:08d}"), number + 2) for number in numbers]

    def _files(self, path: str, directory: int, shape: Shape) -> Iterator[tuple[str, list[FileStatus]]]:
        first = _FIRST_FILE_ID + directory * shape.files
        for start in range(0, max(1, shape.files), shape.page):
            numbers = range(start, min(start + shape.page, shape.files))
            yield path, [self._file(f"{path}/f{number:08d}", number, first + number) for number in numbers]

    def _file(self, path: str, number: int, file_id: int) -> FileStatus:
        """Return a status at a fraction of what its constructor costs, which is not what is measured here."""
        status = object.__new__(FileStatus)
        status.__dict__.update(_FILE)
        status.__dict__["path"], status.__dict__["file_id"] = path, file_id
        if self.longer and self.shape and self.shape.different and number % self.shape.different == 0:
            status.__dict__["length"] = _LENGTH + 1
        return status


def _directory(path: str, file_id: int) -> FileStatus:
    return FileStatus(path, 0, _MODIFIED_MS, True, file_id, "hive", "hive", 0o755)
