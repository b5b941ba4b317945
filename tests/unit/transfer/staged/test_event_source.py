"""Put an event's file where its later history may have left it, and see that it is found, or is called lost."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_streams import InMemoryStream
from twinhive.core.model.errors import Missing, Refused, Unreachable
from twinhive.core.model.files import ChecksumForm, FileStatus
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.event_source import candidates, kept_path
from twinhive.transfer.staged.staged_files import CopyItem, event_directory

STAGING = "hdfs://west/staging"
PATH = "hdfs://east/w/t/p=a b/f%20"
CMROOT = "hdfs://east/cmroot"
RENAMED = "hdfs://east/w/renamed/p=a b/f%20"
RENAMED_AGAIN = "hdfs://east/w/renamed_again/p=a b/f%20"
CONTENT = b"rows of event 217"
OTHER = b"rows of event 218"
COPIED = CopyOutcome(files=1, bytes=len(CONTENT), copied_files=1, copied_bytes=len(CONTENT))


class Restless(InMemoryFiles):
    """Be a file system whose users move files just before they are looked at, or while they are read."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.moves_before_status: dict[str, tuple[str, str]] = {}
        self.moves_once_open: dict[str, str] = {}
        self.breaks_once_open: set[str] = set()
        self.opened: list[str] = []

    def status(self, path: str) -> FileStatus | None:
        if path in self.moves_before_status:
            self.rename(*self.moves_before_status.pop(path))
        return super().status(path)

    def open(self, path: str, *, offset: int = 0, verified: bool = True) -> InMemoryStream:
        self.opened.append(path)
        stream = super().open(path, offset=offset, verified=verified)
        if path in self.moves_once_open:
            self.rename(path, self.moves_once_open.pop(path))
        if path in self.breaks_once_open:
            self.delete(path)
            raise Unreachable(f"{path}: its blocks are gone")
        return stream


class World:
    """A source on which event 217 wrote a file of small blocks, its change manager, and a replica."""

    def __init__(self) -> None:
        self.source = Restless("hdfs://east")
        self.target = InMemoryFiles("hdfs://west")
        self.source.make_directories(CMROOT)
        self.item = self.written(PATH, CONTENT, 217)
        self.kept = kept_path(CMROOT, PATH, str(self.item.checksum))

    def written(self, path: str, content: bytes, event_id: int) -> CopyItem:
        self.source.put(path, content, block_size=4096)
        checksum = self.source.checksum(path, ChecksumForm.IDENTITY)
        places = (RENAMED, RENAMED_AGAIN)
        item = CopyItem(path, 0, 0, 0, table="sales.t", checksum=checksum, cmroot=CMROOT, event_id=event_id)
        return replace(item, elsewhere=places)

    def move(self, target: str) -> None:
        self.source.make_directories(target.rpartition("/")[0])
        assert self.source.rename(PATH, target)

    def copy(self, *items: CopyItem, superseded_ok: bool = False) -> CopyOutcome:
        self.source.opened.clear()
        listed = items or [self.item]
        return copy_items(listed, self.source, self.target, STAGING, 1, superseded_ok=superseded_ok)

    def staged(self, item: CopyItem | None = None) -> bytes:
        return self.target.read((item or self.item).staged_path(STAGING))


@pytest.fixture
def world() -> World:
    return World()


def overwrite(world: World) -> None:
    world.move(world.kept)
    world.source.put(PATH, OTHER, block_size=4096)


def become_directory(world: World) -> None:
    world.move(world.kept)
    world.source.make_directories(PATH)


Change = Callable[[World], object]
PLACES: list[tuple[str, Change, Callable[[World], list[str]]]] = [
    ("at its path", lambda w: None, lambda w: [PATH]),
    ("dropped", lambda w: w.move(w.kept), lambda w: [w.kept]),
    ("overwritten", overwrite, lambda w: [w.kept]),
    ("now a directory", become_directory, lambda w: [w.kept]),
    ("renamed", lambda w: w.move(RENAMED), lambda w: [RENAMED]),
    ("renamed twice", lambda w: w.move(RENAMED_AGAIN), lambda w: [RENAMED_AGAIN]),
    (
        "dropped while it is read",
        lambda w: w.source.moves_once_open.update({PATH: w.kept}),
        lambda w: [PATH, w.kept],
    ),
    (
        "renamed and dropped between two looks",
        lambda w: (w.move(RENAMED), w.source.moves_before_status.update({RENAMED: (RENAMED, w.kept)})),
        lambda w: [w.kept],
    ),
]


