"""What each event of an external table does to what waits and to what is published."""

from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.builders import a_policy, a_table, an_external
from tests.support.hive.metastore_objects import constraint_names
from tests.support.users.external_writer import PURGES
from tests.support.worlds.external_followed import POLICY, FollowedExternals
from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.unit.replication.external_tables.test_external_incremental import with_tables
from twinhive.core.model.errors import ActNow, InvalidSettings
from twinhive.core.model.marks import EXTERNAL_BASE, QUARANTINE, Stamp
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import columns_of_partition
from twinhive.replication.dump.json_files import read_json
from twinhive.replication.operator_requests.request_files import request_table, requested_tables
from twinhive.replication.replica.pending_files import purge_path


@pytest.fixture
def followed() -> FollowedExternals:
    return with_tables()


def event_of(followed: FollowedExternals) -> int:
    return followed.world.source.current_event_id()


def marks(followed: FollowedExternals):
    return followed.world.replica.database("sales").parameters


# New tables and partitions.


def test_a_new_table_waits_until_a_copy_that_began_after_its_event_is_complete(followed) -> None:
    before = event_of(followed)
    followed.users.create_external("made")
    followed.sync(at=before)
    followed.follow()
    assert followed.on_replica("made") is None
    assert followed.pending == ("made",)
    followed.sync(at=before + 1)
    assert followed.follow()["window"].idle
    assert followed.on_replica("made").location == "hdfs://west/ext/data/made"
    assert followed.pending == ()


def test_later_changes_are_folded_into_what_waits(followed) -> None:
    followed.users.create_external("made", ("p",))
    followed.users.add_external("made", ("1",), ("2",), ("3",))
    since = event_of(followed)
    followed.users.set_parameters("made", {"colour": "blue"})
    followed.users.alter_partition("made", ("1",), {"k": "v"})
    followed.users.drop_partitions("made", [("2",)])
    followed.users.rename_partition("made", ("3",), ("4",))
    followed.follow()
    record = followed.record("made")
    assert record.table.thing.parameters["colour"] == "blue"
    assert record.table.since < since
    assert {name: waiting.since for name, waiting in record.partitions.items()} == {"p=1": since, "p=4": since}
    assert record.partitions["p=1"].thing.parameters["k"] == "v"


def test_a_new_location_is_waited_for_since_its_own_event(followed) -> None:
    followed.users.create_external("made", ("p",))
    followed.users.add_external("made", ("1",))
    followed.users.set_location("made", "hdfs://east/other/made")
    followed.users.set_partition_location("made", ("1",), "hdfs://east/other/made one")
    followed.follow()
    record = followed.record("made")
    assert record.table.since == event_of(followed) - 1
    assert record.partitions["p=1"].since == event_of(followed)
    assert record.partitions["p=1"].thing.location == "hdfs://east/other/made one"


def test_what_is_published_carries_the_stamp_of_the_event_that_shaped_it(followed) -> None:
    followed.users.create_external("made")
    followed.users.set_parameters("made", {"colour": "blue"})
    shaped = event_of(followed)
    followed.users.insert("plain", None, [b"rows"])
    followed.settle()
    assert Stamp.parse(followed.on_replica("made").parameters["twinhive.stamp"]).event_id == shaped


def test_partitions_wait_for_their_own_directories(followed) -> None:
    followed.users.add_external("events", ("near",))
    followed.users.add_external("events", ("afar",), below="hdfs://east/other")
    followed.sync("hdfs://east/data")
    followed.follow()
    assert "p=near" in followed.partitions_on_replica("events")
    assert set(followed.record("events").partitions) == {"p=afar"}
    followed.settle()
    assert followed.partitions_on_replica("events")["p=afar"] == "hdfs://west/ext/other/p=afar"


def test_partitions_of_a_table_that_waits_wait_with_it(followed) -> None:
    followed.users.create_external("made", ("p",))
    followed.users.add_external("made", ("1",), below="hdfs://east/other")
    followed.sync("hdfs://east/other")
    followed.follow()
    assert followed.on_replica("made") is None
    assert set(followed.record("made").partitions) == {"p=1"}


