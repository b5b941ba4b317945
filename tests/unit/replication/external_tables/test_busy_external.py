"""The directory of a table that somebody writes to all the time is complete after each copy."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.support.worlds.external_world import BASE, ExternalWorld, a_world_with_files
from tests.unit.transfer.tree.trees import Changed, below
from twinhive.core.model.errors import TryAgain
from twinhive.core.ports import WritePorts

EVENTS = "hdfs://east/data/events"


class Job:
    """Write files of a table as Spark does: below `_temporary`, then each file gets its place by a rename."""

    def __init__(self, world: ExternalWorld) -> None:
        self._world = world
        self._files = world.world.source_files
        self._begun = 0

    def begin(self) -> None:
        """Write what is not to be seen yet."""
        self._begun += 1
        self._world.put(f"/data/events/_temporary/{self._begun}/attempt/day=1/part-{self._begun}", b"new")

    def commit(self) -> None:
        """Put it in place, remove what was the last file before, and overwrite another."""
        self._files.make_directories(f"{EVENTS}/day=1")
        for number in range(1, self._begun + 1):
            self._files.rename(
                f"{EVENTS}/_temporary/{number}/attempt/day=1/part-{number}", f"{EVENTS}/day=1/part-{number}"
            )
            self._files.delete(f"{EVENTS}/day=1/part-{number - 1}")
        self._world.put("/data/events/f", b"overwritten" * self._begun)
        self._files.delete(f"{EVENTS}/_temporary")


def opening(world: ExternalWorld, event: Callable[[str], None]) -> WritePorts:
    """Return ports where something happens before each file of the source is opened."""
    ports = world.ports()

    def open_file(path: str, **named: Any) -> Any:
        event(path)
        return ports.trees.source.open(path, **named)

    return replace(ports, trees=replace(ports.trees, source=Changed(ports.trees.source, open=open_file)))


def test_a_job_that_commits_while_its_files_are_copied_leaves_the_directory_complete() -> None:
    world = a_world_with_files()
    world.cycle()
    job = Job(world)
    left = [5]

    def commit(path: str) -> None:
        if left[0]:
            left[0] -= 1
            job.commit()
            job.begin()

    job.begin()
    job.commit()
    world.world.source_files.delete(f"{EVENTS}/day=1/g")
    job.begin()
    (synced,) = world.cycle(opening(world, commit))

    assert (synced.changed, synced.deleted > 0) == (1, True)
    record = world.record("/data/events")
    assert record is not None
    assert not record.unfinished
    there = world.there("/data/events")
    assert "day=1/g" not in there
    assert not [name for name in there if "_temporary" in name]
    job.commit()
    world.cycle()
    world.assert_twin("/data/events")


def test_what_came_instead_of_a_file_that_is_gone_comes_at_once() -> None:
    world = a_world_with_files()
    moved = []

    def move(path: str) -> None:
        if path == f"{EVENTS}/day=1/g" and not moved:
            moved.append(world.world.source_files.rename(path, f"{EVENTS}/day=1/moved"))

    (synced,) = world.cycle(opening(world, move))
    world.assert_twin("/data/events")
    assert synced.files == 2
    record = world.record("/data/events")
    assert record is not None
    assert (record.files, record.directories, record.bytes) == (2, 2, 6)


def test_what_an_earlier_version_copied_of_a_job_goes() -> None:
    world = a_world_with_files(unfinished="copy")
    world.put("/data/events/_temporary/0/f")
    world.cycle()
    world.assert_twin("/data/events")
    world.policy = replace(world.policy, external=replace(world.policy.external, unfinished="leave_out"))
    world.cycle()
    assert set(world.there("/data/events")) == {"f", "day=1", "day=1/g"}
    (synced,) = world.cycle()
    assert (synced.changed, synced.unchanged) == (0, 1)


def test_a_job_that_has_not_begun_to_commit_changes_nothing() -> None:
    world = a_world_with_files()
    world.cycle()
    world.world.source_files.make_directories(f"{EVENTS}/.hive-staging_hive_1/-ext-10000/_tmp")
    (synced,) = world.cycle()
    assert (synced.changed, synced.unchanged) == (0, 1)


def test_a_directory_in_which_only_a_job_has_written_is_empty() -> None:
    world = ExternalWorld(missing="empty")
    world.put("/data/events/_temporary/0/f")
    world.cycle()
    assert world.there("/data/events") == {}
    assert world.world.replica_files.status(f"{BASE}/data/events") is not None


def test_a_directory_that_is_emptied_while_it_is_listed_is_tried_again() -> None:
    world = a_world_with_files()
    world.cycle()
    looks = []

    def list_pages(paths: Any) -> Any:
        looks.append(paths)
        if len(looks) == 4:  # after it was found to have files
            for name in ("f", "day=1"):
                world.world.source_files.delete(f"{EVENTS}/{name}")
        return ports.trees.source.list_pages(paths)

    world.put("/data/events/f", b"changed")
    ports = world.ports()
    trees = replace(ports.trees, source=Changed(ports.trees.source, list_pages=list_pages))
    with pytest.raises(TryAgain, match="is empty, and what the replica has would be deleted") as raised:
        world.cycle(replace(ports, trees=trees))
    assert "force" not in str(raised.value)
    assert set(world.there("/data/events")) == {"f", "day=1", "day=1/g"}


class Users:
    """Do random things in a table's directory: files come, finished or not, are overwritten, renamed and deleted."""

    def __init__(self, world: ExternalWorld, random: Random) -> None:
        self._world, self._random = world, random
        self._files = world.world.source_files
        self._number = 0
        self.had: dict[str, set[bytes | None]] = {"f": {b"one"}, "day=1/g": {b"two"}}

    def act(self, _: str = "") -> None:
        """Do something, or nothing; everybody's file says who wrote it."""
        self._assert_none_is_torn()
        do = self._random.choice([self._begin, self._write, self._write, self._commit, self._delete, lambda: None])
        do()

    def end(self) -> None:
        """Commit what is unfinished, and go."""
        self._commit()
        self._files.delete(f"{EVENTS}/_temporary")

    def _name(self) -> str:
        return self._random.choice(["f", "day=1/g", "day=1/h", "day=2/g", "day=2/deep/i"])

    def _content(self) -> bytes:
        self._number += 1
        return f"{self._number}\n".encode() * self._number

    def _begin(self) -> None:
        self._world.put(f"/data/events/_temporary/0/{self._name()}", self._content())

    def _commit(self) -> None:
        for name in self._unfinished():
            there = f"{EVENTS}/{name}"
            self._files.delete(there)
            self._files.make_directories(there.rpartition("/")[0])
            content = self._files.read(f"{EVENTS}/_temporary/0/{name}")
            self._files.rename(f"{EVENTS}/_temporary/0/{name}", there)
            self.had.setdefault(name, set()).add(content)

    def _unfinished(self) -> list[str]:
        there = below(self._files, EVENTS)
        return [name.removeprefix("_temporary/0/") for name, held in there.items() if "_temp" in name and held]

    def _write(self) -> None:
        name, content = self._name(), self._content()
        self.had.setdefault(name, set()).add(content)
        self._world.put(f"/data/events/{name}", content)

    def _delete(self) -> None:
        self._files.delete(f"{EVENTS}/{self._random.choice([self._name(), 'day=1', 'day=2'])}")

    def _assert_none_is_torn(self) -> None:
        """What readers of the replica see are whole files that the source has had there, and nothing unfinished."""
        for name, content in self._world.there("/data/events").items():
            assert content is None or content in self.had.get(name, ()), name


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_done_beside_a_pass_no_file_is_torn_and_at_last_all_is_equal(seed: int) -> None:
    world = a_world_with_files(options={"copy_threads": 1})
    random = Random(seed)
    users = Users(world, random)
    for _ in range(3):
        for _ in range(random.randrange(8)):
            users.act()
        with suppress(TryAgain):  # a file that was overwritten while it was copied
            world.cycle(opening(world, users.act))
    users.end()
    world.put("/data/events/last")  # an empty directory is taken for a mistake
    world.cycle()
    world.assert_twin("/data/events")
