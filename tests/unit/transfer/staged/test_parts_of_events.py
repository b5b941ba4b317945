"""Two events may name the same large file, byte for byte: each has parts of its own, whoever copies them at once."""

import json
import threading

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import ChecksumForm, base_name
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.staged_files import CopyItem

STAGING = "hdfs://west/staging"
PATH = "hdfs://east/w/t/000000_0"
CONTENT = b"".join(f"{number:09d}\n".encode() for number in range(105))
FIRST_PART = 400


class World:
    """A large file of the source that events name, and a staging directory."""

    def __init__(self) -> None:
        self.source, self.target = InMemoryFiles("hdfs://east"), InMemoryFiles("hdfs://west")
        self.source.put(PATH, CONTENT, block_size=100)
        self.checksum = self.source.checksum(PATH, ChecksumForm.IDENTITY) or ""

    def item(self, event_id: int) -> CopyItem:
        """Return the file as an event names it."""
        said = {"path": PATH, "relative": "000000_0", "length": len(CONTENT), "modified_ms": 0, "file_id": 0}
        return CopyItem.from_line(json.dumps({**said, "checksum": self.checksum, "event_id": event_id}))

    def copy(self, *event_ids: int, threads: int = 2) -> CopyOutcome:
        """Copy the file for each event."""
        items = [self.item(event_id) for event_id in event_ids]
        return copy_items(items, self.source, self.target, STAGING, threads, split_above=FIRST_PART)


@pytest.fixture
def world() -> World:
    return World()


def test_two_events_with_the_same_file_are_copied_at_the_same_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, firsts, write = threading.Barrier(2), set[str](), world.target.create_from

    def at_once(stream, path, **how):  # type: ignore[no-untyped-def]
        if base_name(path) == "00000":
            firsts.add(path)
            both.wait(10)  # each copies its first part while the other does
        return write(stream, path, **how)

    monkeypatch.setattr(world.target, "create_from", at_once)
    outcome = world.copy(10, 12)
    assert (outcome.failures, outcome.copied_files, len(firsts)) == ((), 2, 2)
    staged = [world.item(event_id).staged_path(STAGING) for event_id in (10, 12)]
    assert world.target.paths() == staged
    assert [world.target.read(path) for path in staged] == [CONTENT, CONTENT]


def test_a_listed_file_has_its_parts_where_they_were(world: World) -> None:
    status = world.source.status(PATH)
    assert status is not None
    said = {"length": status.length, "modified_ms": status.modified_ms, "file_id": status.file_id}
    item = CopyItem.from_line(json.dumps({"path": PATH, "relative": "000000_0", **said}))
    left = f"{STAGING}/tmp/parts/{base_name(item.staged_path(STAGING))}"
    world.target.put(f"{left}/00000", CONTENT)
    world.target.calls.clear()
    assert copy_items([item], world.source, world.target, STAGING, 1, split_above=FIRST_PART).copied_files == 1
    assert (world.target.calls["create_from"], world.target.calls["rename"]) == (0, 3)