def test_a_table_is_published_with_the_partitions_whose_data_is_there(followed) -> None:
    followed.users.create_external("made", ("p",))
    followed.users.add_external("made", ("near",))
    followed.users.add_external("made", ("afar",), below="hdfs://east/other")
    followed.sync("hdfs://east/data")
    followed.follow()
    assert set(followed.partitions_on_replica("made")) == {"p=near"}
    assert followed.record("made").table is None


def test_data_that_stays_is_waited_for_by_nobody(followed) -> None:
    followed = with_tables(replace(POLICY, external=an_external(stay=("s3a://lake/.*",))))
    followed.users.create_external("lake", location="s3a://lake/sales")
    followed.follow()
    assert followed.on_replica("lake").location == "s3a://lake/sales"


def test_constraints_and_statistics_of_what_waits_are_published_with_it(followed) -> None:
    followed.users.create_external("made", ("p",))
    followed.users.add_external("made", ("near",))
    followed.users.add_external("made", ("afar",), below="hdfs://east/other")
    followed.users.add_constraint("made", "primary_key", "pk")
    followed.users.add_constraint("made", "not_null", "gone")
    followed.users.drop_constraint("made", "gone")
    followed.users.update_statistics("made", ("near",))
    followed.users.update_statistics("made", ("afar",))
    followed.users.rename_table("made", "remade")
    followed.sync("hdfs://east/data")
    followed.follow()
    replica, name = followed.world.replica, TableName("sales", "remade")
    assert constraint_names(replica, name) == {"pk"}
    assert replica.column_statistics(name, "p=near") == {"id"}
    assert replica.column_statistics(name, "p=afar") == set()
    followed.settle()
    assert replica.column_statistics(name, "p=afar") == {"id"}


def test_what_was_said_of_columns_that_are_others_by_now_is_not_published(followed) -> None:
    followed.users.create_external("made")
    followed.users.update_statistics("made")
    followed.users.add_constraint("made", "not_null", "gone")
    change_first_column(followed.users, "made", ("number", "int"))
    followed.users.add_constraint("made", "unique", "key")
    followed.settle()
    name = TableName("sales", "made")
    assert constraint_names(followed.world.replica, name) == {"key"}
    assert followed.world.replica.column_statistics(name) == set()


@pytest.mark.parametrize("kills", range(3, 12))
def test_what_was_said_before_a_table_waited_is_not_said_again(kills: int) -> None:
    followed = with_tables()
    followed.users.update_statistics("logs")
    followed.users.add_constraint("logs", "not_null", "gone")
    followed.users.set_location("logs", "hdfs://east/other/logs")
    change_first_column(followed.users, "logs", ("number", "int"))
    with suppress(Killed):
        followed.run_with(killable(followed.world.ports(), KillSwitch(kills, after_effect=True)))
    followed.settle()
    followed.assert_twin()
    assert constraint_names(followed.world.replica, TableName("sales", "logs")) == set()


def change_first_column(users, table: str, column: tuple[str, str]) -> None:
    found = users.table(table)
    users.metastore.alter_table(found.name, replace(found, columns=(column, *found.columns[1:])))


# Changes of what is published.


def test_a_change_without_a_new_location_is_applied_at_once(followed) -> None:
    followed.users.set_parameters("logs", {"colour": "blue"})
    followed.users.alter_partition("events", ("far",), {"k": "v"})
    followed.follow()
    assert followed.on_replica("logs").parameters["colour"] == "blue"
    assert followed.pending == ()


def test_the_published_table_stays_as_it_is_until_the_data_of_its_new_location_is_there(followed) -> None:
    followed.users.set_location("logs", "hdfs://east/other/logs")
    followed.users.set_parameters("logs", {"colour": "blue"})
    before = followed.on_replica("logs")
    followed.follow()
    assert followed.on_replica("logs") == before
    followed.sync("hdfs://east/other")
    followed.follow()
    assert followed.on_replica("logs").location == "hdfs://west/ext/other/logs"
    assert followed.on_replica("logs").parameters["colour"] == "blue"


