"""State what becomes of one file, and of many, as tables."""

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_streams import InMemoryStream
from twinhive.core.model.errors import (
    CopyDiffers,
    CopyWasSwept,
    LeaseLost,
    LostFile,
    Missing,
    Refused,
    SafeMode,
    SourceMoved,
    TwinhiveError,
    Unreachable,
)
from twinhive.core.model.files import ChecksumForm, FileStatus, Written
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.staged_files import CopyItem

STAGING = "hdfs://west/staging"
CONTENT = b"some rows"


class World:
    """Two file systems and one file to copy."""

    def __init__(self) -> None:
        self.source = InMemoryFiles("hdfs://east")
        self.target = InMemoryFiles("hdfs://west")
        self.path = "hdfs://east/w/t/p=a b/f%20"
        self.item = as_item(self.source.put(self.path, CONTENT, block_size=4096))

    @property
    def staged(self) -> str:
        return self.item.staged_path(STAGING)

    def copy(self, *items: CopyItem, threads: int = 1, superseded_ok: bool = False, looks: bool = True) -> CopyOutcome:
        listed = items or [self.item]
        return copy_items(listed, self.source, self.target, STAGING, threads, superseded_ok=superseded_ok, looks=looks)

    def kinds(self) -> list[str]:
        return [str(failure.kind) for failure in self.copy().failures]


def as_item(status: FileStatus) -> CopyItem:
    return CopyItem(status.path, status.length, status.modified_ms, status.file_id, status.block_size)


def become_directory(world: World) -> None:
    world.source.delete(world.path)
    world.source.make_directories(world.path)


@pytest.fixture
def world() -> World:
    return World()


def test_an_absent_file_is_copied(world: World) -> None:
    assert world.copy() == CopyOutcome(files=1, bytes=9, copied_files=1, copied_bytes=9)
    assert world.target.paths() == [world.staged]
    assert world.target.read(world.staged) == CONTENT
    status = world.target.status(world.staged)
    assert status and status.block_size == 4096


def test_a_staged_file_is_skipped_without_a_look_at_the_source(world: World) -> None:
    world.target.put(world.staged, CONTENT)
    assert world.copy() == CopyOutcome(files=1, bytes=9, skipped_files=1)
    assert not world.source.calls


def test_an_empty_file_is_copied(world: World) -> None:
    item = as_item(world.source.put("hdfs://east/w/t/empty"))
    assert world.copy(item).copied_files == 1
    assert world.target.read(item.staged_path(STAGING)) == b""


def test_a_directory_in_the_way_is_no_copy_of_an_empty_file(world: World) -> None:
    item = as_item(world.source.put("hdfs://east/w/t/empty"))
    world.target.make_directories(item.staged_path(STAGING))
    outcome = world.copy(item)
    assert [failure.kind for failure in outcome.failures] == [FailureKind.REFUSED]
    assert "found:    a directory" in outcome.failures[0].reason


Change = Callable[[World], object]
SOURCES: list[tuple[str, Change, list[str]]] = [
    ("gone", lambda w: w.source.delete(w.path), ["missing"]),
    ("a directory now", become_directory, ["changed"]),
    ("longer", lambda w: w.source.put(w.path, CONTENT * 2), ["changed"]),
    ("rewritten with the same length", lambda w: w.source.put(w.path, CONTENT[::-1]), ["changed"]),
    ("changes while it is copied", lambda w: w.source.changes_when_opened.add(w.path), ["changed"]),
    ("down", lambda w: setattr(w.source, "down", True), ["unreachable"]),
    ("does not answer once", lambda w: setattr(w.source, "unanswered", 1), []),
    ("does not answer twice", lambda w: setattr(w.source, "unanswered", 2), ["unreachable"]),
]
TARGETS: list[tuple[str, Change, list[str]]] = [
    ("down", lambda w: setattr(w.target, "down", True), ["unreachable"]),
    ("in safe mode", lambda w: setattr(w.target, "safe_mode", True), ["unreachable"]),
    ("forbids the staging directory", lambda w: w.target.forbidden.add(STAGING), ["refused"]),
    ("damages a copy once", lambda w: setattr(w.target, "corrupt_next_copies", 1), []),
    ("damages a copy twice", lambda w: setattr(w.target, "corrupt_next_copies", 2), ["differs"]),
    ("holds a stranger's file of that name", lambda w: w.target.put(w.staged, b"?"), ["refused"]),
]


