"""A pass over external directories that are equal takes few calls for each of them: there may be 100,000."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pytest

from tests.fake_world import Killed, KillSwitch, killable
from tests.unit.steps.external_world import ExternalWorld

_LISTINGS = {"list_directories", "list_pages"}
"""Calls that a hundred directories share."""


def an_unchanged_world(tables: int, **options: object) -> ExternalWorld:
    world = ExternalWorld(options={"copy_threads": 2, **options})
    for number in range(tables):
        world.add_table(f"t{number:03d}", f"hdfs://east/data/t{number:03d}")
        world.put(f"/data/t{number:03d}/f")
    world.check()
    world.cycle()
    world.cycle()
    return world


def calls_of_a_pass(world: ExternalWorld) -> tuple[Counter[str], Counter[str]]:
    """Return the calls of each side that a pass takes in which everything is equal."""
    sides = (world.world.source_files, world.world.replica_files)
    for side in sides:
        side.calls.clear()
    assert all(result.changed == 0 for result in world.cycle())
    return Counter(sides[0].calls), Counter(sides[1].calls)


def calls_a_directory(**options: object) -> tuple[dict[str, float], dict[str, float]]:
    """Return what each of more directories adds, at the source and at the replica."""
    few, many = calls_of_a_pass(an_unchanged_world(5, **options)), calls_of_a_pass(an_unchanged_world(25, **options))
    at_source, at_replica = (
        {name: (many[side][name] - few[side][name]) / 20 for name in many[side]} for side in (0, 1)
    )
    return at_source, at_replica


def test_a_directory_that_is_equal_takes_one_call_at_the_source_and_three_at_the_replica() -> None:
    at_source, at_replica = calls_a_directory()
    assert {name: count for name, count in at_source.items() if count} == {"status": 1, "list_pages": 1}
    alone = {name: count for name, count in at_replica.items() if count and name not in _LISTINGS}
    assert alone == {"status": 1, "read": 1, "set_attribute": 1}
    assert at_replica["list_pages"] == 1


def test_no_task_lists_the_records_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    world = an_unchanged_world(12)
    listed = world.listed()
    records = f"{world.policy.staging}/external/synced"
    asked: list[str] = []
    list_directories = world.world.replica_files.list_directories

    def listing(paths: Iterable[str]) -> Any:
        asked.extend(paths := list(paths))
        return list_directories(paths)

    monkeypatch.setattr(world.world.replica_files, "list_directories", listing)
    world.sync(listed)
    assert not [path for path in asked if path.startswith(records)]


def test_what_the_pass_before_has_found_is_known_without_being_read() -> None:
    world = an_unchanged_world(3)
    world.put("/data/t001/more", b"12345")
    world.cycle()
    listed = world.listed()
    assert listed.sizes["t001"].length == 6
    assert listed.sizes["t001"].files == 2


def test_a_copy_that_was_cut_off_after_its_task_had_ended_once_is_cleaned_up() -> None:
    """A task that is cleared begins anew, and what it said before of a directory that it changes does not count."""
    world = an_unchanged_world(3)
    listed = world.listed()
    world.sync(listed)
    world.put("/data/t001/more")
    switch = KillSwitch(at=12, after_effect=True)
    with pytest.raises(Killed):
        world.sync(listed, killable(world.ports(), switch))
    world.world.lease.known_dead.update(world.world.lease._kept)
    record = world.record("/data/t001")
    assert record and record.unfinished
    world.cycle()
    assert not world.record("/data/t001").unfinished
    world.assert_twin("/data/t001")


@pytest.mark.parametrize("at", range(1, 30, 4))
def test_whatever_is_killed_the_next_pass_leaves_nothing_unfinished(at: int) -> None:
    world = an_unchanged_world(2)
    world.put("/data/t000/more")
    with suppress(Killed):
        world.cycle(killable(world.ports(), KillSwitch(at, after_effect=True)))
    world.world.lease.known_dead.update(world.world.lease._kept)
    for _ in range(2):
        world.cycle()
    for name in ("t000", "t001"):
        record = world.record(f"/data/{name}")
        assert record and not record.unfinished
        world.assert_twin(f"/data/{name}")
