"""While a run looks, the source goes on: later events explain what they bring themselves, and nothing else.

Each set is marked over rows that Spark has written without an event (`silent`): shown without these it would be a lie.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.publishing.set_visibility.test_shown_sets import SALES, Producer
from twinhive.core.model.errors import Missing
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import sets_table
from twinhive.runtime.pipeline.phases import SCAN
from twinhive.runtime.pipeline.runner import run_phase

DAY = ("a b",)
ELSEWHERE = "hdfs://east/elsewhere"


@pytest.fixture
def producer() -> Producer:
    return Producer()


def meanwhile(producer: Producer, act: Callable[[Producer], None]) -> None:
    """Follow; when marks are read, behind all that the run has reached, something more happens at the source."""
    real, once = producer.world.source.partition_names, iter([True])

    def names(table: TableName, *rest: Any) -> list[str]:
        if table == sets_table(SALES) and next(once, False):
            act(producer)
        return real(table, *rest)

    producer.world.source.partition_names = names
    producer.follow()
    producer.world.source.partition_names = real
    assert next(once, False) is False


def new_place(producer: Producer) -> None:
    producer.world.source_files.put(f"{ELSEWHERE}/other", b"rows of the new place")
    producer.users.set_partition_location("orders", DAY, ELSEWHERE)


def drop_and_add(producer: Producer) -> None:
    producer.users.drop_partitions("orders", [DAY])
    producer.users.add_partitions("orders", {DAY: [b"others"]})


LATER: dict[str, Callable[[Producer], None]] = {
    "rows": lambda one: one.users.insert("orders", DAY, [b"late"]),
    "statistics of the partition": lambda one: one.users.alter_partition("orders", DAY, {"numRows": "3"}),
    "statistics of partitions": lambda one: one.users.alter_partitions("orders", [DAY], {"numRows": "3"}),
    "statistics of a column": lambda one: one.users.update_statistics("orders", DAY),
    "a comment on the table": lambda one: one.users.set_parameters("orders", {"comment": "x"}),
    "a column": lambda one: one.users.add_columns("orders", [("more", "string")], cascade=True),
    "other rows": lambda one: one.users.overwrite("orders", DAY, [b"others"]),
    "no rows": lambda one: one.users.truncate("orders", [DAY]),
    "a drop": lambda one: one.users.drop_partitions("orders", [DAY]),
    "a drop, and the partition again": drop_and_add,
    "another name": lambda one: one.users.rename_partition("orders", DAY, ("other",)),
    "another place": new_place,
}


@pytest.mark.parametrize("later", LATER)
def test_rows_that_no_event_told_of_are_not_explained_by_an_event_after_the_mark(
    producer: Producer, later: str
) -> None:
    producer.write_silently("orders", DAY, b"promised")
    producer.mark("p=a b")
    meanwhile(producer, LATER[later])
    assert producer.shown == [] and "orders p=a b" in producer.held
    for _ in range(2):
        run_phase(SCAN, tuned(settle_seconds=0), producer.world.ports(), {"run": "s"}, producer.say)
        producer.follow()
    assert producer.shown == ["orders p=a b"]
    producer.assert_sets_are_true()


@pytest.mark.parametrize("later", LATER)
def test_of_an_empty_partition_nothing_is_concluded_from_what_is_empty_too(producer: Producer, later: str) -> None:
    """The replica has no rows, and the source has none after the event: the rows that were promised were between."""
    producer.users.truncate("orders", [DAY])
    producer.follow()
    producer.write_silently("orders", DAY, b"promised")
    place = producer.users.location("orders", DAY)
    producer.mark("p=a b")

    def act(one: Producer) -> None:
        LATER[later](one)
        if later in ("another place", "other rows"):
            one.world.source_files.delete(f"{place}/silent")

    meanwhile(producer, act)
    assert producer.shown == []


@pytest.mark.parametrize("becomes", ["others", "nothing"])
def test_a_file_that_was_replaced_or_removed_without_an_event_is_not_explained_by_one_that_came(
    producer: Producer, becomes: str
) -> None:
    producer.users.insert("orders", DAY, {"kept": b"wrong"})
    producer.follow()
    place, files = producer.users.location("orders", DAY), producer.world.source_files
    if becomes == "others":
        files.put(f"{place}/kept", b"right")
    else:
        files.delete(f"{place}/kept")
    producer.mark("p=a b")
    meanwhile(producer, LATER["rows"])
    assert producer.shown == []


SOUND = ("rows", *(one for one in LATER if one.startswith(("statistics", "a co"))), "another place")


@pytest.mark.parametrize("later", SOUND)
def test_what_the_replica_has_shows_while_the_source_goes_on(producer: Producer, later: str) -> None:
    producer.users.insert("orders", DAY, [b"promised"])
    producer.mark("p=a b")
    meanwhile(producer, LATER[later])
    assert producer.shown == ["orders p=a b"]


@pytest.mark.parametrize("spec", ["*", "p=new"])
def test_a_partition_that_is_added_after_the_mark_is_not_promised(producer: Producer, spec: str) -> None:
    producer.mark(spec)

    def act(one: Producer) -> None:
        one.users.add_partitions("orders", {("new",): [b"x"]})
        one.users.overwrite("orders", ("new",), [b"y"])

    meanwhile(producer, act)
    assert producer.shown == [f"orders {spec}"]


def test_a_table_without_partitions_is_compared_where_it_lay(producer: Producer) -> None:
    producer.users.insert("plain", None, [b"promised"])
    producer.mark("*", "plain")
    meanwhile(producer, lambda one: one.users.set_location("plain", ELSEWHERE))
    assert producer.shown == ["plain *"]


def test_what_is_dropped_while_others_are_compared_was_not_compared(producer: Producer) -> None:
    producer.write_silently("orders", DAY, b"promised")
    producer.mark("*")
    real, once = producer.world.source.partition_names, iter([True])

    def names(table: TableName, *rest: Any) -> list[str]:
        if table.table == "orders" and producer.world.replica.table(sets_table(SALES)) is None and next(once, False):
            producer.users.drop_partitions("orders", [DAY])
        return real(table, *rest)

    producer.world.source.partition_names = names
    producer.follow()
    assert next(once, False) is False and producer.shown == []
    producer.follow()
    assert producer.shown == ["orders *"]


def test_a_leaf_that_vanishes_while_it_is_compared_holds_the_set(producer: Producer) -> None:
    producer.write_silently("orders", DAY, b"promised")
    producer.mark("*")
    real = producer.world.replica.partitions

    def gone(table: TableName, *rest: Any) -> Any:
        if table.table == "orders" and producer.world.source.table(sets_table(SALES)) is not None:
            raise Missing("the table is gone", found="nothing", expected="a table", next_step="look")
        return real(table, *rest)

    producer.world.replica.partitions = gone
    producer.follow()
    assert producer.shown == [] and "orders *" in producer.held


@pytest.mark.parametrize("what", ["cannot be read", "is gone"])
def test_an_event_after_the_position_that_nobody_knows_holds_every_set(producer: Producer, what: str) -> None:
    """It may be the DROP before the mark that the replica has not reached."""
    producer.mark("*")

    def act(one: Producer) -> None:
        one.users.set_parameters("plain", {"colour": "red"})
        one.users.set_parameters("plain", {"colour": "blue"})
        rows = one.world.source.events
        if what == "is gone":
            del rows[-2]
        else:
            rows[-2] = replace(rows[-2], message="{")

    meanwhile(producer, act)
    assert producer.shown == [] and "not at the mark yet" in producer.held["orders *"]