@pytest.mark.parametrize(("change", "opened"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
def test_the_file_is_found(world: World, change: Change, opened: Callable[[World], list[str]]) -> None:
    change(world)
    assert world.copy() == COPIED
    assert world.source.opened == opened(world)
    assert world.target.paths() == [world.item.staged_path(STAGING)], "no unfinished copy stays"
    assert world.staged() == CONTENT
    status = world.target.status(world.item.staged_path(STAGING))
    assert status and status.block_size == 4096


def test_a_file_that_grows_while_it_is_read_is_not_taken(world: World) -> None:
    world.source.put(world.kept, CONTENT, block_size=4096)
    world.source.changes_when_opened.add(PATH)
    assert world.copy() == COPIED
    assert world.source.opened == [PATH, world.kept]
    assert world.staged() == CONTENT


def test_a_file_replaced_by_an_equal_one_while_it_is_read_is_read_again(world: World) -> None:
    class Replaced(Restless):
        def open(self, path: str, *, offset: int = 0, verified: bool = True) -> InMemoryStream:
            stream = super().open(path, offset=offset, verified=verified)
            if self.opened == [PATH]:
                self.put(PATH, CONTENT, block_size=4096)
            return stream

    world.source = Replaced("hdfs://east")
    world.written(PATH, CONTENT, 217)
    assert world.copy() == COPIED
    assert world.source.opened == [PATH, PATH]


def test_a_file_that_comes_back_after_a_moment_is_copied_in_the_second_look(world: World) -> None:
    class Flickering(Restless):
        looks = 0

        def status(self, path: str) -> FileStatus | None:
            self.looks += path == PATH
            return None if path == PATH and self.looks == 2 else super().status(path)

    world.source = Flickering("hdfs://east")
    world.written(PATH, CONTENT, 217)
    assert world.copy() == COPIED
    assert world.source.opened == [PATH, PATH]


def test_a_file_that_goes_between_status_and_checksum_is_looked_for_elsewhere(world: World) -> None:
    class Dropping(Restless):
        def checksum(self, path: str, form: ChecksumForm, *, length: int | None = None) -> str | None:
            if path == PATH and self.status(RENAMED):
                self.delete(PATH)
            return super().checksum(path, form, length=length)

    world.source = Dropping("hdfs://east")
    world.written(PATH, CONTENT, 217)
    world.source.put(RENAMED, CONTENT, block_size=4096)
    assert world.copy() == COPIED
    assert world.source.opened == [RENAMED]


def test_whatever_fails_while_the_file_goes_away_is_not_the_reason(world: World) -> None:
    world.source.put(world.kept, CONTENT, block_size=4096)
    world.source.breaks_once_open.add(PATH)
    assert world.copy() == COPIED
    assert world.source.opened == [PATH, world.kept]


def test_a_file_that_is_nowhere_is_lost_and_all_that_was_found_is_said(world: World) -> None:
    world.source.put(PATH, OTHER + b"!", block_size=4096)
    world.source.put(world.kept, OTHER, block_size=4096)
    world.source.make_directories(RENAMED)
    outcome = world.copy()
    [failure] = outcome.failures
    assert (outcome.files, outcome.copied_files, failure.kind) == (1, 0, FailureKind.LOST)
    assert (failure.path, failure.table, failure.event_id) == (PATH, "sales.t", 217)
    at_path, in_cmroot = (world.source.checksum(path, ChecksumForm.IDENTITY) for path in (PATH, world.kept))
    for said in (
        f"{PATH}: the file of event 217 is lost",
        f"expected: a file with checksum {world.item.checksum}",
        f"{PATH}: a file of 18 bytes with checksum {at_path}",
        f"{world.kept}: a file of 17 bytes with checksum {in_cmroot}",
        f"{RENAMED}: a directory",
        f"{RENAMED_AGAIN}: nothing",
    ):
        assert said in failure.reason
    assert world.source.opened == [] and world.target.paths() == []


def test_the_same_content_in_other_blocks_is_another_file(world: World) -> None:
    world.source.put(PATH, CONTENT, block_size=8192)
    assert [failure.kind for failure in world.copy().failures] == [FailureKind.LOST]


def test_a_round_of_consolidating_lists_again_instead_of_failing_for_a_lost_file(world: World) -> None:
    world.source.delete(PATH)
    outcome = world.copy(superseded_ok=True)
    assert (outcome.superseded_files, outcome.failures) == (1, ())


def test_an_early_round_does_not_forgive_a_staging_area_that_is_gone(world: World) -> None:
    class Swept(InMemoryFiles):
        def rename(self, source: str, target: str) -> bool:
            raise Missing(f"{target}: the directory to rename into does not exist")

    world.target = Swept("hdfs://west")
    assert [failure.kind for failure in world.copy(superseded_ok=True).failures] == [FailureKind.SWEPT]


class Guarded(Restless):
    """Be a file system whose change manager's directory only its owner may read."""

    def status(self, path: str) -> FileStatus | None:
        if path.startswith(CMROOT):
            raise Refused(f"{path}: permission denied", next_step="grant the right on this path")
        return super().status(path)


def test_a_place_that_may_not_be_read_does_not_hide_the_others(world: World) -> None:
    world.source = Guarded("hdfs://east")
    world.written(RENAMED, CONTENT, 217)
    assert world.copy() == COPIED


def test_nothing_is_called_lost_that_may_lie_where_we_must_not_look(world: World) -> None:
    world.source = Guarded("hdfs://east")
    [failure] = world.copy().failures
    assert failure.kind is FailureKind.REFUSED
    assert f"{world.kept}: permission denied" in failure.reason and "grant the right" in failure.reason


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (lambda w: setattr(w.source, "unanswered", 1), []),
        (lambda w: setattr(w.source, "down", True), ["unreachable"]),
        (lambda w: setattr(w.target, "corrupt_next_copies", 1), []),
        (lambda w: setattr(w.target, "corrupt_next_copies", 2), ["differs"]),
        (lambda w: w.target.forbidden.add(STAGING), ["refused"]),
    ],
)
def test_other_failures_are_those_of_every_file(world: World, change: Change, kinds: list[str]) -> None:
    change(world)
    assert [str(failure.kind) for failure in world.copy().failures] == kinds


