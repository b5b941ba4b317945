"""What `sets list` shows can be unmarked as it stands there, also what plain SQL has written otherwise."""

import pytest

from tests.unit.publishing.sets.test_store import LOGS, Store
from twinhive.core.model.errors import InvalidSettings
from twinhive.publishing.sets.marking_sets import UnmarkSet


@pytest.fixture
def store() -> Store:
    store = Store()
    store.mark("day=9")
    return store


def specs(store: Store) -> set[str]:
    return {mark.spec for mark in store.kept()}


@pytest.mark.parametrize("text", ["region=us/day=3", "DAY=3", "hour=1", "no set at all", "day=", "day=1/day=2"])
def test_a_mark_of_plain_sql_is_unmarked_as_it_is_written(store: Store, text: str) -> None:
    store.by_sql("logs", text)
    unmark = UnmarkSet(LOGS, text)
    assert unmark.plan(store.metastore)
    assert specs(store) == {"day=9", text}
    assert unmark.run(store.metastore)
    assert specs(store) == {"day=9"}


def test_a_set_that_is_marked_in_both_ways_is_not_done_any_more(store: Store) -> None:
    store.by_sql("logs", "region=us/day=3")
    store.mark("region=us/day=3")
    assert specs(store) == {"day=9", "region=us/day=3", "day=3/region=us"}
    assert UnmarkSet(LOGS, "region=us/day=3").run(store.metastore)
    assert specs(store) == {"day=9"}
    assert not UnmarkSet(LOGS, "region=us/day=3").run(store.metastore)


def test_what_is_neither_marked_nor_a_set_is_an_error(store: Store) -> None:
    store.by_sql("logs", "hour=1")
    for text in ("hour=2", "no set"):
        with pytest.raises(InvalidSettings):
            UnmarkSet(LOGS, text).run(store.metastore)
    assert specs(store) == {"day=9", "hour=1"}