def test_a_rename_is_applied_at_once_and_nothing_is_copied_again(followed) -> None:
    followed.users.rename_table("events", "happened")
    followed.users.rename_partition("happened", ("a",), ("z",))
    before = followed.on_replica("events")
    followed.follow()
    assert followed.on_replica("events") is None
    assert followed.on_replica("happened").location == before.location
    assert followed.partitions_on_replica("happened")["p=z"] == f"{before.location}/p=a"
    assert followed.pending == ()


def test_a_rename_brings_along_what_waits(followed) -> None:
    followed.users.add_external("events", ("new",))
    added = event_of(followed)
    followed.users.rename_table("events", "happened")
    followed.follow()
    assert followed.pending == ("happened",)
    assert followed.record("happened").partitions["p=new"].since == added


def test_new_columns_reach_partitions_that_wait_and_those_that_do_not(followed) -> None:
    followed.users.set_location("events", "hdfs://east/other/events")
    followed.users.add_external("events", ("new",))
    followed.users.add_columns("events", [("extra", "string")], cascade=True)
    followed.follow()
    name = TableName("sales", "events")
    (published,) = followed.world.replica.partitions(name, ["p=a"])
    waiting = followed.record("events").partitions["p=new"].thing
    assert ("extra", "string") in columns_of_partition(published)
    assert ("extra", "string") in columns_of_partition(waiting)


def test_rows_are_no_business_of_the_event_lane(followed) -> None:
    followed.users.insert("events", ("a",), [b"rows"])
    followed.users.truncate("events", [("b",)])
    before = followed.partitions_on_replica("events")
    staged = set(followed.world.replica_files.paths())
    followed.follow()
    assert followed.partitions_on_replica("events") == before
    assert not [path for path in followed.world.replica_files.paths() if path not in staged and "_0-" in path]


# Drops.


@pytest.mark.parametrize("purges", [True, False])
def test_a_drop_asks_for_the_data_to_be_deleted_only_when_the_table_purges(purges: bool) -> None:
    followed = with_tables()
    followed.users.create_external("gone", ("p",), parameters=PURGES if purges else {"EXTERNAL": "TRUE"})
    followed.users.add_external("gone", ("near",))
    followed.users.add_external("gone", ("afar",), below="hdfs://east/other")
    followed.settle()
    followed.users.add_external("gone", ("waits",), below="hdfs://east/outside")
    followed.users.drop_table("gone")
    followed.follow()
    assert followed.on_replica("gone") is None
    assert followed.world.replica_files.status("hdfs://west/ext/data/gone") is not None
    places = ("hdfs://east/data/gone", "hdfs://east/other/p=afar", "hdfs://east/outside/p=waits")
    notes = [read_json(followed.world.replica_files, purge_path(POLICY, place)) for place in places]
    event_id = event_of(followed)
    asked = [{"location": place, "event_id": event_id, "table": "gone"} for place in places]
    assert notes == (asked if purges else [None] * 3)
    assert read_json(followed.world.replica_files, purge_path(POLICY, "hdfs://east/data/gone/p=near")) is None


def test_a_dropped_partition_of_a_table_that_purges_leaves_a_note_only_outside_its_directory(followed) -> None:
    followed.users.create_external("gone", ("p",), parameters=PURGES)
    followed.users.add_external("gone", ("near",))
    followed.users.add_external("gone", ("afar",), below="hdfs://east/other")
    followed.settle()
    followed.users.drop_partitions("gone", [("near",), ("afar",)])
    followed.follow()
    files = followed.world.replica_files
    assert read_json(files, purge_path(POLICY, "hdfs://east/other/p=afar"))["table"] == "gone"
    assert read_json(files, purge_path(POLICY, "hdfs://east/data/gone/p=near")) is None


def test_what_leaves_the_scope_by_a_rename_is_dropped_and_not_purged() -> None:
    followed = with_tables(replace(POLICY, exclude=("hidden",)))
    followed.users.create_external("gone", parameters=PURGES)
    followed.settle()
    followed.users.rename_table("gone", "hidden")
    followed.follow()
    assert followed.on_replica("gone") is None
    assert read_json(followed.world.replica_files, purge_path(POLICY, "hdfs://east/data/gone")) is None