@pytest.mark.parametrize(("change", "kinds"), [row[1:] for row in SOURCES], ids=[row[0] for row in SOURCES])
def test_what_the_source_may_do(world: World, change: Change, kinds: list[str]) -> None:
    change(world)
    assert world.kinds() == kinds
    assert world.target.paths() == ([] if kinds else [world.staged])


@pytest.mark.parametrize(("change", "kinds"), [row[1:] for row in TARGETS], ids=[row[0] for row in TARGETS])
def test_what_the_target_may_do(world: World, change: Change, kinds: list[str]) -> None:
    change(world)
    assert world.kinds() == kinds
    assert not [path for path in world.target.paths() if "/tmp/" in path], "no unfinished copy stays"


SUPERSEDED = ("gone", "a directory now", "longer", "rewritten with the same length", "changes while it is copied")


@pytest.mark.parametrize("change", [row[1] for row in SOURCES if row[0] in SUPERSEDED], ids=SUPERSEDED)
def test_an_early_round_counts_what_is_superseded(world: World, change: Change) -> None:
    change(world)
    assert world.copy(superseded_ok=True) == CopyOutcome(files=1, bytes=9, superseded_files=1)
    assert world.target.paths() == []


@pytest.mark.parametrize("superseded_ok", [True, False])
def test_a_table_that_is_renamed_and_back_while_its_file_is_opened_is_copied(superseded_ok: bool) -> None:
    class Renamed(InMemoryFiles):
        times = 1

        def open(self, path: str, *, offset: int = 0, verified: bool = True) -> InMemoryStream:
            if self.times:
                self.times -= 1
                raise Missing(f"{path}: this path is not there")
            return super().open(path, offset=offset, verified=verified)

    world = World()
    world.source = Renamed("hdfs://east")
    item = as_item(world.source.put(world.path, CONTENT, block_size=4096))
    assert world.copy(item, superseded_ok=superseded_ok).copied_files == 1


def test_an_early_round_still_fails_for_any_other_reason(world: World) -> None:
    world.target.forbidden.add(STAGING)
    assert [failure.kind for failure in world.copy(superseded_ok=True).failures] == [FailureKind.REFUSED]


class Swept(InMemoryFiles):
    """Another run cleans staging up, so many times, just when a copy is to get its name."""

    times = 4

    def rename(self, source: str, target: str) -> bool:
        if self.times:
            self.times -= 1
            self.delete(STAGING)
            raise Missing(f"{target}: the directory to rename into does not exist")
        return super().rename(source, target)


@pytest.mark.parametrize("of_event", [True, False])
def test_a_staging_area_that_is_gone_is_not_a_superseded_file_and_may_be_there_again(of_event: bool) -> None:
    world = World()
    world.target = Swept("hdfs://west")
    checksum = world.source.checksum(world.path, ChecksumForm.IDENTITY)
    item = replace(world.item, event_id=7, checksum=checksum) if of_event else world.item
    outcome = world.copy(item, superseded_ok=True)
    assert (outcome.superseded_files, [failure.kind for failure in outcome.failures]) == (0, [FailureKind.SWEPT])
    assert outcome.failures[0].kind.may_retry
    world.target.times = 1
    assert world.copy(item).copied_files == 1


def test_a_failure_names_the_table(world: World) -> None:
    world.source.delete(world.path)
    [failure] = world.copy(replace(world.item, table="sales.t")).failures
    assert (failure.path, failure.table, failure.event_id) == (world.path, "sales.t", 0)


def test_a_faster_attempt_wins_and_nothing_is_left_over(world: World) -> None:
    put_by_another = world.target.put

    class Overtaken(InMemoryFiles):
        def rename(self, source: str, target: str) -> bool:
            put_by_another(target, CONTENT)
            self.put(target, CONTENT)
            return super().rename(source, target)

    world.target = Overtaken("hdfs://west")
    assert world.copy().copied_files == 1
    assert world.target.paths() == [world.staged]


def test_without_checksums_at_the_target_lengths_are_compared_and_it_is_counted(world: World) -> None:
    world.target = InMemoryFiles("hdfs://west", has_checksums=False)
    assert world.copy() == CopyOutcome(files=1, bytes=9, copied_files=1, copied_bytes=9, unverified=1)


