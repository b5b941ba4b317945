"""Directories of very many partitions are looked at in pages, and each parent is listed once."""

from collections.abc import Iterable, Iterator

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import FileStatus
from twinhive.replication.comparison.directory_fingerprints import LooksOfPages, PackedLooks


def test_what_is_packed_is_found_again_whenever_it_was_put() -> None:
    looks = PackedLooks()
    for number in range(2_000):
        looks.put(f"hdfs://east/t/p={number}", (number, -number))
        if number % 700 == 0:
            assert looks.get(f"hdfs://east/t/p={number}") == (number, -number)
    assert all(looks.get(f"hdfs://east/t/p={number}") == (number, -number) for number in range(2_000))
    assert looks.get("hdfs://east/t/p=2000") is None


class Listed(InMemoryFiles):
    """Count how often each directory is listed."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.listed: list[str] = []

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        paths = list(paths)
        self.listed += paths
        yield from super().list_pages(paths)


def test_parents_are_listed_once_and_every_page_has_the_looks_of_its_own() -> None:
    files = Listed("hdfs://east")
    places = [f"hdfs://east/t/p={number}" for number in range(20)]
    places += [f"hdfs://east/t/_tw/{number}/p=a" for number in range(100, 110)]
    for place in [*places, "hdfs://east/t/unused"]:
        files.write(f"{place}/f", b"x")
    looks = LooksOfPages(files)
    found = {}
    for start in range(0, len(places), 3):
        page = [*places[start : start + 3], "hdfs://east/t/not there", "hdfs://east/nowhere/p=1"]
        now = looks.of(page)
        assert now.keys() == set(places[start : start + 3])
        found |= now
    for place in places:
        status = files.status(place)
        assert status is not None
        assert found[place] == (status.file_id, status.modified_ms)
    assert files.listed.count("hdfs://east/t") == 1
    assert all(files.listed.count(f"hdfs://east/t/_tw/{number}") == 1 for number in range(100, 110))