def test_a_drop_takes_away_what_waits(followed) -> None:
    followed.users.create_external("made", ("p",))
    followed.users.add_external("made", ("1",))
    followed.follow()
    assert followed.pending == ("made",)
    followed.users.drop_table("made")
    followed.follow()
    assert followed.pending == ()


# Tables of another kind.


def test_a_managed_table_stays_published_until_the_data_of_the_external_one_is_there(followed) -> None:
    followed.users.make_external("plain")
    followed.follow()
    assert followed.on_replica("plain").table_type == "MANAGED_TABLE"
    assert followed.record("plain").replaces
    followed.sync()
    followed.follow()
    assert followed.on_replica("plain").table_type == "EXTERNAL_TABLE"
    followed.assert_twin()


def test_a_table_whose_kind_changes_is_frozen_until_a_window_reaches_the_newest_event() -> None:
    followed = with_tables(tuned(POLICY, window_events=1))
    followed.users.make_external("plain")
    followed.users.insert("empty", None, [b"rows"])
    followed.follow()
    assert QUARANTINE + "plain" in marks(followed)
    assert requested_tables(followed.world.replica_files, followed.policy) == ("plain",)
    followed.settle()
    assert QUARANTINE + "plain" not in marks(followed)
    followed.assert_twin()


def test_an_external_table_that_becomes_managed_takes_away_what_waits(followed) -> None:
    followed.users.set_location("logs", "hdfs://east/other/logs")
    followed.follow()
    followed.users.make_managed("logs")
    followed.follow()
    assert followed.on_replica("logs").table_type == "MANAGED_TABLE"
    assert followed.pending == ()


def test_a_resync_lets_the_present_table_stay_until_the_data_is_there(followed) -> None:
    followed.world.replica.drop_partitions(TableName("sales", "events"), ["p=a"], delete_data=False)
    request_table(followed.world.replica_files, followed.policy, "events", "test")
    followed.users.insert("plain", None, [b"rows"])
    followed.follow()
    assert set(followed.partitions_on_replica("events")) == {"p=b", "p=far"}
    assert followed.record("events").replaces
    followed.settle()
    followed.assert_twin()


# External tables as a class of the policy.


def test_a_policy_without_external_tables_counts_their_events_as_left_out() -> None:
    followed = FollowedExternals()
    followed.policy = replace(POLICY, external=replace(POLICY.external, included=False))
    followed.users.create_external("made")
    assert "leaves them out" in str(followed.follow()["apply"].not_replicated)
    assert followed.on_replica("made") is None


def test_external_tables_added_to_a_running_policy_are_brought_over_by_the_next_window() -> None:
    followed = FollowedExternals()
    assert EXTERNAL_BASE not in marks(followed)
    assert not followed.follow()["window"].idle
    assert followed.pending == ("outside",)
    assert marks(followed)[EXTERNAL_BASE] == "hdfs://west/ext"
    followed.settle()
    assert followed.on_replica("outside").location == "hdfs://west/ext/outside"
    assert followed.follow()["window"].idle


def test_external_tables_left_out_and_included_again_are_brought_over_again(followed) -> None:
    followed.policy = replace(POLICY, external=replace(POLICY.external, included=False), fingerprint="f2")
    followed.users.set_parameters("logs", {"colour": "blue"})
    followed.follow()
    assert EXTERNAL_BASE not in marks(followed)
    followed.policy = POLICY
    followed.settle()
    followed.assert_twin()


def test_a_base_directory_named_later_brings_the_tables_that_are_not_there() -> None:
    followed = FollowedExternals(
        tuned(replace(POLICY, external=an_external(base_directory=None)), on_object_error="quarantine")
    )
    followed.follow()
    assert marks(followed)[EXTERNAL_BASE] == "-"
    followed.policy = POLICY
    followed.settle()
    assert marks(followed)[EXTERNAL_BASE] == "hdfs://west/ext"
    followed.assert_twin()