def test_without_checksums_at_the_source_what_was_read_is_what_is_compared(world: World) -> None:
    world.source = InMemoryFiles("hdfs://east", has_checksums=False)
    item = as_item(world.source.put(world.path, CONTENT))
    assert world.copy(item) == CopyOutcome(files=1, bytes=9, copied_files=1, copied_bytes=9)


def test_a_small_file_costs_as_few_calls_as_can_be(world: World) -> None:
    neighbour = as_item(world.source.put(world.path + "2", CONTENT))
    world.target.make_directories(world.staged.rpartition("/")[0])
    world.target.make_directories(neighbour.staged_path(STAGING).rpartition("/")[0])
    world.target.calls.clear()
    world.copy(world.item, neighbour, looks=False)
    # One look for all files of the job at how the source guards them.
    assert world.source.calls == {"open": 2, "status": 2, "checksum_type": 1}
    assert world.target.calls == {"create_from": 2, "checksum": 2, "rename": 2}


def test_what_other_tasks_have_staged_costs_nothing(world: World) -> None:
    """Listed files of all tables share the directories of staging: to list them would cost what all tables hold."""
    others = [CopyItem(f"hdfs://east/other/{number}", 1, 1, number + 1000) for number in range(2000)]
    for item in others:
        world.target.put(item.staged_path(STAGING), b"x")
    mine = [as_item(world.source.put(f"hdfs://east/w/mine/{number}", b"x")) for number in range(20)]
    world.copy(*mine[:10])
    for looks, asked in ((True, 20), (False, 0)):
        world.target.calls.clear()
        outcome = world.copy(*mine, looks=looks)
        # What is there without anybody's look is copied, compared, and dropped.
        assert (outcome.copied_files, outcome.skipped_files, outcome.failures) == (
            (10, 10, ()) if looks else (20, 0, ())
        )
        assert world.target.calls["list_directories"] == world.target.calls["list_pages"] == 0
        assert world.target.calls["status"] - (0 if looks else 20) == asked
    assert len([path for path in world.target.paths() if path.startswith(STAGING)]) == 2020


def test_without_checksums_a_short_copy_is_still_seen(world: World) -> None:
    class Short(InMemoryFiles):
        def create_from(self, stream: InMemoryStream, path: str, **how: Any) -> Written:
            self.put(path, b"some")
            return Written(4)

    world.target = Short("hdfs://west", has_checksums=False)
    assert world.kinds() == ["differs"]
    assert world.target.paths() == []


def test_all_files_are_tried_and_counted(world: World) -> None:
    items = [as_item(world.source.put(f"hdfs://east/w/many/{number}", b"x" * number)) for number in range(40)]
    world.source.delete(items[7].path)
    world.source.put(items[8].path, b"changed")
    world.target.put(items[9].staged_path(STAGING), b"x" * 9)
    outcome = world.copy(*items, threads=4)
    assert (outcome.files, outcome.copied_files, outcome.skipped_files) == (40, 37, 1)
    assert outcome.bytes == sum(range(40)) and outcome.copied_bytes == outcome.bytes - 7 - 8 - 9
    assert {failure.path: failure.kind for failure in outcome.failures} == {
        items[7].path: FailureKind.MISSING,
        items[8].path: FailureKind.CHANGED,
    }
    assert world.copy(*items, threads=4).skipped_files == 38


def test_the_largest_goes_first(world: World) -> None:
    opened = []

    class Watched(InMemoryFiles):
        def open(self, path: str, *, offset: int = 0, verified: bool = True) -> InMemoryStream:
            opened.append(path[-1])
            return super().open(path, offset=offset, verified=verified)

    world.source = Watched("hdfs://east")
    items = [as_item(world.source.put(f"hdfs://east/w/{size}", b"x" * size)) for size in (1, 3, 2)]
    world.copy(*items)
    assert opened == ["3", "2", "1"]


def test_a_file_that_is_listed_twice_is_copied_once(world: World) -> None:
    outcome = world.copy(world.item, replace(world.item, table="other.view_of_the_same"))
    assert (outcome.files, outcome.copied_files, outcome.skipped_files) == (2, 1, 1)


