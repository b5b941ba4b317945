"""A run stops before the drop of its source database, and before what that drops: no replica is emptied for that."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.fake_world import tuned
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.incremental.test_incremental import POLICY, Followed
from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import EVERY_EVENT, WINDOW_END
from twinhive.core.ports import children
from twinhive.core.step.step_base import Work
from twinhive.hive.events.reader import position_at
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import dumps_of
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.notification_log import drop_lookahead
from twinhive.replication.notification_log.event_stream import event_range_after, saved_events_path, window_after
from twinhive.replication.operator_requests.request_files import request_table
from twinhive.runtime.pipeline.phases import WINDOW

HOLDER = {"run": "x"}
UNREADABLE: dict[str, Any] = {"event_type": "ALTER_TABLE", "database": "neighbour", "table": "t", "message": {"no": 1}}


def stopped(followed: Followed) -> str:
    """Follow until a run ends with the error; return what it says."""
    with pytest.raises(ActNow, match="the source database east/sales was dropped") as told:
        follow_to_the_end(followed)
    return str(told.value)


def follow_to_the_end(followed: Followed) -> None:
    while not followed.follow()["window"].idle:
        pass


def names(followed: Followed) -> list[str]:
    return sorted(followed.world.replica.table_names("sales"))


def functions(followed: Followed) -> list[str]:
    return sorted(one.name for one in followed.world.replica.functions("sales"))


def with_function(**options: Any) -> Followed:
    """Return a replica that follows, and has a function."""
    followed = Followed(tuned(**options))
    followed.users.create_function("upper")
    follow_to_the_end(followed)
    assert functions(followed) == ["upper"]
    return followed


def unmark(followed: Followed) -> None:
    """Take the mark away with which a metastore refuses to drop the database."""
    source = followed.world.source
    said = source.database("sales").parameters
    source.set_database_parameters("sales", {key: value for key, value in said.items() if key != SOURCE_FOR})


def drop_database(followed: Followed) -> int:
    """Drop the database with all that is in it; return the event."""
    unmark(followed)
    followed.world.source.drop_database("sales")
    return followed.world.source.current_event_id()


def drop_with_neighbours(followed: Followed) -> int:
    """Drop it object by object, as a client does, while others work."""
    unmark(followed)
    source = followed.world.source
    for table in source.table_names("sales"):
        source.drop_table(TableName("sales", table), delete_data=True)
        emit_elsewhere(followed, 3)
    source.drop_database("sales")
    return source.current_event_id()


def emit_elsewhere(followed: Followed, count: int) -> None:
    for _ in range(count):
        followed.world.source.emit("CREATE_DATABASE", "elsewhere", None, {"db": "elsewhere", "dbJson": "{}"})


def position(followed: Followed) -> Position:
    database = followed.world.replica.database("sales")
    return position_at(followed.world.source, int(database.parameters["repl.last.id"]))


def place_of_plain(followed: Followed) -> str | None:
    table = followed.world.replica.table(TableName("sales", "plain"))
    return table.location if table else None


@pytest.mark.parametrize("consistency", [EVERY_EVENT, WINDOW_END])
def test_nothing_that_comes_after_the_drop_is_seen(consistency: str) -> None:
    followed = Followed(tuned(consistency=consistency))
    users, source = followed.users, followed.world.source
    there, place = names(followed), place_of_plain(followed)
    users.insert("plain", None, [b"before"])
    before = source.current_event_id()
    source.emit("DROP_DATABASE", "sales", None, {"db": "sales", "dbJson": None})
    users.create_table("later", files=[b"x"])
    users.overwrite("plain", None, {"new": b"after the drop"})
    stopped(followed)
    stopped(followed)
    database = followed.world.replica.database("sales")
    assert database is not None and int(database.parameters["repl.last.id"]) <= before
    assert names(followed) == there
    assert place_of_plain(followed) == place


@pytest.mark.parametrize("drop", [drop_database, drop_with_neighbours])
@pytest.mark.parametrize("most", [1, 2, 3, 1_000])
@pytest.mark.parametrize("consistency", [EVERY_EVENT, WINDOW_END])
def test_nothing_that_the_drop_has_dropped_leaves_the_replica(
    consistency: str, most: int, drop: Callable[[Followed], int]
) -> None:
    followed = with_function(consistency=consistency, window_events=most)
    followed.users.create_table("late")
    there, known = sorted([*names(followed), "late"]), functions(followed)
    dropped = drop(followed)
    for _ in range(2):
        said = stopped(followed)
        assert (names(followed), functions(followed)) == (there, known)
    assert f"twinhive skip-event sales {dropped} --reason '...', which passes over those drops too" in said


@pytest.mark.parametrize("most", [1, 2, 1_000])
def test_what_was_dropped_by_itself_before_other_events_is_dropped(most: int) -> None:
    followed = Followed(tuned(window_events=most))
    followed.users.drop_table("plain")
    followed.users.drop_table("empty")
    followed.users.create_table("late")
    there = sorted({*names(followed), "late"} - {"plain", "empty"})
    drop_database(followed)
    stopped(followed)
    assert names(followed) == there


def test_drops_that_nothing_comes_after_are_applied_at_once() -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.drop_table("plain")
    followed.users.drop_table("empty")
    emit_elsewhere(followed, 5)
    follow_to_the_end(followed)
    followed.assert_twin()


@pytest.mark.parametrize("most", [1, 2, 1_000])
def test_who_passes_the_drop_over_passes_over_what_it_has_dropped(most: int) -> None:
    followed = with_function(window_events=most)
    there, known = names(followed), functions(followed)
    database = followed.world.source.database("sales")
    dropped = drop_database(followed)
    followed.world.source.create_database(database)
    followed.users.create_table("plain", files=[b"anew"])
    followed.users.create_table("fresh", files=[b"x"])
    stopped(followed)
    skip = SkipEvent(followed.policy, dropped, "made again", HOLDER)
    counted = event_range_after(followed.world.source, followed.policy, position(followed), {dropped})
    assert dropped not in {row.event_id for row in counted.event_range.rows}
    said = "the drops of tables and functions right before it are passed over with it"
    assert said in skip.plan(followed.world.ports()) and said in skip.run(followed.world.ports())
    follow_to_the_end(followed)
    assert names(followed) == sorted([*there, "fresh"])
    assert functions(followed) == known
    assert followed.world.replica.database("sales").parameters[f"twinhive.skipped.{dropped}"] == "made again"


def test_a_window_that_holds_them_stops_before_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of Hive's own dump."""
    followed = Followed()
    followed.users.create_table("late")
    there, begin = sorted([*names(followed), "late"]), position(followed)
    drop_database(followed)
    with monkeypatch.context() as planning:
        planning.setattr(
            "twinhive.replication.incremental.plan_window.window_after",
            lambda ports, policy, begin, skipped: event_range_after(ports.source, policy, begin, skipped),
        )
        WINDOW(Work(followed.policy, holder=HOLDER)).run(followed.world.ports())
    (window,) = dumps_of(followed.world.source_files, followed.policy, DumpKind.INCREMENTAL)
    assert window.bounds[0] == begin.event_id
    held = EventRange.unpack(followed.world.source_files.read(window.events))
    assert [row.event_type for row in held.rows][-2:] == ["DROP_TABLE", "DROP_DATABASE"]
    stopped(followed)
    assert names(followed) == there


