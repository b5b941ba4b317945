"""A table that is resynced stays: no run does it again for an event that the replica has passed."""

from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.worlds.fake_world import Killed, tuned
from tests.unit.replication.incremental.names.test_renames_across_databases import ELSEWHERE, Staged
from twinhive.core.directory_marks.directories import table_mark
from twinhive.core.model.errors import TryAgain
from twinhive.core.model.names import TableName
from twinhive.core.model.quarantine import frozen_tables
from twinhive.replication.incremental import tables_to_resync, window_writer
from twinhive.replication.operator_requests.request_files import request_table, requested_tables
from twinhive.runtime.pipeline.phases import INCREMENTAL

FRESH = TableName("sales", "fresh")
ORDERS = TableName("sales", "orders")


def came_in() -> Staged:
    """Return a replica that has a table of another database since its rename."""
    followed = Staged()
    followed.staging.rename_table("fresh", "fresh", "sales")
    followed.to_the_end()
    return followed


def place(followed: Staged) -> str:
    return followed.world.replica.table(FRESH).location


def killed_before_the_position(followed: Staged) -> None:
    """Bring over whole what is to be, and be killed before the replica says so."""
    ports = followed.world.ports()
    call = ports.replica.set_database_parameters

    def killed(name, parameters):
        if "fresh" in ports.replica.table_names(name) or "seen" in ports.replica.table_names(name):
            raise Killed
        return call(name, parameters)

    ports.replica.set_database_parameters = killed
    with pytest.raises(Killed):
        followed.run_with(ports)
    del ports.replica.set_database_parameters


def test_a_request_that_is_written_late_for_an_event_that_has_passed_is_not_obeyed() -> None:
    followed = came_in()
    event, before = followed.world.source.current_event_id(), place(followed)
    request_table(followed.world.replica_files, followed.policy, "fresh", "a frozen run", event)
    followed.users.add_partitions("fresh", {("3",): [b"three"]})
    followed.to_the_end()
    assert place(followed) == before
    assert requested_tables(followed.world.replica_files, followed.policy) == ()
    followed.assert_twin()


def test_a_request_of_people_is_obeyed_whatever_the_replica_has() -> None:
    followed = came_in()
    before = place(followed)
    request_table(followed.world.replica_files, followed.policy, "fresh", "anna")
    followed.to_the_end()
    assert place(followed) != before
    assert table_mark(followed.world.replica_files, place(followed)) == followed.policy.name
    followed.assert_twin()


def test_a_window_that_others_have_overtaken_is_not_cut_and_brings_nothing_over_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = Staged()
    followed.staging.rename_table("fresh", "fresh", "sales")
    begin = window_writer.begin_attempt  # type: ignore[attr-defined]
    places = []

    def late(*args):
        monkeypatch.setattr(window_writer, "begin_attempt", begin)
        followed.to_the_end()
        places.append(place(followed))
        followed.users.add_partitions("fresh", {("3",): [b"three"]})
        return begin(*args)

    monkeypatch.setattr(window_writer, "begin_attempt", late)
    with pytest.raises(TryAgain, match="has applied events while this one cut its window"):
        followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    followed.to_the_end()
    assert [place(followed)] == places
    followed.assert_twin()


def test_a_window_that_is_cut_anew_leaves_what_was_brought_over_already() -> None:
    followed = Staged()
    followed.staging.rename_table("fresh", "fresh", "sales")
    killed_before_the_position(followed)
    before = place(followed)
    followed.users.add_partitions("fresh", {("3",): [b"three"]})
    followed.users.rename_table("fresh", "stale")
    followed.policy = tuned(consistency="window_end")
    followed.to_the_end()
    assert followed.world.replica.table(TableName("sales", "stale")).location == before
    followed.assert_twin()


def test_a_view_that_was_brought_over_is_there_while_its_window_is_applied_again() -> None:
    followed = Staged()
    followed.staging.rename_table("orders_seen", "seen", "sales")
    killed_before_the_position(followed)
    ports = followed.world.ports()
    dropped: list[TableName] = []
    drop = ports.replica.drop_table
    ports.replica.drop_table = lambda name, **how: (dropped.append(name), drop(name, **how))[1]
    followed.run_with(ports)
    assert dropped == []
    followed.assert_twin()