def test_a_replica_without_checksums_compares_lengths(world: World) -> None:
    world.target = InMemoryFiles("hdfs://west", has_checksums=False)
    assert world.copy() == replace(COPIED, unverified=1)


@pytest.mark.parametrize("estimate", [0, 17, 99])
def test_what_is_staged_is_skipped_whatever_its_length_was_thought_to_be(world: World, estimate: int) -> None:
    world.copy()
    world.source.delete(PATH)
    before = world.source.calls.copy()
    assert world.copy(replace(world.item, length=estimate)) == CopyOutcome(files=1, bytes=17, skipped_files=1)
    assert world.source.calls == before


def test_two_events_with_one_path_are_both_staged(world: World) -> None:
    world.move(world.kept)
    later = world.written(PATH, OTHER, 218)
    outcome = world.copy(world.item, later)
    assert (outcome.files, outcome.copied_files, outcome.failures) == (2, 2, ())
    assert (world.staged(), world.staged(later)) == (CONTENT, OTHER)
    assert [path.rpartition("/")[0] for path in world.target.paths()] == [
        event_directory(STAGING, 217),
        event_directory(STAGING, 218),
    ]


def test_events_and_a_listing_share_a_batch(world: World) -> None:
    status = world.source.put("hdfs://east/w/t/listed", b"listed")
    listed = CopyItem(status.path, status.length, status.modified_ms, status.file_id)
    assert world.copy(listed, world.item).copied_files == 2
    assert (world.staged(listed), world.staged()) == (b"listed", CONTENT)


def test_each_place_is_asked_once() -> None:
    item = CopyItem(PATH, 0, 0, 0, checksum="00ab", cmroot=CMROOT, elsewhere=(RENAMED, PATH, RENAMED))
    assert candidates(item) == [PATH, f"{CMROOT}/f%20_00ab", RENAMED]
    assert candidates(replace(item, cmroot=None, elsewhere=())) == [PATH]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("f", "f_" + "c" * 56),
        ("n" * 198, "n" * 198 + "_" + "c" * 56),
        ("n" * 199, "n" * 199 + "_" + "c" * 54),
        ("é" + "n" * 198, "é" + "n" * 198 + "_" + "c" * 54),
        ("n" * 255, "n" * 254),
    ],
)
def test_the_change_manager_shortens_long_names(name: str, kept: str) -> None:
    assert kept_path(f"{CMROOT}/", f"hdfs://east/w/{name}", "c" * 56) == f"{CMROOT}/{kept}"