def test_a_large_file_is_copied_in_parts_and_is_one_file(world: World) -> None:
    content = bytes(range(256)) * 100
    item = as_item(world.source.put(world.path, content, block_size=4096))
    outcome = copy_items([item], world.source, world.target, STAGING, 3, split_above=8000)
    assert outcome == CopyOutcome(files=1, bytes=25_600, copied_files=1, copied_bytes=25_600)
    assert world.target.paths() == [item.staged_path(STAGING)], "no part is left"
    assert world.target.read(item.staged_path(STAGING)) == content
    assert world.target.calls["create_from"] == 7 and world.target.calls["concatenate"] == 2


def test_parts_of_a_large_file_that_failed_are_there_for_the_next_run(world: World) -> None:
    class Full(InMemoryFiles):
        room = 3

        def create_from(self, stream: InMemoryStream, path: str, **how: Any) -> Written:
            self.room -= 1
            if self.room < 0:
                raise Refused(f"{path}: a quota is used up")
            return super().create_from(stream, path, **how)

    full = Full("hdfs://west")
    world.target = full
    item = as_item(world.source.put(world.path, b"0123456789" * 2000, block_size=4096))
    [failure] = copy_items([item], world.source, full, STAGING, 1, split_above=4096).failures
    assert failure.kind is FailureKind.REFUSED
    full.room, before = 2, full.calls["create_from"]
    assert copy_items([item], world.source, full, STAGING, 1, split_above=4096).copied_files == 1
    assert full.calls["create_from"] - before == 2, "three of five parts were there"


@pytest.mark.parametrize("files", [1, 2])
def test_who_is_interrupted_has_begun_parts_ended(world: World, files: int) -> None:
    told, interrupted = [], threading.Event()

    class Endless(InMemoryFiles):
        def create_from(self, stream: InMemoryStream, path: str, **how: Any) -> Written:
            if not interrupted.is_set():
                interrupted.set()
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            until = time.monotonic() + 20
            try:
                while time.monotonic() < until:
                    how["meter"](1)
                    time.sleep(0.01)
            except Unreachable:
                told.append(path)
                raise
            return super().create_from(stream, path, **how)

    items = [as_item(world.source.put(f"{world.path}{n}", b"x" * 20_000, block_size=4096)) for n in range(files)]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            copy_items(items, world.source, Endless("hdfs://west"), STAGING, 2, split_above=4096)
    finally:
        signal.signal(signal.SIGINT, before)
    assert told


def test_the_whole_job_holds_to_its_rate(world: World) -> None:
    items = [as_item(world.source.put(f"hdfs://east/w/{number}", b"x" * 1000)) for number in range(20)]
    started = time.monotonic()
    copy_items(items, world.source, world.target, STAGING, 8, bytes_per_second=15_000)
    assert time.monotonic() - started > 0.3, "20 kB less what may go at once"


def test_nothing_to_copy(world: World) -> None:
    assert copy_items([], world.source, world.target, STAGING, 4) == CopyOutcome()


def test_a_dead_cluster_is_not_asked_for_every_file(world: World) -> None:
    items = [as_item(world.source.put(f"hdfs://east/w/{number}", b"x")) for number in range(500)]
    world.source.down = True
    outcome = world.copy(*items)
    assert len(outcome.failures) == 500
    assert world.source.calls["status"] <= 120
    assert "not tried" in outcome.failures[-1].reason


def test_a_mistake_in_the_program_is_not_a_failed_file(world: World) -> None:
    class Broken(InMemoryFiles):
        def open(self, path: str, *, offset: int = 0, verified: bool = True) -> InMemoryStream:
            raise ZeroDivisionError

    world.source = Broken("hdfs://east")
    item = as_item(world.source.put("hdfs://east/f", b"x"))
    with pytest.raises(ZeroDivisionError):
        world.copy(item)


@pytest.mark.parametrize(
    ("error", "kind", "may_retry"),
    [
        (SourceMoved("x"), "changed", False),
        (Missing("x"), "missing", False),
        (LostFile("x"), "lost", False),
        (Refused("x"), "refused", False),
        (CopyWasSwept("x"), "swept", True),
        (CopyDiffers("x"), "differs", True),
        (SafeMode("x"), "unreachable", True),
        (LeaseLost("x"), "unreachable", True),
    ],
)
def test_kinds_of_failure(error: TwinhiveError, kind: str, may_retry: bool) -> None:
    assert (FailureKind.of(error).value, FailureKind.of(error).may_retry) == (kind, may_retry)
