"""The directory of a table that somebody writes to all the time is complete after each copy."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.unit.steps.external_world import BASE, ExternalWorld, a_world_with_files
from tests.unit.syncing.trees import Changed
from twinhive.ports import WritePorts

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
