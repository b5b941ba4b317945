"""A pass over external directories that are equal takes few calls for each of them: there may be 100,000."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

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


def test_a_directory_that_is_equal_takes_one_call_at_the_source_and_five_at_the_replica() -> None:
    at_source, at_replica = calls_a_directory()
    assert {name: count for name, count in at_source.items() if count} == {"status": 1, "list_pages": 1}
    alone = {name: count for name, count in at_replica.items() if count and name not in _LISTINGS}
    assert alone == {"status": 1, "read": 2, "attribute": 1, "set_attribute": 1}
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
