import threading
from collections.abc import Iterable, Iterator
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import ChangedMeanwhile, Refused, TwinhiveError, Unreachable
from twinhive.core.model.files import FileStatus, base_name, join, name_order
from twinhive.transfer.tree.listing import waiting_directories
from twinhive.transfer.tree.listing.lister import Lister, Unlisted
from twinhive.transfer.tree.listing.waiting_directories import WaitingDirectories, WaitingDirectory
from twinhive.transfer.tree.listing.walk import PairedDirectory, Walk

D, T = "hdfs://east/d", "hdfs://west/t"

names = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=3).filter(
    lambda name: name not in (".", "..")
)


class Listed:
    """Say of each directory what it was told to, in the order in which it was told."""

    def __init__(self, pages: dict[str, list[list[str] | TwinhiveError | None]]) -> None:
        self.pages = pages
        self.asked: list[list[str]] = []

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        asked = list(paths)
        self.asked.append(asked)
        for path in asked:
            for page in self.pages[path]:
                if isinstance(page, TwinhiveError):
                    if isinstance(page, Unreachable):
                        self.pages[path].remove(page)
                    raise page
                yield path, page if page is None else [FileStatus(join(path, name), 1, 1) for name in page]


def walked(
    source: object, target: object, *directories: WaitingDirectory
) -> list[tuple[PairedDirectory, list[tuple[str, bool, bool]]]]:
    walk = Walk(source, target, lambda directory: directory.target.path if directory.target else None)  # type: ignore[arg-type]
    for directory in directories:
        walk.push(directory)
    with closing(iter(walk)) as paired_directories:
        return [
            (paired, [(name, bool(one), bool(other)) for name, one, other in paired.pairs()])
            for paired in paired_directories
        ]


def directory(path: str = D, target: str | None = T, new_root: str | None = None) -> WaitingDirectory:
    status = FileStatus(target, 0, 1, True) if target else None
    return WaitingDirectory(base_name(path), FileStatus(path, 0, 1, True), status, new_root)


BOTH, SOURCE_ONLY, TARGET_ONLY = (True, True), (True, False), (False, True)


def test_what_has_one_name_is_paired() -> None:
    source, target = Listed({D: [["a", "b", "d"]]}), Listed({T: [["b", "c"], ["d", "e"]]})
    ((_, pairs),) = walked(source, target, directory())

    assert pairs == [
        ("a", *SOURCE_ONLY),
        ("b", *BOTH),
        ("c", *TARGET_ONLY),
        ("d", *BOTH),
        ("e", *TARGET_ONLY),
    ]


@settings(max_examples=60)
@given(st.sets(names, max_size=12), st.sets(names, max_size=12), st.integers(1, 5))
def test_any_names_are_paired_in_hdfs_order_whatever_the_pages(ours: set[str], theirs: set[str], size: int) -> None:
    east, west = InMemoryFiles("hdfs://east"), InMemoryFiles("hdfs://west")
    east.page_size = size
    west.page_size = size + 1
    east.make_directories(D)
    west.make_directories(T)
    for name in theirs:
        east.put(join(D, name))
    for name in ours:
        west.put(join(T, name))
    ((_, pairs),) = walked(east, west, directory())

    assert pairs == [(name, name in theirs, name in ours) for name in sorted(theirs | ours, key=name_order)]


def test_an_empty_directory_is_told_from_one_that_is_gone_and_one_that_cannot_be_read() -> None:
    source = Listed({f"{D}/empty": [[]], f"{D}/gone": [None], f"{D}/secret": [Refused("permission denied")]})
    target = Listed({f"{T}/{name}": [["kept"]] for name in ("empty", "gone", "secret")})
    found = {
        paired.directory.relative: (pairs, paired.was_empty, paired.vanished, paired.unlisted)
        for paired, pairs in walked(
            source, target, *(directory(f"{D}/{name}", f"{T}/{name}") for name in ("secret", "gone", "empty"))
        )
    }

    assert found["empty"] == ([("kept", *TARGET_ONLY)], True, False, None)
    assert found["gone"][0] == []
    assert found["gone"][2]
    assert found["secret"][0] == []
    assert "permission denied" in str(found["secret"][3])


def test_a_directory_that_fails_in_the_middle_shows_nothing_of_the_target_behind_it() -> None:
    source = Listed({D: [["b"], Refused("no more")]})
    target = Listed({T: [["a", "b", "c"]]})
    ((paired, pairs),) = walked(source, target, directory())

    assert pairs == [("a", *TARGET_ONLY), ("b", *BOTH)]
    assert paired.unlisted


def test_one_directory_that_fails_keeps_no_other_from_being_listed() -> None:
    paths = [f"{D}/{number}" for number in range(5)]
    pages: dict[str, list[list[str] | TwinhiveError | None]] = {path: [["a"], ["b"]] for path in paths}
    pages[paths[2]] = [Refused("secret")]
    found = walked(Listed(pages), Listed({}), *(directory(path, None) for path in paths))

    assert {paired.directory.relative: len(pairs) for paired, pairs in found} == {
        "0": 2,
        "1": 2,
        "2": 0,
        "3": 2,
        "4": 2,
    }


def test_a_listing_that_broke_off_goes_on_where_it_was() -> None:
    source = Listed({D: [["a", "b"], Unreachable("gone"), ["c"], ["d"]]})
    ((paired, pairs),) = walked(source, Listed({}), directory(target=None))

    assert [name for name, *_ in pairs] == ["a", "b", "c", "d"]
    assert not paired.unlisted


