"""Follow external tables: metadata in the order of the log, and nothing shown before its data is there."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.builders import an_external
from tests.support.users.external_writer import PURGES, ExternalWriter
from tests.support.worlds.external_followed import POLICY, FollowedExternals
from tests.support.worlds.fake_world import tuned


def create_and_alter(users: ExternalWriter) -> None:
    users.create_external("made")
    users.set_parameters("made", {"colour": "blue"})
    users.add_columns("made", [("extra", "string")])
    users.insert("made", None, [b"rows"])


def create_with_partitions(users: ExternalWriter) -> None:
    users.create_external("made", ("p",))
    users.add_external("made", ("1",), ("2",))
    users.add_external("made", ("far",), below="hdfs://east/other")
    users.alter_partition("made", ("1",), {"k": "v"})
    users.alter_partitions("made", [("1",), ("far",)], {"k2": "v2"})
    users.insert("made", ("2",), [b"rows"])


def partitions_of_an_old_table(users: ExternalWriter) -> None:
    users.add_external("events", ("new",), ("newer",))
    users.alter_partition("events", ("a",), {"k": "v"})
    users.drop_partitions("events", [("b",), ("newer",)])
    users.rename_partition("events", ("new",), ("newest",))
    users.rename_partition("events", ("a",), ("z",))


def new_locations(users: ExternalWriter) -> None:
    users.set_location("logs", "hdfs://east/other/logs")
    users.set_parameters("logs", {"colour": "blue"})
    users.set_partition_location("events", ("a",), "hdfs://east/other/events a")
    users.alter_partition("events", ("a",), {"k": "v"})
    users.set_partition_location("events", ("far",), "hdfs://east/data/events/p=far")
    users.rename_partition("events", ("a",), ("z",))


def location_there_and_back(users: ExternalWriter) -> None:
    before = users.location("logs")
    users.set_location("logs", "hdfs://east/other/logs")
    users.set_location("logs", before)


def cascade_while_its_location_waits(users: ExternalWriter) -> None:
    users.set_location("events", "hdfs://east/other/events")
    users.add_external("events", ("new",))
    users.add_columns("events", [("extra", "string")], cascade=True)
    users.add_columns("events", [("later", "string")], cascade=False)


def cascade(users: ExternalWriter) -> None:
    users.add_external("events", ("new",))
    users.add_columns("events", [("extra", "string")], cascade=True)


def drop_and_create_again(users: ExternalWriter) -> None:
    users.drop_table("events")
    users.create_external("events", ("year",), location="hdfs://east/data/events")
    users.add_external("events", ("2026",))
    users.drop_table("events")
    users.create_external("events", location="hdfs://east/data/events")


def partition_in_three_states(users: ExternalWriter) -> None:
    users.add_external("events", ("1",))
    users.drop_partitions("events", [("1",)])
    users.add_external("events", ("1",), below="hdfs://east/other")
    users.drop_partitions("events", [("a",)])
    users.add_external("events", ("a",), below="hdfs://east/other")


def removals_between(users: ExternalWriter) -> None:
    """The position is written before each removal, so that a replay never begins behind what it needs."""
    users.add_external("events", ("1",))
    users.drop_table("logs")
    users.alter_partition("events", ("1",), {"k": "v"})
    users.drop_partitions("events", [("1",)])
    users.drop_table("empty")


def rename_tables(users: ExternalWriter) -> None:
    users.add_external("events", ("new",))
    users.rename_table("events", "happened")
    users.alter_partition("happened", ("new",), {"k": "v"})
    users.create_external("events", ("q",))
    users.create_external("made")
    users.rename_table("made", "remade")
    users.drop_partitions("happened", [("a",)])


def swap(users: ExternalWriter) -> None:
    users.create_external("left", ("p",))
    users.add_external("left", ("1",))
    users.create_external("right")
    users.rename_table("left", "between")
    users.rename_table("right", "left")
    users.rename_table("between", "right")
    users.rename_table("logs", "between")
    users.rename_table("events", "logs")
    users.rename_table("between", "events")


def rename_while_its_location_waits(users: ExternalWriter) -> None:
    users.set_location("events", "hdfs://east/other/events")
    users.rename_table("events", "happened")
    users.add_external("happened", ("after",))


def become_managed_and_external(users: ExternalWriter) -> None:
    users.make_external("orders")
    users.add_external("orders", ("new",), below="hdfs://east/other")
    users.make_managed("logs")
    users.insert("logs", None, [b"rows"])


def become_external_and_get_another_name(users: ExternalWriter) -> None:
    users.make_external("orders")
    users.rename_table("orders", "sold")
    users.create_table("orders", files=[b"new"])


def translated(users: ExternalWriter) -> None:
    """Hive 4 makes external tables of managed ones, and moves their directories by itself."""
    place = "hdfs://east/warehouse/external/sales.db/turned"
    users.create_external("turned", ("p",), place, {**PURGES, "TRANSLATED_TO_EXTERNAL": "TRUE"})
    users.add_external("turned", ("1",))
    users.rename_table("turned", "turned2")
    users.add_external("turned2", ("2",))


def truncate(users: ExternalWriter) -> None:
    users.truncate("logs")
    users.truncate("events", [("a",)])


def shared_directories(users: ExternalWriter) -> None:
    users.create_external("same", location="hdfs://east/data/logs")
    users.create_external("inside", location="hdfs://east/data/logs/inside")


def details(users: ExternalWriter) -> None:
    users.create_external("made", ("p",))
    users.add_external("made", ("1",))
    users.update_statistics("made", ("1",))
    users.add_constraint("made", "primary_key", "pk")
    users.add_external("events", ("new",))
    users.update_statistics("events", ("new",))
    users.update_statistics("logs")


HISTORIES = [
    value
    for value in list(globals().values())
    if not isinstance(value, type)
    and callable(value)
    and getattr(value, "__annotations__", {}).get("users") is ExternalWriter
]


def with_tables(policy=POLICY) -> FollowedExternals:
    """Return a replica with two external tables: `logs`, and `events` with a partition outside its directory."""
    followed = FollowedExternals(policy)
    followed.users.create_external("logs")
    followed.users.create_external("events", ("p",))
    followed.users.add_external("events", ("a",), ("b",))
    followed.users.add_external("events", ("far",), below="hdfs://east/other")
    followed.settle()
    return followed


@pytest.fixture
def followed() -> FollowedExternals:
    return with_tables()


@pytest.mark.thorough
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_the_twin_is_up_to_date_as_soon_as_the_data_is_there(followed, history: Callable) -> None:
    history(followed.users)
    results = followed.follow()
    assert results["apply"].event_id == followed.world.source.current_event_id(), followed.log
    followed.settle()
    followed.assert_twin()


@pytest.mark.thorough
@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_windows_of_one_event_and_of_compacted_ones_come_to_the_same_end(history, consistency) -> None:
    one = {"window_events": 1} if consistency == "every_event" else {}
    followed = with_tables(tuned(POLICY, consistency=consistency, **one))
    history(followed.users)
    followed.settle()
    followed.assert_twin()


@pytest.mark.thorough
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_data_that_is_not_copied_is_waited_for_by_nobody(history) -> None:
    followed = with_tables(replace(POLICY, external=an_external(data="metadata_only")))
    history(followed.users)
    while not followed.follow()["window"].idle:
        pass
    followed.assert_twin()