def test_another_base_directory_is_refused_while_the_replica_follows(followed) -> None:
    followed.policy = replace(POLICY, external=an_external(base_directory="hdfs://west/elsewhere"))
    with pytest.raises(ActNow) as raised:
        followed.follow()
    assert raised.value.expected == "hdfs://west/ext"
    assert ".bootstrap with again=true" in str(raised.value.next_step)


# Trouble.


def test_a_place_of_nobody_stops_the_run_and_changes_nothing(followed) -> None:
    before = marks(followed)["repl.last.id"]
    followed.users.create_external("lake", location="s3a://lake/sales")
    with pytest.raises(ActNow, match=r"CREATE_TABLE.*place that this policy says nothing of"):
        followed.follow()
    assert marks(followed)["repl.last.id"] == before
    assert followed.pending == ()


def test_a_place_of_nobody_freezes_its_table_and_the_others_go_on() -> None:
    followed = with_tables(tuned(POLICY, on_object_error="quarantine"))
    followed.users.add_external("events", ("1",), below="s3a://lake")
    followed.users.add_external("events", ("2",))
    followed.users.create_external("made")
    followed.settle()
    assert "s3a://lake" in marks(followed)[QUARANTINE + "events"]
    assert set(followed.partitions_on_replica("events")) == {"p=a", "p=b", "p=far"}
    assert followed.on_replica("made") is not None


def test_what_waits_of_a_frozen_table_is_not_published() -> None:
    followed = with_tables(tuned(POLICY, on_object_error="quarantine"))
    followed.users.add_external("events", ("1",))
    followed.users.set_parameters("logs", {"colour": "blue"})
    followed.users.add_external("events", ("2",), below="s3a://lake")
    followed.settle()
    assert set(followed.partitions_on_replica("events")) == {"p=a", "p=b", "p=far"}
    assert followed.pending == ("events",)


def test_somebody_elses_table_on_the_replica_is_not_touched(followed) -> None:
    followed.users.create_external("made")
    followed.follow()
    theirs = a_table("sales.made", location="hdfs://west/theirs", table_type="EXTERNAL_TABLE")
    followed.world.replica.create_table(theirs)
    followed.users.create_external("made too")
    followed.sync()
    with pytest.raises(ActNow, match="was not made by policy sales"):
        followed.follow()
    assert followed.on_replica("made").location == "hdfs://west/theirs"
    assert followed.on_replica("made too") is not None
    assert int(marks(followed)["repl.last.id"]) == event_of(followed)


def test_a_metastore_that_changes_external_tables_is_refused() -> None:
    """And what it made is removed again."""
    followed = with_tables()
    followed.users.create_external("made")
    followed.follow()
    followed.sync()
    settled = followed.world.replica._settled
    followed.world.replica._settled = lambda table, database: replace(
        settled(table, database), location="hdfs://west/elsewhere"
    )
    with pytest.raises(ActNow, match=r"turned table sales\.made into something else") as raised:
        followed.follow()
    # Hive's transformer leaves a mark on what it changes: here it was something else.
    assert "transformer" not in str(raised.value.text)
    assert "which listener or setting of the replica's metastore" in str(raised.value.text)
    assert followed.on_replica("made") is None
    assert followed.pending == ("made",)


def test_without_a_base_directory_an_external_table_is_an_error_that_names_it() -> None:
    followed = FollowedExternals(a_policy(external=an_external(base_directory=None)))
    with pytest.raises(InvalidSettings, match=r"table sales\.outside is external"):
        followed.follow()


def test_an_idle_run_with_nothing_ready_takes_no_lease(followed) -> None:
    followed.users.create_external("made")
    followed.follow()
    nobody_may_change_anything = killable(followed.world.ports(), KillSwitch(0, after_effect=False))
    assert followed.run_with(replace(nobody_may_change_anything, lease=None))["window"].idle


def test_a_run_says_what_waits_since_it(followed) -> None:
    followed.users.create_external("made")
    assert followed.follow()["apply"].pending == ("made",)
    assert "1 external tables wait for their data: made" in followed.log
    followed.users.insert("plain", None, [b"rows"])
    assert followed.follow()["apply"].pending == ()
    followed.settle()
    assert "published: 1 external tables, 0 partitions" in followed.log