@pytest.mark.parametrize("most", [1, 2, 1_000])
def test_events_that_were_saved_while_the_replica_was_loaded_are_looked_at_too(most: int) -> None:
    followed = Followed(tuned(window_events=most))
    world, there, begin = followed.world, names(followed), position(followed)
    drop_database(followed)
    whole = event_range_after(world.source, POLICY, begin).event_range
    half = len(whole.rows) // 2
    saved = replace(whole, rows=whole.rows[:half], end=whole.rows[half - 1].position)
    world.source_files.write(saved_events_path(followed.policy, saved), saved.pack())
    stopped(followed)
    assert names(followed) == there


def test_what_cannot_be_read_ends_the_drops_and_is_told_when_its_turn_comes() -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.drop_table("plain")
    followed.world.source.emit(**UNREADABLE)
    drop_database(followed)
    with pytest.raises(ActNow, match="cannot be read"):
        follow_to_the_end(followed)
    assert "plain" not in names(followed) and len(names(followed)) > 2


def test_the_log_is_read_on_no_further_than_the_drops_go_and_behind_them_once() -> None:
    followed = Followed(tuned(window_events=1))
    begin, source = position(followed), followed.world.source
    followed.users.drop_table("plain")
    emit_elsewhere(followed, 400)
    behind = source.current_event_id()
    for number in range(300):
        followed.users.create_table(f"t{number}")
    asked: list[int] = []
    events_after = source.events_after
    source.events_after = lambda event_id, limit: asked.append(event_id + limit) or events_after(event_id, limit)
    window = window_after(followed.world.ports(), followed.policy, begin, ()).event_range
    assert ([row.event_type for row in window.rows], window.end.event_id) == (["DROP_TABLE"], behind)
    assert max(asked) < source.current_event_id()


def test_a_table_that_is_asked_for_comes_whole_after_a_drop_that_was_passed_over() -> None:
    followed = with_function()
    database = followed.world.source.database("sales")
    dropped = drop_database(followed)
    followed.world.source.create_database(database)
    followed.users.create_table("plain", files=[b"anew"])
    SkipEvent(followed.policy, dropped, "made again", HOLDER).run(followed.world.ports())
    for table in [*names(followed), "plain"]:
        request_table(followed.world.replica_files, followed.policy, table, "asked")
    follow_to_the_end(followed)
    # Functions that the source does not have any more go with `resync --all`.
    followed.world.replica.drop_function("sales", "upper")
    assert_twin(followed.world)


@pytest.mark.parametrize("most", [1, 1000])
@pytest.mark.parametrize("consistency", [EVERY_EVENT, WINDOW_END])
def test_a_rename_onto_what_stayed_replaces_it(consistency: str, most: int) -> None:
    followed = with_function(window_events=most, consistency=consistency)
    database = followed.world.source.database("sales")
    dropped = drop_database(followed)
    followed.world.source.create_database(database)
    followed.users.create_table("tmp", files=[b"anew"])
    followed.users.rename_table("tmp", "plain")
    stopped(followed)
    SkipEvent(followed.policy, dropped, "made again", HOLDER).run(followed.world.ports())
    follow_to_the_end(followed)
    there = followed.world.replica.table(TableName("sales", "plain"))
    files = followed.world.replica_files
    assert [files.read(one.path) for one in children(files, there.location)] == [b"anew"]
    assert "tmp" not in names(followed)


def test_a_look_ahead_ends_where_much_else_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drop_lookahead, "_MOST_BETWEEN", 3)
    rows = [EventRow(at, 0, "ALTER_TABLE", "hive", "elsewhere", "t", "{}", "json-0.2") for at in range(1, 100)]
    taken: list[int] = []

    def coming() -> Iterator[EventRow]:
        for row in rows:
            taken.append(row.event_id)
            yield row

    found = drop_lookahead.look_on(Position(0), coming(), lambda row: False)
    assert (found.drop, found.nothing_till.event_id, taken) == (None, 3, [1, 2, 3])