@pytest.mark.parametrize("call", ["add_partitions", "alter_table", "set_database_parameters"])
@pytest.mark.parametrize("keys", [(), ("p",)], ids=["whole", "partitioned"])
def test_a_view_that_was_brought_over_in_part_stays_and_gets_the_rest(keys: tuple[str, ...], call: str) -> None:
    followed = Staged()
    followed.staging.create_view("viewed", keys=keys)
    followed.to_the_end()
    followed.staging.rename_table("viewed", "seen", "sales")
    if keys:
        followed.users.add_partitions("seen", {("1",): (), ("2",): ()})
    replica, seen, dropped = followed.world.replica, TableName("sales", "seen"), []
    done, drop = getattr(replica, call), replica.drop_table

    def killed(*arguments, **named):
        if replica.table(seen) is not None:
            raise Killed
        return done(*arguments, **named)

    setattr(replica, call, killed)
    with suppress(Killed):  # a view without partitions is there by one call
        followed.follow()
    delattr(replica, call)
    replica.drop_table = lambda name, **how: (dropped.append(name), drop(name, **how))[1]
    followed.to_the_end()
    assert dropped == []
    assert "twinhive.coming-at" not in replica.table(seen).parameters
    followed.assert_twin()


@pytest.mark.parametrize("call", ["create_table", "add_partitions", "add_constraints", "set_database_parameters"])
@pytest.mark.parametrize("is_frozen", [True, False], ids=["frozen before", "in one window"])
@pytest.mark.parametrize("is_anew", [True, False], ids=["planned again", "gone on with"])
def test_what_was_brought_over_in_part_is_not_taken_for_a_table_that_has_passed_its_event(
    call: str, is_frozen: bool, is_anew: bool
) -> None:
    """The position may be that of the window's end already: its last event is another table's."""
    followed = Staged(tuned(window_events=1 if is_frozen else 10_000))
    followed.users.add_constraint("orders", "primary_key", "pk")
    followed.to_the_end()
    followed.users.set_location("orders", f"{ELSEWHERE}/other_orders")
    followed.users.alter_partitions("orders", [("a b",)], {"k": "v"})
    followed.users.insert("plain", None, [b"one"])
    if is_frozen:
        followed.follow()
        followed.policy = tuned(followed.policy, window_events=10_000)
    replica = followed.world.replica
    before, done = replica.table(ORDERS).location, getattr(replica, call)

    def killed(*arguments):
        there = replica.table(ORDERS)
        if there is None or there.location != before:
            raise Killed
        return done(*arguments)

    setattr(replica, call, killed)
    with suppress(Killed):  # nothing is to be said of a position that is there, and of a table that was not frozen
        followed.follow()
    delattr(replica, call)
    if is_anew:
        followed.policy = replace(followed.policy, fingerprint="f2")
    followed.to_the_end()
    assert frozen_tables(replica.database("sales").parameters) == {}
    followed.assert_twin()


@pytest.mark.parametrize("tables", [1, 5])
def test_what_the_replica_has_is_asked_in_one_call_for_all_tables_of_a_window(
    tables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed, asked = Staged(), []
    names = [f"t{number}" for number in range(tables)]
    for name in names:
        followed.users.create_table(name, keys=("p",))
    followed.to_the_end()
    for name in names:
        followed.users.set_location(name, f"hdfs://east/elsewhere/{name}")
    look = tables_to_resync.stamps_of
    monkeypatch.setattr(tables_to_resync, "stamps_of", lambda *args: asked.append(args[-1]) or look(*args))
    followed.run_with(followed.world.ports())
    assert [set(some) for some in asked if set(some) == set(names)]
    assert len(asked) <= 4


def test_a_table_that_moved_to_another_file_system_is_named() -> None:
    followed = Staged()
    source = followed.world.source
    (table, *_) = (one for one in source.tables("sales", source.table_names("sales")) if not one.partition_keys)
    source.alter_table(table.name, table.at(table.name, "hdfs://elsewhere/data/t"))
    followed.to_the_end()
    why = frozen_tables(followed.world.replica.database("sales").parameters)[table.name.table]
    assert "hdfs://elsewhere/data/t" in why
    assert f"twinhive resync sales {table.name.table}" in why
