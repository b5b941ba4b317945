"""Who overwrites a file at the old place of a moved table, by one of the same name and length, is told so."""

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from tests.support.worlds.fake_world import Killed
from tests.support.worlds.kept_marks import is_moving
from tests.unit.federation.placement.test_lists_left_behind import killed
from tests.unit.federation.placement.test_move_primary import (
    ORDERS,
    PLAIN,
    a_world,
    assert_moved,
    at_the_switch,
    move,
    of_table,
    routed,
    rows,
)
from twinhive.core.model.errors import ActNow
from twinhive.federation.placement.move_primary import MovePrimary
from twinhive.federation.placement.placement_layout import moved_directory
from twinhive.federation.routing.cluster_choice import Nowhere

TABLES = {"plain": (None, "f", b"PLAIN"), "orders": (("1",), "a", b"ONE")}
EXPECTED = {"plain": PLAIN, "orders": ORDERS}


def overwritten_late(world: CopiesWorld, table: str, content: bytes | None = None) -> str:
    """Let somebody overwrite a file at the old place in the moment of the switch; return its path."""
    values, name, other = TABLES[table]
    late = f"{world.users.location(table, values)}/{name}"
    at_the_switch(world, lambda: world.files.put(late, content or other), of_table=table == "plain")
    return late


def assert_told(world: CopiesWorld, table: str, late: str) -> None:
    with pytest.raises(ActNow, match="1 files came to the old place too late") as raised:
        move(world, table)
    assert raised.value.words.found == late
    assert isinstance(routed(world, f"select * from {table}", "east"), Nowhere)
    assert rows(world, table) == EXPECTED[table]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("is_copied_over", [True, False])
def test_a_file_of_the_same_name_and_length_is_late(table: str, is_copied_over: bool) -> None:
    world = a_world()
    values, name, content = TABLES[table]
    late = overwritten_late(world, table)
    for _ in range(2):
        assert_told(world, table, late)
    if is_copied_over:
        world.north.put(f"{world.users.location(table, values)}/{name}", content)
    else:
        world.files.delete(late)
    move(world, table)
    assert not is_moving(world.metastore, world.users.table(table))
    assert isinstance(routed(world, f"select * from {table}", "east"), Nowhere), "a copy that nobody has compared"
    assert world.north.status(moved_directory(of_table(table))) is None


@pytest.mark.parametrize("table", TABLES)
def test_one_that_holds_the_same_bytes_is_not(table: str) -> None:
    world = a_world()
    overwritten_late(world, table, (PLAIN if table == "plain" else ORDERS["day=1"])[TABLES[table][1]])
    move(world, table)
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", TABLES)
def test_it_is_told_by_the_run_after_a_kill(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    values, name, content = TABLES[table]
    late = f"{world.users.location(table, values)}/{name}"
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(MovePrimary, "_finish", killed)
        move(world, table)
    assert rows(world, table) == EXPECTED[table]
    world.files.put(late, content)
    assert_told(world, table, late)


def killed_before_its_end(world: CopiesWorld, table: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Switch a table, and let a job write its new home; return the old place of some of it, and the new one."""
    values, name, _ = TABLES[table]
    old = world.users.location(table, values)
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(MovePrimary, "_finish", killed)
        move(world, table)
    new = world.users.location(table, values)
    world.north.put(f"{new}/regular", b"a job has written the new home")
    world.north.delete(f"{new}/{name}")
    return old, new


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("late", [None, "more", "sub dir/more"])
def test_a_late_file_is_told_also_where_the_new_place_has_been_written(
    table: str, late: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = a_world()
    old, _ = killed_before_its_end(world, table, monkeypatch)
    late = f"{old}/{late or TABLES[table][1]}"
    world.files.put(late, TABLES[table][2])
    marks = world.users.table(table).parameters
    for _ in range(2):
        with pytest.raises(ActNow, match="1 files came to the old place too late") as raised:
            move(world, table)
        assert raised.value.words.found == late
        assert world.users.table(table).parameters == marks
        assert isinstance(routed(world, f"select * from {table}", "east"), Nowhere)
    world.files.delete(late)
    move(world, table)
    assert not is_moving(world.metastore, world.users.table(table))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("is_equal", [True, False])
def test_what_was_there_at_the_switch_and_what_is_equal_is_not_late_then(
    table: str, is_equal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = a_world()
    old, new = killed_before_its_end(world, table, monkeypatch)
    if is_equal:
        world.files.put(f"{old}/regular", world.north.read(f"{new}/regular"))
    move(world, table)
    assert not is_moving(world.metastore, world.users.table(table))
    assert isinstance(routed(world, f"select * from {table}", "east"), Nowhere)


@pytest.mark.parametrize("table", TABLES)
def test_where_nothing_was_written_down_a_written_place_tells_nothing(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = a_world()
    killed_before_its_end(world, table, monkeypatch)
    world.north.delete(moved_directory(of_table(table)))
    move(world, table)
    assert not is_moving(world.metastore, world.users.table(table))


@pytest.mark.parametrize("table", TABLES)
def test_once_told_only_what_is_late_is_told_when_the_new_place_is_written(table: str) -> None:
    world = a_world()
    late = overwritten_late(world, table)
    assert_told(world, table, late)
    new = world.users.location(table, TABLES[table][0])
    for path in world.north.paths():
        if path.startswith(f"{new}/"):
            world.north.delete(path)
    with pytest.raises(ActNow) as raised:
        move(world, table)
    assert raised.value.words.found == late
    world.files.delete(late)
    move(world, table)
    assert not is_moving(world.metastore, world.users.table(table))


@pytest.mark.parametrize("table", TABLES)
def test_an_old_place_is_no_copy_of_a_new_one_that_was_written_by_files_of_the_same_names_and_lengths(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = a_world()
    values, name, other = TABLES[table]
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(MovePrimary, "_finish", killed)
        move(world, table)
    new = f"{world.users.location(table, values)}/{name}"
    world.north.delete_file(new)
    world.north.put(new, other)
    move(world, table)
    assert not is_moving(world.metastore, world.users.table(table))
    assert isinstance(routed(world, f"select * from {table}", "east"), Nowhere)
