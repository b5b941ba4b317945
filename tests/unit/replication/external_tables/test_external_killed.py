"""Kill a pass of the data lane at every single change it makes, run it again, and compare both sides."""

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.external_world import ExternalWorld, a_world_with_files
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from twinhive.core.model.errors import TwinhiveError

MOST_CHANGES = 300


def a_first_pass(**external: object) -> ExternalWorld:
    """Return a world where nothing was copied yet."""
    world = a_world_with_files(options={"copy_threads": 1}, **external)
    world.add_table("empty", "hdfs://east/data/empty")
    return world


def a_later_pass(**external: object) -> ExternalWorld:
    """Return a world where everything was copied once, and something of every kind has changed since."""
    world = a_first_pass(**external)
    gone = world.add_table("gone", "hdfs://east/data/gone")
    world.put("/data/gone/f", b"gone")
    world.put("/data/events/old/h", b"old")
    world.cycle()
    world.put("/data/events/f", b"another")
    world.put("/data/events/new/i", b"new")
    world.put("/data/empty/j", b"no more")
    world.world.source_files.delete("hdfs://east/data/events/old")
    world.world.source.drop_table(gone.name, delete_data=False)
    world.note_purge("/data/gone")
    world.follow_up_to(5)
    return world


def killed_at(world: ExternalWorld, at: int, *, after_effect: bool) -> bool:
    ports = killable(world.ports(), KillSwitch(at, after_effect=after_effect))
    try:
        world.check()
        world.cycle(ports)
    except Killed:
        return True
    return False


def synced_at(world: ExternalWorld, path: str) -> float:
    record = world.record(path)
    return record.at if record else 0.0


@pytest.mark.parametrize("snapshots", [False, True], ids=["listed", "snapshots"])
@pytest.mark.parametrize("begin", [a_first_pass, a_later_pass])
def test_killed_at_any_change_and_run_again_both_sides_are_equal(begin, snapshots: bool) -> None:
    def a_pass(world: ExternalWorld, switch) -> None:
        world.check()
        world.cycle(killable(world.ports(), switch))

    # Most of the changes are the same with snapshots: they are looked at less densely.
    begun = begin(snapshots=snapshots)
    known = {path: synced_at(begun, path) for path in ("/data/events", "/data/empty")}
    for world in left_by_kills(lambda: begun, a_pass, step=3 if snapshots else 1, least=20):
        for path, before in known.items():
            if synced_at(world, path) != before:  # a record is written last: what it says is complete
                world.assert_holds(path)
        world.cycle()
        for path in known:
            world.assert_twin(path)
        assert world.there("/data/gone") == {}
        (synced,) = world.cycle()
        assert synced.unchanged == 2


def test_a_task_that_was_killed_and_is_repeated_leaves_nothing_unfinished() -> None:
    listed = []

    def a_task(world: ExternalWorld, switch) -> None:
        world.check()
        listed.append(world.listed())
        world.sync(listed[0], killable(world.ports(), switch))

    for world in left_by_kills(a_later_pass, a_task, least=20):
        world.sync(listed[0])
        for path in ("/data/events", "/data/empty"):
            world.assert_twin(path)
            assert not world.record(path).unfinished


def test_killed_again_and_again_it_comes_to_its_end() -> None:
    world = a_later_pass()
    for number in range(1, MOST_CHANGES):
        if not killed_at(world, 3 + number, after_effect=bool(number % 2)):
            break
    assert number > 3
    world.assert_twin("/data/events")


def test_a_gate_that_is_killed_while_it_claims_is_run_again() -> None:
    for at in range(1, 10):
        world = ExternalWorld()
        ports = killable(world.ports(), KillSwitch(at, after_effect=bool(at % 2)))
        try:
            world.check(ports)
        except Killed:
            world.check()
            claims = [path for path in world.world.replica_files.paths() if "claim" in path or "external.json" in path]
            assert claims == ["hdfs://west/ext/.twinhive-external.json"]
        except TwinhiveError as error:
            pytest.fail(str(error))
        else:
            break
    assert at > 2
