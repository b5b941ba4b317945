"""What is told of partitions that get other values, and of sets that go with a table."""

from dataclasses import replace

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.unit.publishing.messages.test_publishing_messages import ACTIVE, LOGS, STANDBY, Desk
from twinhive.core.model.sets.set_mark import sets_table
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.publisher_lag import read_behind
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, left_behind, take_away
from twinhive.publishing.sets.marking_sets import MarkSet


@pytest.fixture
def desk() -> Desk:
    made = Desk()
    made.add("1", "2")
    MarkSet(LOGS, "day=1", "t", "ann").run(made.metastore)
    return made


@pytest.fixture
def users(desk: Desk) -> SourceWriter:
    return SourceWriter(desk.metastore, desk.world.source_files, "sales")


def test_a_partition_that_is_renamed_is_told_as_new(desk: Desk, users: SourceWriter) -> None:
    publisher = desk.started()
    users.rename_partition("logs", ("1", "us"), ("3", "us"))
    publisher.round()
    publisher.round()
    assert desk.told() == ["ADD_PARTITION logs day=3/region=us"]


def test_statistics_of_partitions_are_told_to_nobody_and_wait_for_nobody(desk: Desk, users: SourceWriter) -> None:
    one, two = desk.started("one"), desk.publisher("two")
    assert two.round() is STANDBY
    for _ in range(5):
        users.alter_partition("logs", ("1", "us"), {"numRows": "3"})
        desk.now += 10
        assert (one.round(), two.round()) == (ACTIVE, STANDBY)
    assert desk.told() == []
    behind = read_behind(desk.metastore, AnnouncedDatabases())
    assert behind is not None and behind.events == 0


def test_an_alteration_that_cannot_be_read_may_be_a_rename(desk: Desk, users: SourceWriter) -> None:
    publisher = desk.started()
    users.alter_partition("logs", ("1", "us"), {"numRows": "3"})
    desk.metastore.events[-1] = replace(desk.metastore.events[-1], message="nonsense")
    publisher.round()
    assert desk.told() == ["GAP logs"]


def test_sets_that_go_with_their_store_are_a_gap_on_the_topics_of_their_database(desk: Desk) -> None:
    publisher = desk.started()
    desk.metastore.drop_table(sets_table("sales"), delete_data=True)
    publisher.round()
    publisher.round()
    assert "GAP logs" in desk.told() and len(desk.told_once()) == len(desk.told())


def test_a_database_that_is_gone_with_its_sets_stops_nobody(desk: Desk, users: SourceWriter) -> None:
    publisher = desk.started()
    desk.metastore.drop_table(sets_table("sales"), delete_data=True)
    for table in desk.metastore.table_names("sales"):
        users.drop_table(table)
    desk.metastore.drop_database("sales")
    assert publisher.round() is ACTIVE
    assert desk.told() == []


def test_sets_of_a_table_that_is_gone_are_told_when_their_marks_are_taken_away(desk: Desk, users: SourceWriter) -> None:
    publisher = desk.started()
    users.drop_table("logs")
    publisher.round()
    assert desk.told() == []
    take_away(desk.metastore, "sales", left_behind(SetsOfDatabase(desk.metastore, "sales")))
    publisher.round()
    assert desk.told() == ["SET_OPEN logs day=1"]
