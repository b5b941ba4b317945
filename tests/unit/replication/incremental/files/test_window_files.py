"""What a window costs at the source depends on what its events wrote, not on what the tables hold besides."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.files import FileStatus
from twinhive.replication.incremental.window_files import lengths_of, some_are_nowhere
from twinhive.transfer.staged.event_source import kept_path


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


@pytest.mark.parametrize(("kept", "nowhere"), [(0, True), (2_000, False)])
def test_files_that_are_nowhere_are_not_looked_for_longer_than_it_takes(kept: int, nowhere: bool) -> None:
    class Asked(InMemoryFiles):
        """Count the questions."""

        asked = 0

        def status(self, path: str) -> FileStatus | None:
            self.asked += 1
            return super().status(path)

    files = Asked("hdfs://east")
    absent = [SourceFile(f"hdfs://east/w/{one}", checksum=f"{one:x}", cmroot="hdfs://east/cm") for one in range(2_000)]
    for one in absent[:kept]:
        files.put(kept_path("hdfs://east/cm", one.path, str(one.checksum)), b"x")
    files.asked = 0
    assert some_are_nowhere(files, absent) is nowhere
    assert files.asked == (500 if nowhere else 2_000)
