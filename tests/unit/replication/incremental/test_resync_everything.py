"""All that differs is brought over without the events that did it: the way on after a gap in the source's log."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.seeds import kill_points
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.unit.replication.incremental.test_incremental import HISTORIES, Followed
from tests.unit.replication.incremental.test_repair import Watched, ids
from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.names import TableName
from twinhive.operations.actions.resync_all import ResyncEverything
from twinhive.replication.operator_requests.request_files import everything_requested, requested_tables


def with_a_gap(followed: Followed) -> Followed:
    """Let the events expire that the replica has not reached."""
    source = followed.world.source
    source.expire_events(source.current_event_id())
    with pytest.raises(ActNow, match="has a gap") as caught:
        followed.follow()
    assert "twinhive resync <policy> --all" in str(caught.value.text)
    return followed


def ask(followed: Followed) -> list[str]:
    return ResyncEverything(followed.policy, {"by": "ann"}).run(followed.world.ports())


def assert_all_is_done(followed: Followed) -> None:
    followed.assert_twin()
    files = followed.world.replica_files
    assert everything_requested(files, followed.policy) == ""
    assert requested_tables(files, followed.policy) == ()
    assert followed.follow()["window"].idle


@pytest.mark.thorough
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_what_lost_events_did_is_found_by_comparing(history: Callable[[SourceWriter], None]) -> None:
    followed = Followed()
    history(followed.users)
    ask(with_a_gap(followed))
    followed.follow()
    assert_all_is_done(followed)


def test_what_is_equal_is_neither_copied_nor_touched() -> None:
    followed = Followed()
    before = ids(followed)
    followed.users.insert("plain", None, [b"more"])
    ask(with_a_gap(followed))
    followed.follow()
    assert_all_is_done(followed)
    after = ids(followed)
    untouched = {path for path in before if "/plain" not in path}
    assert {path: after.get(path) for path in untouched} == {path: before[path] for path in untouched}


def test_the_events_after_it_are_applied_as_always() -> None:
    followed = with_a_gap(changed(Followed()))
    ask(followed)
    followed.users.insert("plain", None, [b"between"])
    followed.follow()
    followed.assert_twin()
    followed.users.insert("plain", None, [b"after"])
    followed.users.create_table("new", files=[b"one"])
    assert followed.follow()["window"].events > 0
    assert_all_is_done(followed)


def changed(followed: Followed) -> Followed:
    """Change something of each kind: tables, partitions, views, constraints, the database, functions."""
    users, source = followed.users, followed.world.source
    users.insert("plain", None, [b"more"])
    users.drop_partitions("orders", [("no files",)])
    users.add_partitions("orders", {("new",): [b"x"]})
    users.create_table("made", files=[b"one"])
    database = source.database("sales")
    source.alter_database(replace(database, comment="other"))
    users.alter_database_parameters({"by": "ann"})
    users.create_function("added")
    return followed


def test_the_database_and_its_functions_are_made_equal() -> None:
    followed = Followed()
    followed.users.create_function("goes")
    followed.follow()
    followed.users.drop_function("goes")
    ask(with_a_gap(changed(followed)))
    followed.follow()
    replica = followed.world.replica.database("sales")
    assert (replica.comment, replica.parameters["by"]) == ("other", "ann")
    # It has no file that shows whose it is: a person is told, and nobody's function is dropped.
    assert {one.name for one in followed.world.replica.functions("sales")} >= {"added", "goes"}
    assert any("function goes is on the replica alone" in line for line in followed.log)


@pytest.mark.thorough
@pytest.mark.parametrize("after_effect", [False, True])
def test_killed_at_any_change_a_rerun_ends_equal(after_effect: bool) -> None:
    for at in range(1, 600)[kill_points()]:
        followed = with_a_gap(changed(Followed()))
        ask(followed)
        switch = KillSwitch(at, after_effect=after_effect)
        try:
            followed.run_with(killable(followed.world.ports(), switch))
        except Killed:
            followed.follow()
            followed.follow()
            assert_all_is_done(followed)
        else:
            assert at > 15, "it is more than some changes"
            return
    raise AssertionError("it never ends")


def test_many_tables_come_with_several_windows_and_wait_frozen_meanwhile() -> None:
    followed = Followed(tuned(window_partitions=2))
    ask(with_a_gap(changed(followed)))
    for table in ("plain", "made"):
        followed.users.insert(table, None, [b"meanwhile"])
    windows = 0
    while not followed.follow()["window"].idle:
        windows += 1
        position = ReplicaState.read(followed.world.replica.database("sales").parameters).position
        assert position.event_id == followed.world.source.current_event_id()
    assert windows > 2
    assert_all_is_done(followed)


def test_a_request_made_while_it_is_obeyed_is_obeyed_again() -> None:
    followed = with_a_gap(changed(Followed()))
    ask(followed)
    first = everything_requested(followed.world.replica_files, followed.policy)
    asked: list[str] = []

    def look() -> None:
        # A window's tables are under way: a second person asks.
        if not asked and any("window (" in line for line in followed.log):
            asked.extend(ask(followed))

    ports = followed.world.ports()
    followed.run_with(replace(ports, replica=Watched(ports.replica, look)))
    assert asked
    assert everything_requested(followed.world.replica_files, followed.policy) not in ("", first)
    followed.follow()
    assert_all_is_done(followed)


def test_without_a_gap_it_compares_all_the_same() -> None:
    followed = changed(Followed())
    ask(followed)
    followed.follow()
    assert_all_is_done(followed)
    ask(followed)
    followed.follow()
    assert_all_is_done(followed)


def test_somebody_elses_table_on_the_replica_is_left_alone() -> None:
    followed = Followed()
    writer = SourceWriter(followed.world.replica, followed.world.replica_files, "sales")
    writer.create_table("theirs", files=[b"their rows"])
    theirs = followed.world.replica.table(TableName("sales", "theirs"))
    said = ask(with_a_gap(changed(followed)))
    assert any("left alone" in line and "theirs" in line for line in said)
    followed.follow()
    assert followed.world.replica.table(TableName("sales", "theirs")) == theirs


def test_a_plan_says_what_differs_and_changes_nothing() -> None:
    followed = with_a_gap(changed(Followed()))
    before = followed.world.replica_files.paths()
    lines = ResyncEverything(followed.policy, {"by": "ann"}).plan(followed.world.ports())
    assert any("orders" in line and "drop" in line for line in lines), lines
    assert everything_requested(followed.world.replica_files, followed.policy) == ""
    assert followed.world.replica_files.paths() == before


def test_another_log_is_refused() -> None:
    followed = Followed()
    followed.world.source.current_event_id = lambda: 1
    with pytest.raises(ActNow, match="is not the one it was"):
        ask(followed)


def test_a_source_database_that_is_gone_is_refused() -> None:
    followed = Followed()
    for table in followed.world.source.table_names("sales"):
        followed.world.source.drop_table(TableName("sales", table), delete_data=True)
    followed.world.source.set_database_parameters("sales", {})
    followed.world.source.drop_database("sales")
    with pytest.raises(ActNow, match="is gone"):
        ask(followed)
