"""Who alters a table or a partition while a move marks it finds the change kept: the log tells of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from tests.support.worlds.kept_marks import is_moving
from tests.unit.federation.placement.test_late_files import EXPECTED, overwritten_late
from tests.unit.federation.placement.test_move_primary import a_world, assert_moved, both_files, move, rows
from twinhive.core.model.errors import ActNow
from twinhive.federation.placement import late_files, move_primary


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
@pytest.mark.parametrize("step", ["settle_old_place", "remove_marks", "clear_work"])
def test_a_table_that_is_altered_while_the_move_ends_is_as_it_was_left(table: str, step: str) -> None:
    world = a_world()
    with acting(move_primary, step, set_new(world, table)):
        move(world, table)
    assert world.users.table(table).parameters["new"] == "one"
    found = world.users.table(table)
    assert found.parameters["twinhive.cluster"] == "north" and not is_moving(world.metastore, found)
    assert rows(world, table) == EXPECTED[table]


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
    assert not is_moving(world.metastore, world.users.table(table))
    assert rows(world, table) == EXPECTED[table]
