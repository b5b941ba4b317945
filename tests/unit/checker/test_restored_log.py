"""Restore the source's metastore from a backup: nothing of the new past may reach the replica."""

import pytest

from tests.checker.states import state_of
from tests.support.builders import a_policy
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world, backup
from twinhive.core.model.errors import ActNow
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase


def follow(world: World):
    return run_phase(INCREMENTAL, a_policy(), world.ports(), {"run": "r"}, lambda line: None)


def change(users: SourceWriter, value: str, times: int) -> None:
    for number in range(times):
        users.insert("plain", None, [f"{value} {number}".encode()])


@pytest.fixture
def world() -> World:
    world = a_world()
    run_bootstrap(a_policy(), world.ports(), {"run": "r"}, lambda line: None)
    return world


@pytest.mark.parametrize("events_since", [0, 1, 2, 3, 10])
def test_a_restored_log_is_told_from_the_one_that_was_followed(world: World, events_since: int) -> None:
    users = SourceWriter(world.source, world.source_files, "sales")
    restore = backup(world.source)
    change(users, "lost", 2)
    follow(world)
    before = state_of(world.replica, world.replica_files, "sales")
    restore()
    change(users, "new", events_since)

    with pytest.raises(ActNow, match="not the one it was"):
        follow(world)

    assert state_of(world.replica, world.replica_files, "sales") == before


def test_a_log_restored_to_what_the_replica_has_is_followed_on(world: World) -> None:
    users = SourceWriter(world.source, world.source_files, "sales")
    change(users, "kept", 2)
    follow(world)
    restore = backup(world.source)
    change(users, "lost", 2)
    restore()
    for path in [path for path in world.source_files.paths() if b"lost" in world.source_files.read(path)]:
        world.source_files.delete(path)
    change(users, "new", 1)

    follow(world)

    assert state_of(world.replica, world.replica_files, "sales") == state_of(world.source, world.source_files, "sales")
