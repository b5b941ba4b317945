"""Who overwrites a file at the old place of a moved table, by one of the same name and length, is told so."""

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from tests.support.worlds.fake_world import Killed
from tests.unit.copies.test_lists_left_behind import killed
from tests.unit.copies.test_move_primary import (
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
from twinhive.copies.layout import moved_directory
from twinhive.copies.move_primary import MovePrimary
from twinhive.model.copies.moving import MOVING
from twinhive.model.errors import ActNow
from twinhive.routing.choosing import Nowhere

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
    assert MOVING not in world.users.table(table).parameters
    assert isinstance(routed(world, f"select * from {table}", "east"), Nowhere), "a copy that nobody has compared"
    assert world.north.status(moved_directory(of_table(table))) is None


@pytest.mark.parametrize("table", TABLES)
def test_one_that_holds_the_same_bytes_is_not(table: str) -> None:
    world = a_world()
    overwritten_late(world, table, (PLAIN if table == "plain" else ORDERS["day=1"])[TABLES[table][1]])
    move(world, table)
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", TABLES)
def test_where_nothing_was_written_down_checksums_tell(table: str) -> None:
    world = a_world()
    late = overwritten_late(world, table)
    assert_told(world, table, late)
    for path in world.north.paths():
        if path.startswith(moved_directory(of_table(table))):
            world.north.delete(path)
    assert_told(world, table, late)


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
