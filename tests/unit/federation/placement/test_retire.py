"""Retire a placement: marks go first, then directories; killed anywhere, it is done by running it again."""

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.copies_world import COPIES_ROOT, CopiesWorld
from tests.support.worlds.fake_world import killable
from twinhive.core.model.errors import Foreign
from twinhive.federation.placement.retire import RetirePlacement


def a_world() -> CopiesWorld:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("orders", ("day",))
    world.users.add_partitions("orders", {("1",): {"a": b"one"}, ("2",): {"b": b"two"}, ("3",): {}})
    world.settle()
    return world


def retire(world: CopiesWorld, switch=None) -> list[str]:
    ports = killable(world.ports(), switch) if switch else world.ports()
    return RetirePlacement(world.placement, {"run": "retire"}).run(ports)


def assert_gone(world: CopiesWorld) -> None:
    assert not world.marked()
    assert not [path for path in world.north.paths() if path.startswith(COPIES_ROOT)]


def test_marks_and_directories_go() -> None:
    world = a_world()
    assert RetirePlacement(world.placement, {"run": "retire"}).plan(world.ports()) == [
        "sales.orders: the marks of 3 copies would be taken away",
        "sales.plain: the marks of 1 copies would be taken away",
        f"{COPIES_ROOT}/near would be removed",
    ]
    assert len(world.marked()) == 4
    retire(world)
    assert_gone(world)
    assert retire(world) == ["placement near had no copies"]


def test_killed_anywhere_no_mark_names_what_is_gone_and_it_goes_on() -> None:
    for world in left_by_kills(a_world, retire):
        world.assert_no_copy_lies()
        retire(world)
        assert_gone(world)


def test_a_placement_that_was_retired_can_begin_again() -> None:
    world = a_world()
    retire(world)
    world.settle()
    assert len(world.fresh()) == 4


def test_data_among_the_copies_stays() -> None:
    world = a_world()
    (_, mark) = world.marked()["plain"]
    world.users.set_location("plain", mark.location)
    with pytest.raises(Foreign, match="has its data among the copies"):
        retire(world)
    assert world.north.read(f"{mark.location}/f") == b"plain"
    assert len(world.marked()) == 4
