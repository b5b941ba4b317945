"""Databases of other catalogs may have the same names: what the log tells of them says nothing of our sets."""

import time
from dataclasses import replace

import pytest

from tests.unit.publishing.set_visibility.test_shown_sets import SALES, Producer
from twinhive.core.model.changes.events import Position
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import SetMark
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.publishing.set_visibility.changed_marks import find_changed
from twinhive.publishing.set_visibility.later_events import LaterEvents
from twinhive.replication.replica.set_checkpoint import read_looked

SPEC = SetSpec((("p", "a b"),))
MARK = SetMark(TableName(SALES, "orders"), str(SPEC), 0)


@pytest.fixture
def producer() -> Producer:
    return Producer()


def tell(producer: Producer, catalog: str, **changes: str) -> Position:
    """Let the newest event be another catalog's; return the one before it."""
    rows = producer.world.source.events
    rows[-1] = replace(rows[-1], catalog=catalog, **changes)
    return rows[-2].position


@pytest.mark.parametrize(("catalog", "counts"), [("hive", True), ("spark", False)])
def test_a_partition_that_is_added_in_another_catalog_is_not_ours(
    producer: Producer, catalog: str, counts: bool
) -> None:
    producer.users.add_partitions("orders", {("new",): [b"x"]})
    later = LaterEvents(producer.world.ports(), SALES, tell(producer, catalog))
    assert later.is_known and later.adds(MARK.table, ("new",)) is counts


def test_an_event_of_another_catalog_that_cannot_be_read_keeps_nothing_from_being_known(producer: Producer) -> None:
    producer.mark("p=a b")
    before = tell(producer, "spark", message="{")
    later = LaterEvents(producer.world.ports(), SALES, before)
    assert later.is_known
    assert later.why_too_early(MARK, SPEC, ("p",)) is None


@pytest.mark.parametrize("message", [None, "{"])
def test_a_mark_in_another_catalog_is_not_looked_at(producer: Producer, message: str | None) -> None:
    producer.mark("p=a b")
    producer.follow()
    producer.follow()  # the first one has made the replica's table of sets
    looked = read_looked(producer.world.replica_files, producer.policy)
    assert looked is not None
    producer.mark("*")
    tell(producer, "spark", **({} if message is None else {"message": message}))
    found = find_changed(producer.world.ports(), producer.policy, looked.log_id, time.time())
    assert found.names == frozenset()
