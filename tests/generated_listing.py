"""List a tree that is nowhere: as large as wanted, made up while it is listed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.fake_files import InMemoryFiles
from twinhive.domain.files import FileStatus, join, relative_to

PAGE = 1000
_MODIFIED_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Shape:
    """A directory with directories of files; every `different`th file is longer by one byte than on another side."""

    directories: int
    files: int
    different: int = 0

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
        for start in range(0, max(1, shape.directories), PAGE):
            numbers = range(start, min(start + PAGE, shape.directories))
            yield path, [_directory(join(path, f"d{number:08d}"), number + 2) for number in numbers]

    def _files(self, path: str, directory: int, shape: Shape) -> Iterator[tuple[str, list[FileStatus]]]:
        first = directory * shape.files
        for start in range(0, max(1, shape.files), PAGE):
            page = []
            for number in range(start, min(start + PAGE, shape.files)):
                longer = self.longer and shape.different and number % shape.different == 0
                page.append(
                    FileStatus(
                        f"{path}/f{number:08d}",
                        10_001 if longer else 10_000,
                        _MODIFIED_MS,
                        False,
                        20_000_000 + first + number,
                        "hive",
                        "hive",
                        0o644,
                        134_217_728,
                        3,
                    )
                )
            yield path, page


def _directory(path: str, file_id: int) -> FileStatus:
    return FileStatus(path, 0, _MODIFIED_MS, True, file_id, "hive", "hive", 0o755)
