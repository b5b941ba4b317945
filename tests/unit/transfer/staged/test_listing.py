"""Files below directories are listed by pages: of a directory with a million no more than one is held."""

from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import FileStatus
from twinhive.transfer.staged.listing import list_each, list_files


def a_file_system() -> InMemoryFiles:
    files = InMemoryFiles("hdfs://east")
    for number in range(50):
        files.put(f"hdfs://east/flat/f{number:02d}", b"x")
    files.put("hdfs://east/deep/a/b/f", b"x")
    files.put("hdfs://east/deep/_hidden/f", b"x")
    files.put("hdfs://east/deep/.tmp", b"x")
    return files


def entries_listed(files: InMemoryFiles, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Count the entries that are listed from now on; return what tells how many there were."""
    list_pages, counts = files.list_pages, list[int]()

    def counting(paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        for path, page in list_pages(paths):
            counts.append(len(page or ()))
            yield path, page

    monkeypatch.setattr(files, "list_pages", counting)
    return lambda: sum(counts)


def test_no_more_than_a_page_of_a_directory_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    files = a_file_system()
    files.page_size = 10
    taken = entries_listed(files, monkeypatch)
    for given, _ in enumerate(list_files(files, [("flat", "hdfs://east/flat")])):
        assert taken() - given <= files.page_size
    assert taken() == 50


def test_files_of_all_depths_come_with_their_owners() -> None:
    files = a_file_system()
    roots = [("one", "hdfs://east/deep"), ("none", "hdfs://east/gone"), ("inner", "hdfs://east/deep/a")]
    found = {(owner, relative, status.path) for owner, relative, status in list_files(files, roots)}
    assert found == {("one", "a/b/f", "hdfs://east/deep/a/b/f"), ("inner", "b/f", "hdfs://east/deep/a/b/f")}


def test_a_directory_of_two_owners_is_told_to_both() -> None:
    roots = [("one", "hdfs://east/flat"), ("other", "hdfs://east/flat")]
    found = [owner for owner, _, _ in list_files(a_file_system(), roots)]
    assert (found.count("one"), found.count("other")) == (50, 50)


@pytest.mark.parametrize("page_size", [1, 3, 1000])
def test_owner_by_owner_the_same_is_found(page_size: int) -> None:
    files = a_file_system()
    files.page_size = page_size
    names = ["deep", "flat", "flat", "gone", "deep/a", "flat", "deep", "deep"]
    roots = [(number, f"hdfs://east/{name}") for number, name in enumerate(names)]
    found = [(owner, [*below]) for owner, below in list_each(files, roots)]
    assert [owner for owner, _ in found] == [*range(len(names))]
    wanted = [{one[1:] for one in list_files(files, [root])} for root in roots]
    assert [set(below) for _, below in found] == wanted
    assert all(len(below) == len(set(below)) for _, below in found)


def test_owner_by_owner_no_more_than_a_page_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    files = a_file_system()
    files.page_size = 10
    taken = entries_listed(files, monkeypatch)
    given = 0
    for _, below in list_each(files, [("deep", "hdfs://east/deep"), ("flat", "hdfs://east/flat")]):
        for _ in below:
            given += 1
            assert taken() - given <= files.page_size + 6
    assert given == 51
