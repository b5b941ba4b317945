"""Plain SQL may write a table's name in capitals: nobody who waits finds such a mark, but people see it and end it."""

import pytest

from tests.unit.publishing.sets.test_store import LOGS, Store
from twinhive.core.model.names import TableName
from twinhive.publishing.sets.listed_sets import ListedSet, SetsOfDatabase, SetStanding, left_behind, take_away
from twinhive.publishing.sets.marking_sets import UnmarkSet


@pytest.fixture
def store() -> Store:
    store = Store()
    store.mark("day=9")
    store.by_sql("LOGS", "day=1")
    return store


def listed(store: Store, table: str | None = None) -> SetsOfDatabase:
    return SetsOfDatabase(store.metastore, "sales", table, clock=lambda: store.now)


def written(store: Store) -> list[str]:
    return list(store.metastore.partition_names(TableName("sales", "twinhive_sets")))


def said(found: list[ListedSet]) -> list[tuple[str, SetStanding, str | None]]:
    return sorted((one.mark.spec, one.standing, one.trouble) for one in found)


def test_the_list_of_a_table_shows_what_the_list_of_its_database_shows(store: Store) -> None:
    store.by_sql("plain", "*")
    of_database = list(listed(store).read())
    of_table = list(listed(store, "logs").read())
    assert said(of_table) == [
        ("day=1", SetStanding.UNREADABLE, "written otherwise its table is logs"),
        ("day=9", SetStanding.DONE, None),
    ]
    assert [one for one in of_database if one.mark.table == LOGS] == of_table
    assert len(of_database) == 3


@pytest.mark.parametrize("spec", ["day=1", "region=us/day=3"])
def test_it_is_unmarked_beside_the_one_that_is_written_as_it_should_be(store: Store, spec: str) -> None:
    store.mark("day=1")
    store.by_sql("Logs", "region=us/day=3")
    store.by_sql("LOGS2", spec)
    unmark = UnmarkSet(LOGS, spec)
    assert unmark.plan(store.metastore)
    assert unmark.run(store.metastore)
    assert not unmark.plan(store.metastore)
    assert {one.mark.spec for one in listed(store, "logs").read()} == {"day=9", "day=1", "region=us/day=3"} - {spec}
    assert len(list(listed(store, "logs2").read())) == 1


def test_it_is_taken_away_when_its_table_is_gone_or_it_has_expired(store: Store) -> None:
    store.by_sql("Gone", "*")
    assert [one.name for one in left_behind(listed(store))] == ["table_name=Gone/spec=%2A"]
    store.now = 1e10
    store.mark("day=9", "again")
    found = left_behind(listed(store))
    assert said(found) == [("*", SetStanding.NO_TABLE, None), ("day=1", SetStanding.EXPIRED, None)]
    take_away(store.metastore, "sales", found)
    assert written(store) == ["table_name=logs/spec=day%3D9"]
