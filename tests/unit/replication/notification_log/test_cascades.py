"""To find out what partitions have followed, no more of the log is opened than tells of their tables."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.worlds.fake_world import Killed, KillSwitch, kill_points, killable, tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import columns_of_partition
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.replication.notification_log import cascades
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.notification_log.unnamed_files import _Looking


def columns(metastore, table: str) -> dict:
    """Return the columns of a table's partitions."""
    name = TableName("sales", table)
    partitions = metastore.partitions(name, metastore.partition_names(name))
    return {one.values: columns_of_partition(one) for one in partitions}


def far_behind(monkeypatch: pytest.MonkeyPatch) -> tuple[Followed, list[int]]:
    """Return a replica whose next windows are of one event, and the ids that are decoded behind them."""
    followed, decoded = Followed(tuned(window_events=1)), []
    decode = cascades.decode_event  # type: ignore[attr-defined]

    def counting(row):
        decoded.append(row.event_id)
        return decode(row)

    monkeypatch.setattr(cascades, "decode_event", counting)
    return followed, decoded


def test_events_of_other_tables_are_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    followed, decoded = far_behind(monkeypatch)
    followed.users.add_columns("orders", [("extra", "string")], cascade=True)
    followed.users.create_table("other", keys=("p",))
    for number in range(20):
        followed.users.add_partitions("other", {(str(number),): []})
    followed.users.add_partitions("orders", {("late",): []})
    followed.follow()
    assert len(decoded) <= 2
    there = columns(followed.world.replica, "orders")
    assert there == {values: columns(followed.world.source, "orders")[values] for values in there}


def test_what_is_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    followed, decoded = far_behind(monkeypatch)
    followed.users.add_columns("orders", [("extra", "string")], cascade=True)
    for number in range(5):
        followed.users.alter_partition("orders", ("a b",), {"n": str(number)})
    followed.follow()
    assert len(decoded) == len(set(decoded)) == 5


@pytest.mark.parametrize("swaps", [False, True], ids=["renamed", "its name given to another"])
def test_a_table_is_followed_to_its_later_names(swaps: bool) -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.add_columns("orders", [("extra", "string")], cascade=True)
    followed.users.rename_table("orders", "first")
    followed.users.rename_table("first", "second")
    if swaps:
        made = followed.users.create_table("orders", keys=("p",))
        assert "extra" not in dict(made.columns)
        followed.users.add_partitions("orders", {("x",): []})
    while not followed.follow()["window"].idle:
        pass
    followed.assert_twin()
    assert columns(followed.world.replica, "second") == columns(followed.world.source, "second")


