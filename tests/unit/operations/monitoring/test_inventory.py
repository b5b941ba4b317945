"""The inventory tells of each table that the policy selects what it is on the replica, in a few calls."""

from dataclasses import replace

from tests.support.builders import a_table
from tests.support.worlds.external_followed import FollowedExternals
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.files import Usage
from twinhive.core.model.marks import QUARANTINE
from twinhive.core.model.names import TableName
from twinhive.core.model.table_status import TableStanding
from twinhive.operations.monitoring.inventory import InventoryEntry, read_tables
from twinhive.operations.monitoring.run_facts import touched_tables
from twinhive.replication.operator_requests.request_files import request_table


def inventory(followed: Followed, **more: object) -> dict[str, InventoryEntry]:
    entries = read_tables(followed.world.ports(), followed.policy, **more)
    assert [entry.table for entry in entries] == sorted(entry.table for entry in entries)
    return {entry.table: entry for entry in entries}


def mark(followed: Followed, **parameters: str) -> None:
    """Write parameters of the replica's database, as a window that quarantines does."""
    database = followed.world.replica.database("sales")
    followed.world.replica.set_database_parameters("sales", {**database.parameters, **parameters})


def test_a_table_that_follows_is_published_at_its_last_event() -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    followed.follow()
    found = inventory(followed)
    newest = followed.world.source.current_event_id()
    assert found["plain"] == InventoryEntry("plain", "managed", TableStanding.PUBLISHED, None, 3, 9, newest)
    assert found["orders"].last_event is not None and found["orders"].last_event < newest
    assert found["recent"].kind == "view" and found["recent"].state == "published"


def test_what_the_policy_leaves_out_is_told_with_the_reason_and_what_it_does_not_select_is_not() -> None:
    followed = Followed()
    left_out = inventory(followed)["outside"]
    assert (left_out.kind, left_out.state, left_out.last_event) == ("external", "left out", None)
    assert left_out.reason == "external table: the policy leaves them out"
    followed.policy = replace(followed.policy, exclude=("outside", "plain"))
    assert not {"outside", "plain"} & inventory(followed).keys()


def test_frozen_and_requested_tables_say_why_and_what_comes() -> None:
    followed = Followed()
    mark(followed, **{QUARANTINE + "plain": "7 files of this event are lost", QUARANTINE + "orders": "waits"})
    request_table(followed.world.replica_files, followed.policy, "orders", "ann")
    found = inventory(followed)
    assert (found["plain"].state, found["plain"].reason) == ("quarantined", "7 files of this event are lost")
    assert found["orders"].state == "waits for resync"


def test_a_table_that_no_window_has_brought_yet_is_not_there_yet() -> None:
    followed = Followed()
    followed.users.create_table("made")
    assert inventory(followed)["made"] == InventoryEntry("made", "managed", TableStanding.NOT_THERE_YET)
    followed.world.replica.drop_database("sales")
    assert inventory(followed)["orders"].state == "not there yet"


def test_an_external_table_is_pending_until_its_data_has_come() -> None:
    followed = FollowedExternals.from_the_beginning()
    assert inventory(followed)["outside"].state == "published"
    followed.users.create_external("late", "hdfs://east/outside/late")
    followed.follow()
    assert inventory(followed)["late"].state == "pending"


def test_sizes_are_those_of_the_caller_else_of_the_tables_statistics() -> None:
    followed = Followed()
    table = a_table("sales.counted", parameters={"numFiles": "3", "totalSize": "300"})
    followed.world.source.create_table(table)
    odd = a_table("sales.odd", parameters={"numFiles": "many", "totalSize": "-1"})
    followed.world.source.create_table(odd)
    found = inventory(followed, sizes={"orders": Usage(11, 3, 0)})
    assert (found["counted"].files, found["counted"].bytes) == (3, 300)
    assert (found["odd"].files, found["odd"].bytes) == (None, None)
    assert (found["orders"].files, found["orders"].bytes) == (3, 11)


def test_some_tables_are_read_without_the_others() -> None:
    followed = Followed()
    assert list(inventory(followed, only={"plain", "gone"})) == ["plain"]


def test_a_window_touches_the_tables_of_its_events_a_renamed_one_under_both_names() -> None:
    followed = Followed()
    followed.users.insert("empty", None, [b"more"])
    followed.users.rename_table("plain", "renamed")
    followed.follow()
    position = int(followed.world.replica.database("sales").parameters["repl.last.id"])
    touched = touched_tables(followed.world.ports(), followed.policy, position)
    assert touched == {"empty", "plain", "renamed"}
    assert touched_tables(followed.world.ports(), followed.policy, position + 1) == frozenset()


def test_hundreds_of_tables_take_a_few_calls() -> None:
    followed = Followed()
    for number in range(450):
        followed.world.source.create_table(a_table(f"sales.t{number:03d}"))
    calls: list[int] = []
    for metastore in (followed.world.source, followed.world.replica):
        metastore.tables = counted(metastore.tables, calls)  # type: ignore[method-assign]
        metastore.table = None  # type: ignore[method-assign]
        metastore.partitions = None  # type: ignore[method-assign]
    found = inventory(followed)
    assert len(found) > 450
    assert len(calls) == 6 and max(calls) <= 200
    assert TableName("sales", "t001").table in found


def counted(tables, calls: list[int]):
    def read(database: str, names: list[str]):
        calls.append(len(names))
        return tables(database, names)

    return read
