"""What a switch has overwritten, where the log does not tell of it: a move says so once, and never goes on silently."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from tests.support.worlds.fake_world import Killed, backup
from tests.unit.federation.placement.test_late_files import EXPECTED
from tests.unit.federation.placement.test_move_primary import a_world, assert_moved, move, moving
from tests.unit.federation.placement.test_moves_beside_users import alter, killed_in_the_switch, one_of
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.federation.placement import primary_switch

Break = Callable[[CopiesWorld, str], None]


def events_expire(world: CopiesWorld, table: str) -> None:
    world.metastore._log.expire(world.metastore.current_event_id() - 1)


def it_is_emptied(world: CopiesWorld, table: str) -> None:
    world.metastore._log.expire(world.metastore.current_event_id())


def it_begins_anew(world: CopiesWorld, table: str) -> None:
    log = world.metastore._log
    log.rows, log.last_event_id = [], 0
    world.users.create_view("first_of_the_new_log")


def it_begins_anew_and_goes_on(world: CopiesWorld, table: str) -> None:
    until = world.metastore.current_event_id()
    it_begins_anew(world, table)
    while world.metastore.current_event_id() <= until:
        world.users.insert("other", None, {})


def spoiled(world: CopiesWorld, **changes: object) -> None:
    """Let the newest alteration before our call be another row."""
    rows = world.metastore._log.rows
    number = max(index for index, row in enumerate(rows) if '"first' in row.message or '\\"first' in row.message)
    rows[number] = replace(rows[number], **changes)


def it_cannot_be_read(world: CopiesWorld, table: str) -> None:
    spoiled(world, message="not json")


def it_is_of_a_later_hive(world: CopiesWorld, table: str) -> None:
    spoiled(world, event_type="ALTER_TABLE_IN_ANOTHER_WAY")


UNTOLD: dict[str, Break] = {
    "events have expired": events_expire,
    "it was emptied": it_is_emptied,
    "it begins anew": it_begins_anew,
    "it begins anew and goes on": it_begins_anew_and_goes_on,
    "an alteration cannot be read": it_cannot_be_read,
    "an alteration of a later Hive": it_is_of_a_later_hive,
}


def with_another_table() -> CopiesWorld:
    world = a_world()
    world.users.create_table("other")
    return world


def said(table: str) -> str:
    return "sales.plain" if table == "plain" else "sales.orders 1"


@pytest.mark.parametrize("table", EXPECTED)
@pytest.mark.parametrize("name", UNTOLD)
def test_where_the_log_does_not_tell_what_was_overwritten_the_move_says_so_once(table: str, name: str) -> None:
    world = with_another_table()
    killed_in_the_switch(world, table, Killed())
    UNTOLD[name](world, table)
    with pytest.raises(ActNow, match="nobody knows what others have changed") as raised:
        move(world, table)
    assert said(table) in str(raised.value.words.found)
    move(world, table)
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", EXPECTED)
def test_it_is_reported_before_it_counts_as_said(table: str) -> None:
    """Killed between the two, the next run says it again: so it has been said wherever a run goes on."""
    world, lines = with_another_table(), list[object]()
    killed_in_the_switch(world, table, Killed())
    it_is_emptied(world, table)

    def die(line: object) -> None:
        if "nobody knows" in str(line):
            lines.append(line)
            raise Killed

    with pytest.raises(Killed):
        replace(moving(table), report=die).run(world.ports())
    assert len(lines) == 1
    world.lease.lose_holders()
    with pytest.raises(ActNow, match="nobody knows"):
        move(world, table)


@pytest.mark.parametrize("table", EXPECTED)
def test_an_event_of_another_object_that_cannot_be_read_stops_no_move(table: str) -> None:
    world = with_another_table()

    def act() -> None:
        world.users.set_parameters("other", {"new": "first"})
        spoiled(world, message="not json")
        alter(world, table, "first")

    killed_in_the_switch(world, table, Killed(), act)
    move(world, table)
    assert one_of(world, table).parameters["new"] == "first"
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", EXPECTED)
def test_what_is_altered_after_what_cannot_be_read_is_given_back(table: str) -> None:
    world = with_another_table()

    def act() -> None:
        alter(world, table, "first of two")
        spoiled(world, message="not json")
        alter(world, table, "second")

    killed_in_the_switch(world, table, Killed(), act)
    if table == "plain":
        move(world, table)
    else:  # of the other partitions of that call nobody knows
        with pytest.raises(ActNow, match="nobody knows") as raised:
            move(world, table)
        assert "sales.orders 1," not in f"{raised.value.words.found},"
    move(world, table)
    assert one_of(world, table).parameters["new"] == "second"
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", EXPECTED)
def test_an_alteration_after_the_switch_that_cannot_be_read_is_not_written_over(table: str) -> None:
    world = with_another_table()
    killed_in_the_switch(world, table, Killed(), lambda: alter(world, table, "zero"))
    alter(world, table, "first")
    it_cannot_be_read(world, table)
    with pytest.raises(ActNow, match="nobody knows"):
        move(world, table)
    assert one_of(world, table).parameters["new"] == "first"
    move(world, table)
    assert one_of(world, table).parameters["new"] == "first"
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", EXPECTED)
def test_an_event_of_another_catalog_is_of_another_table(table: str) -> None:
    world = with_another_table()
    killed_in_the_switch(world, table, Killed())
    spoiled(world, catalog="spark")
    move(world, table)
    assert "new" not in one_of(world, table).parameters
    assert_moved(world, table, EXPECTED[table])


def killed_before_the_switch(world: CopiesWorld, table: str) -> None:
    with pytest.MonkeyPatch.context() as patched, pytest.raises(Killed):
        name = "_alter_table" if table == "plain" else "_alter_partitions"
        patched.setattr(primary_switch.Switching, name, lambda *_: (_ for _ in ()).throw(Killed()))
        move(world, table)
    world.lease.lose_holders()


@pytest.mark.parametrize("table", EXPECTED)
def test_a_gap_says_nothing_against_what_was_never_switched(table: str) -> None:
    world = with_another_table()
    killed_before_the_switch(world, table)
    it_is_emptied(world, table)
    move(world, table)
    assert_moved(world, table, EXPECTED[table])


@pytest.mark.parametrize("table", EXPECTED)
def test_a_metastore_that_is_restored_to_before_the_switch_is_switched_as_if_for_the_first_time(table: str) -> None:
    """What was written down under the log that was taken back says nothing, whatever its numbers are now."""
    world = with_another_table()
    killed_before_the_switch(world, table)
    restore = backup(world.metastore)
    for _ in range(20):
        world.users.insert("other", None, {})
    killed_in_the_switch(world, table, Killed())
    restore()
    killed_in_the_switch(world, table, Killed())
    for _ in range(60):
        world.users.insert("other", None, {})
    move(world, table)
    assert one_of(world, table).parameters["new"] == "first"
    assert_moved(world, table, EXPECTED[table])


def test_an_alteration_of_a_partitioned_table_in_the_second_of_its_switch_is_given_back() -> None:
    """The time that the metastore compares is of whole seconds."""
    world = a_world()
    original = world.metastore.alter_table

    def alter_table(name: TableName, table: Table, **options: Any) -> None:
        if "twinhive.cluster" in table.parameters and not hasattr(alter_table, "done"):
            alter_table.done = True  # type: ignore[attr-defined]
            now = world.users.table("orders")
            original(now.name, now.with_parameters({**now.parameters, "new": "first"}))
            options = {}
        original(name, table, **options)

    world.metastore.alter_table = alter_table  # type: ignore[method-assign]
    move(world, "orders")
    assert world.users.table("orders").parameters["new"] == "first"
    assert_moved(world, "orders", EXPECTED["orders"])