def rows_read_behind(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the ids of the rows that are read behind windows, as often as they are read.

    Not for the sake of nested files: that has a bound of its own.
    """
    monkeypatch.setattr(_Looking, "_read_on", lambda *_: None)
    read: list[int] = []
    event_ranges_after = EventStream.event_ranges_after

    def counting(stream: EventStream, begin: Position):
        for event_range in event_ranges_after(stream, begin):
            read.extend(row.event_id for row in event_range.rows)
            yield event_range

    monkeypatch.setattr(EventStream, "event_ranges_after", counting)
    return read


def change_many_times(followed: Followed, times: int = 12) -> None:
    """Change the columns of two tables again and again, each time with events of partitions in between."""
    followed.users.create_table("other", keys=("p",))
    followed.users.add_partitions("other", {("1",): [], ("2",): []})
    for number in range(times):
        table = ("orders", "other")[number % 2]
        followed.users.add_columns(table, [(f"c{number}", "string")], cascade=number % 3 > 0)
        followed.users.add_partitions("other", {(f"later {number}",): []})


def follow_to_the_end(followed: Followed) -> None:
    while not followed.follow()["window"].idle:
        pass


def assert_columns(followed: Followed, *tables: str) -> None:
    for table in tables:
        assert columns(followed.world.replica, table) == columns(followed.world.source, table)


def test_far_behind_the_log_is_read_once_for_all_windows_and_not_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(tuned(window_events=1))
    change_many_times(followed)
    read = rows_read_behind(monkeypatch)
    follow_to_the_end(followed)
    assert len(read) == len(set(read))
    followed.assert_twin()


def test_what_comes_after_a_look_is_looked_at_when_it_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(tuned(window_events=1))
    change_many_times(followed, 4)
    read = rows_read_behind(monkeypatch)
    for _ in range(6):
        followed.follow()
    change_many_times_more = [("x", True), ("y", False), ("z", True)]
    for name, cascade in change_many_times_more:
        followed.users.add_columns("orders", [(name, "string")], cascade=cascade)
    follow_to_the_end(followed)
    assert len(read) == len(set(read))
    assert_columns(followed, "orders", "other")


@pytest.mark.parametrize("content", [None, b"no json", b"[]", b'{"log_id": "log-east", "fingerprint": ""}'])
def test_without_what_was_remembered_it_is_looked_for_again(content: bytes | None) -> None:
    followed = Followed(tuned(window_events=1))
    change_many_times(followed, 6)
    path = f"{followed.policy.dumps}/cascades.json"
    while not followed.follow()["window"].idle:
        if content is None:
            followed.world.source_files.delete_file(path)
        else:
            followed.world.source_files.write(path, content)
    followed.assert_twin()


def test_an_event_of_another_log_is_not_taken_for_the_one_that_was_judged() -> None:
    """A source that was restored from a backup hands out the same numbers again."""
    followed = Followed(tuned(window_events=1))
    followed.users.add_columns("orders", [("a", "string")], cascade=True)
    followed.users.add_columns("orders", [("b", "string")], cascade=True)
    followed.follow()
    path = f"{followed.policy.dumps}/cascades.json"
    record = json.loads(followed.world.source_files.read(path))
    ((event_id, digest, is_followed),) = record["changes"]
    record["changes"] = [[event_id, digest[::-1], not is_followed]]
    followed.world.source_files.write(path, json.dumps(record).encode())
    follow_to_the_end(followed)
    followed.assert_twin()
    assert_columns(followed, "orders")


def test_another_text_of_the_policy_looks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(tuned(window_events=1))
    change_many_times(followed, 6)
    followed.follow()
    followed.policy = replace(followed.policy, exclude=("nothing",))
    assert followed.policy.fingerprint
    read = rows_read_behind(monkeypatch)
    follow_to_the_end(followed)
    assert read
    followed.assert_twin()


def test_a_killed_window_is_cut_again_with_the_same_cascades() -> None:
    for at in kill_points(24, after_effect=False, step=4):
        followed = Followed(tuned(window_events=1))
        change_many_times(followed, 3)
        with suppress(Killed):
            while not followed.run_with(killable(followed.world.ports(), KillSwitch(at, after_effect=False)))[
                "window"
            ].idle:
                pass
        followed.world.lease.known_dead.update(followed.world.lease._kept)
        follow_to_the_end(followed)
        followed.assert_twin()
        assert_columns(followed, "orders", "other")


def test_an_event_of_another_table_that_cannot_be_read_does_not_stop_windows_before_it() -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.create_table("other", keys=("p",))
    followed.users.add_columns("orders", [("a", "string")], cascade=True)
    followed.users.add_columns("other", [("a", "string")], cascade=True)
    followed.users.add_partitions("other", {("1",): []})
    log = followed.world.source._log
    log.rows[-1] = replace(log.rows[-1], message="{")
    for _ in range(2):
        followed.follow()
    assert "a" in dict(columns(followed.world.replica, "orders")[("a b",)])
    with pytest.raises(ActNow):
        for _ in range(5):
            followed.follow()


def test_a_change_that_is_passed_over_after_it_was_judged_leaves_the_next_one_right() -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.add_columns("orders", [("a", "string")], cascade=True)
    followed.users.add_columns("orders", [("b", "string")], cascade=True)
    passed_over = followed.world.source.current_event_id()
    followed.follow()
    SkipEvent(followed.policy, passed_over, "looked at it", {"run": "x"}).run(followed.world.ports())
    followed.users.add_columns("orders", [("c", "string")], cascade=True)
    follow_to_the_end(followed)
    assert_columns(followed, "orders")


def test_a_log_that_lost_rows_behind_a_look_stops_the_window_that_needs_them() -> None:
    followed = Followed(tuned(window_events=1))
    change_many_times(followed, 4)
    followed.follow()
    followed.world.source.expire_events(followed.world.source.current_event_id() - 2)
    before = columns(followed.world.replica, "orders")
    with pytest.raises(ActNow, match="has a gap"):
        follow_to_the_end(followed)
    assert columns(followed.world.replica, "orders") == before
