"""`expire` takes away what it has found, and nothing that was marked since."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.unit.publishing.sets.test_store import LOGS, Store
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import sets_table
from twinhive.publishing.sets import listed_sets
from twinhive.publishing.sets.listed_sets import ListedSet, SetsOfDatabase, left_behind, take_away

DAYS = 86_400


@pytest.fixture
def store() -> Store:
    return Store()


def found(store: Store) -> list[ListedSet]:
    return left_behind(SetsOfDatabase(store.metastore, "sales", clock=lambda: store.now))


def make_again(store: Store) -> None:
    store.metastore.drop_table(LOGS, delete_data=True)
    store.metastore.create_table(a_table("sales.logs", partition_keys=("day", "region")))


def grow_old(store: Store) -> None:
    store.now += 40 * DAYS


@pytest.mark.parametrize("left", [grow_old, make_again])
@pytest.mark.parametrize("token", ["t", "another"])
def test_a_set_that_is_marked_anew_after_it_was_found_stays(
    store: Store, left: Callable[[Store], None], token: str
) -> None:
    store.mark("day=1")
    store.mark("day=2")
    left(store)
    some = found(store)
    assert [one.mark.spec for one in some] == ["day=1", "day=2"]
    store.mark("day=1", token)
    assert [one.mark.spec for one in take_away(store.metastore, "sales", some)] == ["day=2"]
    assert [one.spec for one in store.kept()] == ["day=1"]
    assert store.done("day=1") == "day=1"


def test_each_call_looks_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are read before the first is dropped, which takes long in a large store."""
    monkeypatch.setattr(listed_sets, "_PER_CALL", 1)
    for day in "123":
        store.mark(f"day={day}")
    grow_old(store)
    some = found(store)
    real = store.metastore.drop_partitions

    def drop(table: TableName, names: Sequence[str], **rest: Any) -> None:
        real(table, names, **rest)
        if len(store.kept()) == 2:
            store.mark("day=2")

    monkeypatch.setattr(store.metastore, "drop_partitions", drop)
    assert [one.mark.spec for one in take_away(store.metastore, "sales", some)] == ["day=1", "day=3"]
    assert [one.spec for one in store.kept()] == ["day=2"]


def test_a_mark_that_was_unmarked_meanwhile_is_no_error(store: Store) -> None:
    store.mark("day=1")
    grow_old(store)
    some = found(store)
    store.metastore.drop_partitions(sets_table("sales"), [some[0].name], delete_data=True)
    assert take_away(store.metastore, "sales", some) == []


def test_of_a_table_whose_name_another_has_taken_a_mark_that_was_made_since_is_not_replaced(store: Store) -> None:
    """`logs` was renamed to `old`, whose own mark was left behind and is marked anew by now."""
    old = TableName("sales", "old")
    store.metastore.create_table(a_table("sales.old", partition_keys=("day", "region")))
    store.mark("day=1", "of logs")
    store.mark("day=1", "before", old)
    store.metastore.drop_table(old, delete_data=True)
    table = store.metastore.table(LOGS)
    store.metastore.alter_table(LOGS, table.at(old, table.location))
    some = found(store)
    assert {(one.mark.table, one.moved_to) for one in some} == {(LOGS, old), (old, None)}
    store.mark("day=1", "now", old)
    assert [one.mark.table for one in take_away(store.metastore, "sales", some)] == [LOGS]
    [kept] = store.kept()
    assert (kept.table, kept.token) == (old, "now")
