"""What a window costs at the source depends on what its events wrote, not on what the tables hold besides."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.incremental.window_files import lengths_of
from twinhive.model.files import FileStatus


class Counted(InMemoryFiles):
    """Count the entries that listings show."""

    def __init__(self) -> None:
        super().__init__("hdfs://east")
        self.shown: Counter[str] = Counter()

    def list_directories(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        return self._count(super().list_directories(paths))

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        return self._count(super().list_pages(paths))

    def _count(self, listed: Any) -> Iterator[tuple[str, list[FileStatus] | None]]:
        for path, page in listed:
            self.shown["entries"] += len(page or ())
            yield path, page


@pytest.fixture
def files() -> Counted:
    """A table of 5,000 files."""
    files = Counted()
    for number in range(5000):
        files.put(f"hdfs://east/w/t/{number}", b"x" * (number % 7))
    return files


def test_one_new_file_of_a_large_table_is_asked_for_alone(files: Counted) -> None:
    files.put("hdfs://east/w/t/new", b"12345")
    files.calls.clear()
    paths = ["hdfs://east/w/t/new", "hdfs://east/w/t/gone", "hdfs://east/w/none/f"]
    assert lengths_of(files, paths) == {"hdfs://east/w/t/new": 5}
    assert files.shown["entries"] == 0
    assert files.calls["status"] == 3


def test_many_files_of_a_directory_come_with_its_listing(files: Counted) -> None:
    paths = [f"hdfs://east/w/t/{number}" for number in range(4000, 6000)]
    files.calls.clear()
    found = lengths_of(files, paths)
    assert found == {path: int(path.rpartition("/")[2]) % 7 for path in paths[:1000]}
    assert files.calls["status"] == 0
