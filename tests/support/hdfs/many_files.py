"""A file system of which some directories have any number of files, made up while they are listed."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import FileStatus, base_name

_PAGE = 1000
_FILE = vars(FileStatus("", 10_000, 1_700_000_000_000, False, 0, "hive", "hive", 0o644, 134_217_728, 3))
_KEPT = b"kept in "


class ManyFiles(InMemoryFiles):
    """Directories called `data` have `many` files; copies of them are staged already, and go where they are renamed to.

    Lists are kept on the disk, in `lists`: in this process they would take the memory that is measured.
    """

    def __init__(self, root: str, many: int, lists: Path) -> None:
        super().__init__(root)
        self.many = many
        self.lists = lists
        self.placed = 0

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        for path in paths:
            if base_name(path) == "data" and path in self._nodes:
                yield from self._pages(path)
            else:
                yield from super().list_pages([path])

    def status(self, path: str) -> FileStatus | None:
        if "/base/" in path:
            return FileStatus(path, int(path.rpartition("_")[2]), 1, is_directory=False)
        return super().status(path)

    def rename(self, source: str, target: str) -> bool:
        if "/base/" in source:
            self.placed += 1
            return True
        return super().rename(source, target)

    def write(self, path: str, content: bytes) -> None:
        if path.endswith(".jsonl.gz"):
            kept = self.lists / str(len(list(self.lists.iterdir())))
            kept.write_bytes(content)
            content = _KEPT + str(kept).encode()
        super().write(path, content)

    def read(self, path: str) -> bytes:
        content = super().read(path)
        return Path(content.removeprefix(_KEPT).decode()).read_bytes() if content.startswith(_KEPT) else content

    def _pages(self, directory: str) -> Iterator[tuple[str, list[FileStatus]]]:
        for start in range(0, self.many, _PAGE):
            numbers = range(start, min(start + _PAGE, self.many))
            yield directory, [_file(f"{directory}/part-{number:08d}-c000.snappy.parquet", number) for number in numbers]


def _file(path: str, number: int) -> FileStatus:
    """Return a status at a fraction of what its constructor costs."""
    status = object.__new__(FileStatus)
    status.__dict__.update(_FILE)
    status.__dict__["path"], status.__dict__["file_id"] = path, 20_000_000 + number
    return status
