"""Nobody writes into a copy, its owner included; whoever removes one, or makes it a table's home, may."""

import pytest

from tests.support import seeds
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.copies_world import COPIES_ROOT, CopiesWorld, a_placement
from tests.support.worlds.fake_world import killable
from tests.unit.federation.placement.test_copies import EVERYTHING, a_world
from tests.unit.federation.placement.test_move_primary import a_world as a_world_that_moves
from tests.unit.federation.placement.test_move_primary import moving
from twinhive.core.model.errors import Refused
from twinhive.federation.placement.retire import RetirePlacement


def directories(world: CopiesWorld) -> list[str]:
    """Return the directories in those of copies of tables."""
    tops = [status.path for _, page in world.north.list_directories([f"{COPIES_ROOT}/near"]) for status in page or ()]
    return [one.path for _, page in world.north.list_directories(tops) for one in page or () if one.is_directory]


def protected(world: CopiesWorld) -> bool:
    """True when no directory of a copy has a write bit."""
    waiting = [status for _, mark in world.marked().values() if (status := world.north.status(mark.location))]
    for one in waiting:
        (page,) = (page for _, page in world.north.list_directories([one.path]))
        waiting += [child for child in page or () if child.is_directory]
    return bool(waiting) and all(not one.permission & 0o222 for one in waiting)


def test_a_job_that_runs_as_the_owner_adds_replaces_and_removes_nothing() -> None:
    world = a_world()
    world.settle()
    assert protected(world)
    for name, file in (("plain", "f"), ("plain", "sub dir/g"), ("orders day=1", "a")):
        place = world.marked()[name][1].location
        spark = f"{place}/.spark-staging-1/part"
        for write in (
            lambda place=place: world.north.write(f"{place}/part-1", b"77"),
            lambda path=f"{place}/{file}": world.north.delete_file(path),
            lambda path=f"{place}/{file}": world.north.replace("hdfs://north/tmp/new", path),
            lambda spark=spark: world.north.write(spark, b"77"),
            lambda place=place: world.north.delete(place),
        ):
            world.north.write("hdfs://north/tmp/new", b"new")
            with pytest.raises(Refused, match="permission denied"):
                write()
    world.assert_complete(*EVERYTHING)


def test_killed_between_two_directories_of_a_copy_the_next_run_protects_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "KILL_POINTS", 1)  # on some days none lay between

    def nested() -> CopiesWorld:
        world = CopiesWorld(a_placement(options={"grace_seconds": 3600}))
        world.users.create_table("plain", files={"f": b"plain", "sub dir/g": b"below"})
        return world

    def run(world: CopiesWorld, switch: object) -> None:
        world.run(killable(world.ports(), switch))  # type: ignore[arg-type]

    begun = 0
    for world in left_by_kills(nested, run):
        begun += any(one.endswith("/sub dir") for one in directories(world)) and not world.marked()
        world.settle()
        assert protected(world)
    assert begun


def test_killed_at_any_change_what_is_marked_cannot_be_written() -> None:
    for world in left_by_kills(a_world, lambda world, switch: world.run(killable(world.ports(), switch))):
        assert protected(world) or not world.marked()
        world.settle()
        assert protected(world)
        world.assert_complete(*EVERYTHING)


def test_copies_that_nobody_needs_any_more_go_though_nobody_may_write_there() -> None:
    world = a_world()
    world.settle()
    before = world.marked()["plain"][1].location
    world.users.insert("plain", None, {"more": b"more"})
    world.settle()
    world.settle()
    assert world.north.status(before) is None
    RetirePlacement(a_placement(), {"run": "retire"}).run(world.ports())
    assert not [path for path in world.north.paths() if path.startswith(COPIES_ROOT)]


@pytest.mark.parametrize("table", ["plain", "orders"])
def test_a_copy_that_becomes_the_home_of_its_table_is_written_again(table: str) -> None:
    world = a_world_that_moves()
    moving(table).run(world.ports())
    home = world.users.table(table).location if table == "plain" else world.users.partition(table, ("1",)).location
    world.north.write(f"{home}/part-2", b"new")