def test_a_server_that_stays_away_ends_the_walk() -> None:
    files = InMemoryFiles("hdfs://east")
    files.make_directories(D)
    files.down = True
    with pytest.raises(Unreachable):
        walked(files, Listed({}), directory(target=None))


def test_a_directory_that_was_not_answered_for_is_not_empty() -> None:
    ((paired, _),) = walked(Listed({D: []}), Listed({}), directory(target=None))
    assert paired.unlisted


@pytest.mark.parametrize("side", ["source", "target"])
def test_names_in_another_order_are_refused_before_anything_is_taken_for_gone(side: str) -> None:
    wrong, right = [["a", "c", "b"]], [["a", "b", "c"]]
    source = Listed({D: wrong if side == "source" else right})
    target = Listed({T: wrong if side == "target" else right})
    with pytest.raises(Refused, match="another order"):
        walked(source, target, directory())


def test_a_target_directory_that_vanishes_is_no_empty_one() -> None:
    with pytest.raises(ChangedMeanwhile, match="and is gone"):
        walked(Listed({D: [["a"]]}), Listed({T: [None]}), directory())


def test_what_was_not_built_yet_is_empty() -> None:
    ((_, pairs),) = walked(Listed({D: [["a"]]}), Listed({T: [None]}), directory(new_root="d"))
    assert pairs == [("a", *SOURCE_ONLY)]


def test_a_hundred_directories_are_listed_by_one_call_on_each_side() -> None:
    paths = [str(number) for number in range(250)]
    source = Listed({f"{D}/{path}": [[]] for path in paths})
    target = Listed({f"{T}/{path}": [[]] for path in paths})
    walked(source, target, *(directory(f"{D}/{path}", f"{T}/{path}") for path in paths))

    assert [len(asked) for asked in source.asked] == [100, 100, 50]
    assert [len(asked) for asked in target.asked] == [100, 100, 50]


def test_both_sides_are_listed_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=10)

    class Meeting(Listed):
        def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
            meeting.wait()
            return super().list_pages(paths)

    ((_, pairs),) = walked(Meeting({D: [["a"]]}), Meeting({T: [["a"]]}), directory())
    assert pairs == [("a", *BOTH)]


class TestLister:
    def test_it_lists_only_a_few_pages_ahead(self) -> None:
        listed = []

        class Endless(Listed):
            def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
                for number in range(1_000_000):
                    listed.append(number)
                    yield D, [FileStatus(f"{D}/{number:07d}", 1, 1)]

        lister = Lister(Endless({}), "test")  # type: ignore[arg-type]
        pages = lister.start([D]).pages(D)
        for _ in range(3):
            next(pages)
        threading.Event().wait(0.05)
        lister.close()

        assert len(listed) < 20

    def test_closing_ends_its_thread(self) -> None:
        before = threading.active_count()
        lister = Lister(Listed({D: [["a"]] * 100}), "test")  # type: ignore[arg-type]
        lister.start([D])
        lister.close()

        assert threading.active_count() == before

    def test_what_is_skipped_is_not_taken_for_the_next(self) -> None:
        lister = Lister(Listed({D: [["a"], ["b"], ["c"]], T: [["x"]]}), "test")  # type: ignore[arg-type]
        listing = lister.start([D, T])
        next(listing.pages(D))
        listing.skip(D)

        assert [base_name(status.path) for page in listing.pages(T) for status in page or ()] == ["x"]
        lister.close()

    def test_the_reason_of_a_failure_is_said(self) -> None:
        lister = Lister(Listed({D: [Refused("secret", found="nobody")]}), "test")  # type: ignore[arg-type]
        with pytest.raises(Unlisted, match="nobody"):
            list(lister.start([D]).pages(D))
        lister.close()


class TestWaiting:
    def test_the_newest_come_first_however_many_there_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(waiting_directories, "_IN_MEMORY", 20)
        monkeypatch.setattr(waiting_directories, "_BLOCK", 10)
        directories, expected, taken = WaitingDirectories(), [], []
        for number in range(500):
            directories.push(directory(f"{D}/{number}"))
            expected.append(str(number))
            if number % 7 == 0:
                taken += [each.relative for each in directories.pop(3)]
                for name in taken[-3:]:
                    assert expected.pop() == name
        while len(directories):
            for each in directories.pop(13):
                assert expected.pop() == each.relative

        assert expected == []
        directories.close()

    def test_all_that_is_known_of_a_directory_survives(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(waiting_directories, "_IN_MEMORY", 1)
        monkeypatch.setattr(waiting_directories, "_BLOCK", 1)
        above = directory("above")
        first = WaitingDirectory("a\n/b", FileStatus(f"{D}/a\n/b", 0, 7, True, 3), None, "a\n", 2, False, above, False)
        second = WaitingDirectory(
            "c", FileStatus(D, 0, 7, True), FileStatus(T, 0, 8, True, 4), None, 0, True, None, True
        )
        directories = WaitingDirectories()
        for each in (first, second, directory()):
            directories.push(each)
        _, again_second, again_first = (directories.pop(1)[0] for _ in range(3))

        for one, other in ((first, again_first), (second, again_second)):
            assert [getattr(one, name) for name in WaitingDirectory.__slots__] == [
                getattr(other, name) for name in WaitingDirectory.__slots__
            ]
        directories.close()
