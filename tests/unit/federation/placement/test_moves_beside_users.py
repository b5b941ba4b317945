"""Who alters a table or a partition while a move marks it finds the change kept, and copies of others stay."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.copies_world import CopiesWorld
from tests.support.worlds.fake_world import Killed
from tests.support.worlds.kept_marks import is_moving
from tests.unit.federation.placement.test_late_files import EXPECTED, overwritten_late
from tests.unit.federation.placement.test_move_primary import (
    ORDERS,
    a_placed_world,
    a_world,
    adopt,
    assert_moved,
    at_the_switch,
    both_files,
    move,
    rows,
)
from twinhive.core.model.errors import ActNow, TryAgain, Unreachable
from twinhive.core.model.placement.copy_marks import CopyMark
from twinhive.federation.placement import late_files, move_primary, primary_switch


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


def alter(world: CopiesWorld, table: str, value: str) -> None:
    """Alter something in the second in which it was altered last: its time tells nothing of that."""
    one = one_of(world, table)
    changed = one.with_parameters({**one.parameters, "new": value})
    if table == "orders":
        world.metastore.alter_partitions([changed])
    else:
        world.metastore.alter_table(one.name, changed)


def one_of(world: CopiesWorld, table: str) -> Any:
    return world.users.partition("orders", ("1",)) if table == "orders" else world.users.table(table)


def killed_in_the_switch(world: CopiesWorld, table: str, end: Exception, act: Callable[[], None] | None = None) -> None:
    """Let a user alter an object between our last look and our call, and the process end before it has read the log."""
    of_table = table == "plain"
    at_the_switch(world, act or (lambda: alter(world, table, "first")), of_table=of_table)
    with pytest.MonkeyPatch.context() as patched, pytest.raises(type(end)):
        patched.setattr(primary_switch, "give_back", lambda *_: (_ for _ in ()).throw(end))
        move(world, table)
    assert both_files(world, str(one_of(world, table).location)) is world.north
    world.lease.lose_holders()


ENDS = [Killed(), Unreachable("no answer", found="a time-out", expected="an answer", next_step="try again")]


@pytest.mark.parametrize("table", EXPECTED)
@pytest.mark.parametrize("end", ENDS, ids=["killed", "no answer"])
def test_what_a_switch_has_overwritten_the_next_run_gives_back(table: str, end: Exception) -> None:
    world = a_world()
    killed_in_the_switch(world, table, end)
    assert "new" not in one_of(world, table).parameters
    move(world, table)
    assert one_of(world, table).parameters["new"] == "first"
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", EXPECTED)
def test_what_somebody_has_gone_on_with_since_is_not_given_back(table: str) -> None:
    world = a_world()
    killed_in_the_switch(world, table, Killed())
    alter(world, table, "second")
    move(world, table)
    assert one_of(world, table).parameters["new"] == "second"
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", EXPECTED)
def test_what_is_altered_while_files_are_compared_is_never_written_over(table: str) -> None:
    """The objects are read again directly before the call: whoever has altered one by then is not even overwritten."""
    world, writes = a_world(), list[Any]()
    name = "alter_table" if table == "plain" else "alter_partitions"
    original = getattr(world.metastore, name)

    def noted(*arguments: Any, **options: Any) -> Any:
        some = arguments[-1:] if table == "plain" else [one for one in arguments[0] if one.values == ("1",)]
        if any(both_files(world, str(one.location)) is world.north for one in some):
            writes.append(one_of(world, table).parameters.get("new"))
        return original(*arguments, **options)

    setattr(world.metastore, name, noted)
    with acting(primary_switch, "remember_old", lambda: alter(world, table, "one")):
        move(world, table)
    assert writes == ["one"]
    assert one_of(world, table).parameters["new"] == "one"
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("is_made_again", [False, True])
def test_a_partition_that_is_dropped_in_the_moment_of_the_switch_stays_so(is_made_again: bool) -> None:
    world = a_world()

    def drop() -> None:
        one = world.users.partition("orders", ("1",))
        world.metastore.drop_partitions(one.table, [one.name(("day",))], delete_data=False)
        if is_made_again:
            world.metastore.add_partitions([one.with_parameters({"new": "one"})])

    at_the_switch(world, drop, of_table=False)
    move(world, "orders")
    if is_made_again:
        assert world.users.partition("orders", ("1",)).parameters["new"] == "one"
        assert_moved(world, "orders", ORDERS)
    else:
        assert_moved(world, "orders", {name: files for name, files in ORDERS.items() if name != "day=1"})


# --- copies that were to be homes, and are copies as before


def writable_copies(world: CopiesWorld, table: str) -> list[str]:
    """Return the marked copies on north of what is at home on east into which somebody may write."""
    found = [(one, mark.location) for name, (one, mark) in world.marked().items() if name.split()[0] == table]
    places = [place for one, place in found if str(one.location) != place]
    return [place for place in places if (status := world.north.status(place)) and status.permission & 0o222]


def altered_at_each_switch(world: CopiesWorld, table: str) -> None:
    """Let a user alter an object between our last look and each of our calls."""
    name = "alter_table" if table == "plain" else "alter_partitions"
    original, count = getattr(world.metastore, name), iter(range(100))

    def altered(*arguments: Any, **options: Any) -> Any:
        some = [arguments[-1]] if table == "plain" else arguments[0]
        if any(both_files(world, str(one.location)) is world.north for one in some):
            setattr(world.metastore, name, original)
            alter(world, table, str(next(count)))
            setattr(world.metastore, name, altered)
        return original(*arguments, **options)

    setattr(world.metastore, name, altered)


@pytest.mark.parametrize("table", EXPECTED)
@pytest.mark.parametrize("begin", [a_world, a_placed_world])
def test_what_is_given_back_each_time_cannot_be_written(table: str, begin: Callable[[], CopiesWorld]) -> None:
    world = begin()
    altered_at_each_switch(world, table)
    with pytest.raises(TryAgain, match="it is written all the time"):
        adopt(world, table)
    assert both_files(world, str(one_of(world, table).location)) is world.files
    assert writable_copies(world, table) == []


@pytest.mark.parametrize("table", EXPECTED)
def test_what_a_kill_has_left_to_be_switched_the_next_run_protects_where_it_switches_nothing(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = a_placed_world()

    def killed() -> None:
        raise Killed

    with acting(primary_switch, "become_homes", killed), pytest.raises(Killed):
        adopt(world, table)
    world.lease.lose_holders()
    assert writable_copies(world, table)
    for name in ("switch_partitions", "switch_table"):
        monkeypatch.setattr(primary_switch.Switching, name, lambda *_: False)
    with pytest.raises(TryAgain, match="it is written all the time"):
        adopt(world, table)
    assert writable_copies(world, table) == []


# --- a placement beside


def marks_of_others(world: CopiesWorld, table: str) -> dict[str, CopyMark]:
    return {name: mark for name, (_, mark) in world.marked().items() if name.split()[0] != table}


@pytest.mark.parametrize("table", ["plain", "orders"])
def test_the_marks_of_other_tables_stay_as_they_are_through_a_move(table: str) -> None:
    expected = marks_of_others(a_placed_world(), table)
    assert expected
    for world in left_by_kills(a_placed_world, lambda world, switch: adopt(world, table, switch)):
        assert marks_of_others(world, table) == expected
        adopt(world, table)
        assert marks_of_others(world, table) == expected
        before = rows(world, table)
        assert world.run()["list_copies"].unmarked == 0
        assert marks_of_others(world, table) == expected and rows(world, table) == before
