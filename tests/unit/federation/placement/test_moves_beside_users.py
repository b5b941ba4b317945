"""Who alters a table or a partition while a move marks it finds the change kept: the log tells of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from tests.unit.federation.placement.test_late_files import EXPECTED, overwritten_late
from tests.unit.federation.placement.test_move_primary import ORDERS, a_world, assert_moved, both_files, move, rows
from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.federation.placement import late_files, move_primary
from twinhive.federation.routing.move_mark import MOVING, without_fence


@contextmanager
def acting(module: Any, name: str, act: Callable[[], None], *, is_after: bool = True) -> Iterator[None]:
    """Let somebody act once, just before or after a function of ours is called."""
    with pytest.MonkeyPatch.context() as patched:
        original, waiting = getattr(module, name), [act]

        def called(*arguments: Any, **options: Any) -> Any:
            if is_after:
                result = original(*arguments, **options)
            while waiting:
                waiting.pop()()
            return result if is_after else original(*arguments, **options)

        patched.setattr(module, name, called)
        yield


def set_new(world: CopiesWorld, table: str) -> Callable[[], None]:
    return lambda: world.users.set_parameters(table, {"new": "one"})


@pytest.mark.parametrize("table", EXPECTED)
@pytest.mark.parametrize("step", ["settle_old_place", "remove_marks", "without_fence"])
def test_a_table_that_is_altered_while_the_move_ends_is_as_it_was_left(table: str, step: str) -> None:
    world = a_world()
    with acting(move_primary, step, set_new(world, table)):
        move(world, table)
    assert world.users.table(table).parameters["new"] == "one"
    found = world.users.table(table)
    assert found.parameters["twinhive.cluster"] == "north" and MOVING not in found.parameters
    assert rows(world, table) == EXPECTED[table]


def test_one_that_is_altered_while_its_partitions_are_read_as_well() -> None:
    world = a_world()

    def watched() -> None:
        original = world.metastore.partition_names

        def names(*arguments: Any) -> Any:
            del world.metastore.partition_names
            set_new(world, "orders")()
            return original(*arguments)

        world.metastore.partition_names = names

    with acting(move_primary, "settle_old_place", watched):
        move(world, "orders")
    assert world.users.table("orders").parameters["new"] == "one"
    assert_moved(world, "orders", ORDERS)


@pytest.mark.parametrize("table", EXPECTED)
@pytest.mark.parametrize("is_after", [False, True])
def test_a_table_that_is_altered_while_it_is_fenced_is_as_it_was_left(table: str, is_after: bool) -> None:
    world = a_world()
    with acting(move_primary, "forget_old", set_new(world, table), is_after=is_after):
        move(world, table)
    assert world.users.table(table).parameters["new"] == "one"
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", EXPECTED)
def test_what_is_altered_while_the_old_place_is_judged_is_as_it_was_left(table: str) -> None:
    world = a_world()

    def alter() -> None:
        if table == "orders":
            world.users.alter_partitions("orders", [("1",)], {"new": "one"})
        else:
            set_new(world, table)()

    late = overwritten_late(world, table)
    with acting(late_files, "_judged", alter), pytest.raises(ActNow) as raised:
        move(world, table)
    assert raised.value.words.found == late
    one = world.users.partition("orders", ("1",)) if table == "orders" else world.users.table(table)
    assert one.parameters["new"] == "one"
    assert both_files(world, str(one.location)) is world.north
    world.files.delete(late)
    move(world, table)
    assert MOVING not in world.users.table(table).parameters
    assert rows(world, table) == EXPECTED[table]


def test_a_table_that_is_altered_all_the_time_keeps_the_mark_until_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    world, number = a_world(), iter(range(1_000))

    def altered(parameters: dict[str, str]) -> dict[str, str]:
        world.users.set_parameters("plain", {"new": str(next(number))})
        return without_fence(parameters)

    with monkeypatch.context() as patched, pytest.raises(TryAgain, match="still bears the mark of the move"):
        patched.setattr(move_primary, "without_fence", altered)
        move(world, "plain")
    found = world.users.table("plain").parameters
    assert MOVING in found and found["new"] == str(next(number) - 1)
    move(world, "plain")
    assert MOVING not in world.users.table("plain").parameters
