"""What the log does not tell speaks against the copies that it concerns alone, for each who reads it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from twinhive.core.model.changes.events import Position
from twinhive.federation.placement.copies_status import copies_of
from twinhive.federation.placement.placement_events import read_news
from twinhive.federation.routing.freshness import FollowedLog, Freshness


def a_world() -> CopiesWorld:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("other", files={"o": b"o"})
    world.settle()
    return world


def answers(world: CopiesWorld) -> Iterator[set[str]]:
    """Return which copies may be read, by each who judges them."""
    yield set(world.fresh())
    for freshness in (Freshness(world.metastore, None), Freshness(world.metastore, None, FollowedLog().tail)):
        yield {name for name in world.marked() if not told_stale(world, freshness, name)}
    tables = list(copies_of(world.ports(), world.placement))
    yield {one.name.table for one in tables for copy in one.copies if copy.stale is None}


def told_stale(world: CopiesWorld, freshness: Freshness, name: str) -> Mapping[object, str]:
    table, mark = world.users.table(name), world.marked()[name][1]
    return freshness.stale(table.name, {None: mark}, {None: str(table.location)})


def assert_fresh(world: CopiesWorld, *expected: str) -> None:
    assert list(answers(world)) == [set(expected)] * 4


UNREADABLE = [
    *(("hr", "t", kind, {"plain", "other"}) for kind in ("CREATE_TABLE", "INSERT", "ALTER_TABLE", "SOME_NEW")),
    *(("hr", None, kind, {"plain", "other"}) for kind in ("ALTER_DATABASE", "DROP_DATABASE", "SOME_NEW")),
    *(("sales", "plain", kind, {"other"}) for kind in ("CREATE_TABLE", "INSERT", "ALTER_TABLE", "SOME_NEW")),
    *(("sales", None, kind, set()) for kind in ("ALTER_DATABASE", "DROP_DATABASE", "SOME_NEW")),
    (None, None, "SOME_NEW", set()),
    (None, None, "CREATE_DATACONNECTOR", {"plain", "other"}),
    (None, None, "OPEN_TXN", {"plain", "other"}),
]


@pytest.mark.parametrize(("database", "table", "kind", "expected"), UNREADABLE)
def test_an_event_that_nobody_can_read_speaks_against_what_its_row_names(
    database: str | None, table: str | None, kind: str, expected: set[str]
) -> None:
    world = a_world()
    log = world.metastore._log
    log.emit(kind, database, table, {})
    log.rows[-1] = replace(log.rows[-1], message="not json")
    assert_fresh(world, *expected)
    listed = world.run()["list_copies"]
    # A file by file look tells what such an event of one table has changed: nothing here.
    is_of_plain = (database, table) == ("sales", "plain")
    assert (listed.needed, listed.dated) == ((0, 1) if is_of_plain else (2 - len(expected), 0))
    world.settle()
    assert_fresh(world, "other", "plain")
    world.assert_complete("other", "plain")


def test_an_event_of_another_catalog_speaks_against_nothing() -> None:
    world = a_world()
    world.users.insert("plain", None, {"g": b"more"})
    world.settle()
    rows = world.metastore._log
    rows.emit("SOME_NEW", "sales", "plain", {})
    rows.rows[-1] = replace(rows.rows[-1], catalog="spark")
    assert_fresh(world, "other", "plain")


def test_a_gap_speaks_against_no_copy_that_is_newer_than_it() -> None:
    world = a_world()
    first = world.metastore.current_event_id()
    world.users.insert("plain", None, {"g": b"more"})
    world.run()  # which begins where the log goes on
    world.metastore._log.expire(first)
    assert_fresh(world, "plain")


def test_of_one_table_the_old_partition_is_stale_alone() -> None:
    world = CopiesWorld()
    world.users.create_table("orders", ("day",))
    world.users.add_partitions("orders", {("1",): {"a": b"one"}})
    world.settle()
    first = world.metastore.current_event_id()
    world.users.add_partitions("orders", {("2",): {"a": b"two"}})
    world.run()
    world.metastore._log.expire(first)
    marked = {str(one.values): (one, mark) for one, mark in world.marked().values()}
    marks = {one.values: mark for one, mark in marked.values()}
    places = {one.values: str(one.location) for one, _ in marked.values()}
    for freshness in (Freshness(world.metastore, None), Freshness(world.metastore, None, FollowedLog().tail)):
        assert freshness.stale(world.users.table("orders").name, marks, places).keys() == {("1",)}


def test_an_emptied_log_is_not_a_quiet_one() -> None:
    world = a_world()
    begin = world.metastore.current_event_id()
    world.users.insert("plain", None, {"g": b"more"})
    newest = world.metastore.current_event_id()
    world.metastore._log.expire(newest)
    news = read_news(world.metastore, world.placement, Position(begin), "log-east")
    assert (news.end.event_id, news.is_whole) == (newest, False)
    assert not news.is_same("plain", None, begin) and news.is_same("plain", None, newest)


def test_rows_that_are_missing_and_rows_that_come_twice_are_read_past() -> None:
    world = a_world()
    begin = world.metastore.current_event_id()
    for number in range(8):
        world.users.insert("plain", None, {f"g{number}": b"more"})
    log = world.metastore._log
    gone = begin + 4
    log.rows = [row for row in log.rows if row.event_id != gone]
    log.rows.insert(-3, log.rows[-4])
    twice = log.rows[-4].event_id
    news = read_news(world.metastore, world.placement, Position(begin), "log-east")
    assert news.end.event_id == world.metastore.current_event_id()
    assert news.not_told("other", begin) and news.not_told("other", gone - 1) and news.not_told("other", twice)
    assert news.not_told("other", twice + 1) is None
    assert not news.is_same("plain", None, twice + 1)


def events_expire(world: CopiesWorld) -> None:
    world.users.insert("plain", None, {"g": b"more"})
    world.metastore._log.expire(world.metastore.current_event_id() - 1)


def an_id_comes_twice(world: CopiesWorld) -> None:
    world.users.insert("plain", None, {"g": b"more"})
    rows = world.metastore._log.rows
    rows.insert(-1, rows[-2])


def it_goes_back(world: CopiesWorld) -> None:
    log = world.metastore._log
    rows, last = list(log.rows), log.last_event_id
    world.users.insert("plain", None, {"g": b"more"})
    world.settle()
    log.rows[:], log.last_event_id = rows, last


BROKEN: dict[str, Callable[[CopiesWorld], object]] = {
    "events have expired": events_expire,
    "an id is there twice": an_id_comes_twice,
    "a metastore is restored": it_goes_back,
}


@pytest.mark.parametrize("name", BROKEN)
def test_all_is_copied_anew_where_the_log_does_not_tell(name: str) -> None:
    world = a_world()
    BROKEN[name](world)
    told = list(copies_of(world.ports(), world.placement))
    assert all(copy.stale for table in told for copy in table.copies if table.name.table == "plain")
    listed = world.run()["list_copies"]
    assert (listed.fresh, listed.unmarked, listed.needed) == (0, 2, 2)
    world.metastore._log.rows[:] = list({row.event_id: row for row in world.metastore._log.rows}.values())
    world.settle()
    world.assert_complete("plain", "other")
