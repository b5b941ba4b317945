"""What the first tasks of a bootstrap ask: each table once, and no directory that holds more than our own."""

import pytest

from tests.support.builders import a_policy
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World
from twinhive.core.model.errors import Refused
from twinhive.core.model.files import Space
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.runtime.pipeline.phases import LIST_OBJECTS

TABLES = 40
STAGING = "hdfs://west/twinhive/staging"


def a_world(partitions: int = 0) -> World:
    world = World()
    writer = SourceWriter.with_database(world.source, world.source_files, "sales")
    for number in range(TABLES):
        writer.create_table(f"t{number}", files=[b"x"] * (number % 3))
    if partitions:
        writer.create_table("p", keys=("day",))
        writer.add_partitions("p", {(f"{number}",): [b"x"] for number in range(partitions)})
    return world


def test_the_namenode_counts_the_files_of_each_table_once() -> None:
    world = a_world()
    Preflight(Work(a_policy())).run(world.ports())
    assert world.source_files.calls["usage"] == TABLES
    LIST_OBJECTS(Work(a_policy())).run(world.ports())
    assert world.source_files.calls["usage"] == TABLES


def test_a_table_that_came_since_is_counted_then() -> None:
    world = a_world()
    Preflight(Work(a_policy())).run(world.ports())
    SourceWriter(world.source, world.source_files, "sales").create_table("new", files=[b"x"])
    listed = LIST_OBJECTS(Work(a_policy())).run(world.ports())
    assert world.source_files.calls["usage"] == TABLES + 1
    assert sum(len(batch.slices) for batch in listed.batches) == TABLES + 1


def test_the_newest_event_is_asked_for_once_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    ask, asked = world.source.current_event_id, []
    monkeypatch.setattr(world.source, "current_event_id", lambda: (asked.append(1), ask())[1])
    listed = LIST_OBJECTS(Work(a_policy())).run(world.ports())
    assert len(asked) <= len(listed.batches) + 2


def test_directories_count_against_a_quota_of_names() -> None:
    world = a_world(partitions=100)
    files = TABLES + 100 - 1
    world.replica_files.quotas[STAGING] = Space(free_bytes=10**9, quota_names_left=files + 50)
    with pytest.raises(Refused, match=f"{files} files and their directories"):
        Preflight(Work(a_policy())).run(world.ports())
    world.replica_files.quotas[STAGING] = Space(free_bytes=10**9, quota_names_left=files + 100 + TABLES + 1)
    Preflight(Work(a_policy())).run(world.ports())


def test_a_quota_above_our_own_directories_is_not_asked_for() -> None:
    world = a_world()
    world.replica_files.quotas["hdfs://west/"] = Space(free_bytes=10**9, quota_names_left=0)
    Preflight(Work(a_policy())).run(world.ports())
