"""What is written again after a mark has overwritten it is what is there, never what was there before."""

from collections.abc import Callable

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from twinhive.federation.placement import publish_copies
from twinhive.federation.placement.copy_directories import put_in_place
from twinhive.federation.placement.marking_copies import objects_now

ONE = ("1",)
Act = Callable[[CopiesWorld], None]


def a_world() -> CopiesWorld:
    world = CopiesWorld()
    world.users.create_table("orders", ("day",))
    world.users.add_partitions("orders", {ONE: {"f": b"one"}})
    world.users.create_table("plain", files={"f": b"plain"})
    return world


def alter(world: CopiesWorld) -> None:
    world.users.alter_partitions("orders", [ONE], {"state": "altered first"})
    world.users.set_parameters("plain", {"state": "altered first"})


def make_anew(world: CopiesWorld) -> None:
    """Drop a partition, and make it anew where it was: the files stay. So with a table."""
    one = world.users.partition("orders", ONE)
    world.metastore.drop_partitions(one.table, [one.name(("day",))], delete_data=False)
    world.metastore.add_partitions([one.with_parameters({"state": "made anew"})])
    make_anew_of_plain(world)


def make_anew_of_plain(world: CopiesWorld) -> None:
    plain = world.users.table("plain")
    world.metastore.drop_table(plain.name, delete_data=False)
    world.metastore.create_table(plain.with_parameters({"state": "made anew"}))


def rename_there_and_back(world: CopiesWorld) -> None:
    world.users.rename_partition("orders", ONE, ("9",))
    world.users.alter_partitions("orders", [("9",)], {"state": "made anew"})
    world.users.rename_partition("orders", ("9",), ONE)
    make_anew_of_plain(world)


def both(first: Act, second: Act) -> Act:
    def act(world: CopiesWorld) -> None:
        first(world)
        second(world)

    return act


def states(world: CopiesWorld) -> list[str | None]:
    found = world.users.partition("orders", ONE), world.users.table("plain")
    return [one.parameters.get("state") for one in found]


ACTS = {
    "made anew": make_anew,
    "altered, then made anew": both(alter, make_anew),
    "altered, then renamed there and back": both(alter, rename_there_and_back),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("is_read_before", [True, False], ids=["after it was read", "before it was read"])
def test_an_object_that_is_made_anew_before_its_mark_stays_the_new_one(
    act: Act, is_read_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, waiting = a_world(), [act]

    def read(*arguments: object) -> object:
        found = objects_now(*arguments) if is_read_before else None
        while waiting:
            waiting.pop()(world)
        return found if is_read_before else objects_now(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(publish_copies, "objects_now", read)
        world.run()
    assert not waiting
    assert states(world) == ["made anew", "made anew"]
    world.settle()
    assert states(world) == ["made anew", "made anew"]
    world.assert_complete("orders day=1", "plain")


def rename_the_table_there_and_back(world: CopiesWorld) -> None:
    world.users.rename_table("plain", "elsewhere")
    world.users.rename_table("elsewhere", "plain")


def swap(world: CopiesWorld) -> None:
    """Let another table have the name."""
    world.users.create_table("built", files={"f": b"built"})
    world.users.rename_table("plain", "old")
    world.users.rename_table("built", "plain")


WHILE_PUT = {
    "made anew": (make_anew, ["made anew", "made anew"]),
    "altered": (alter, ["altered first", "altered first"]),
    "altered, and the table renamed there and back": (
        both(alter, rename_the_table_there_and_back),
        ["altered first", "altered first"],
    ),
    "altered, and another table has the name": (both(alter, swap), ["altered first", None]),
}


@pytest.mark.parametrize(("act", "left"), WHILE_PUT.values(), ids=WHILE_PUT)
@pytest.mark.parametrize("moment", ["put_in_place", "objects_now"])
@pytest.mark.parametrize("table", ["orders", "plain"])
def test_what_happens_while_a_piece_is_published_stays(
    act: Act, left: list[str | None], moment: str, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, waiting = a_world(), [act]
    real = {"put_in_place": put_in_place, "objects_now": objects_now}[moment]

    def act_then(*arguments: object) -> object:
        before = real(*arguments)
        if f"sales.{table}" in " ".join(map(str, arguments)):
            while waiting:
                waiting.pop()(world)
        return before

    with monkeypatch.context() as patched:
        patched.setattr(publish_copies, moment, act_then)
        world.run()
    assert not waiting
    assert states(world) == left
    world.assert_no_copy_lies()
    world.settle()
    assert states(world) == left
    others = [name for name in world.tables() if name != "orders"]
    world.assert_complete("orders day=1", *others)
