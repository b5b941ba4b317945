"""Whatever goes wrong while following gives one clear error, loses nothing and leaves the position where it was."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.builders import a_table
from tests.support.worlds.fake_world import tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, LeaseLost, TryAgain, TwinhiveError
from twinhive.core.model.files import ChecksumForm
from twinhive.core.model.names import TableName
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.runtime.pipeline.phases import APPLY

PLAIN = TableName("sales", "plain")


def state(followed: Followed) -> tuple:
    world = followed.world
    marks = world.replica.database("sales").parameters
    tables = world.replica.tables("sales", world.replica.table_names("sales"))
    return marks["repl.last.id"], [(table.name, table.parameters, table.location) for table in tables]


def lose_files(followed: Followed) -> None:
    files = followed.world.source_files
    for path in [path for path in files.paths() if path.endswith("/told")]:
        files.delete(path)


def expire(followed: Followed) -> None:
    followed.world.source.emit("OPEN_TXN", None, None, {})
    followed.world.source.expire_events(followed.world.source.current_event_id() - 1)


def empty_the_log(followed: Followed) -> None:
    followed.world.source.expire_events(followed.world.source.current_event_id())


def restore_a_backup(followed: Followed) -> None:
    position = int(followed.world.replica.database("sales").parameters["repl.last.id"])
    events = followed.world.source.events
    number = next(number for number, row in enumerate(events) if row.event_id == position)
    events[number] = replace(events[number], message='{"another": "event"}')


def other_content(followed: Followed) -> None:
    files = followed.world.source_files
    (path,) = [path for path in files.paths() if path.endswith("/told")]
    files.put(path, b"somebody has written over it")


def dropped_by_hand(followed: Followed) -> None:
    followed.world.replica.drop_table(PLAIN, delete_data=False)


def foreign_in_its_place(followed: Followed) -> None:
    followed.world.replica.drop_table(PLAIN, delete_data=False)
    followed.world.replica.create_table(a_table("sales.plain", location="hdfs://west/mine"))


def unknown_type(followed: Followed) -> None:
    followed.world.source.emit("MELT_TABLE", "sales", "plain", {})


def broken_json(followed: Followed) -> None:
    row = followed.world.source.emit("DROP_TABLE", "sales", "plain", {})
    followed.world.source.events[-1] = replace(row, message='{"db": "sales", "table"')


def truncated_gzip(followed: Followed) -> None:
    row = followed.world.source.emit("DROP_TABLE", "sales", "plain", {})
    followed.world.source.events[-1] = replace(row, message="H4sIAAAAAAAAA6tWSs", message_format="gzip(json-2.0)")


def dropped_database(followed: Followed) -> None:
    followed.world.source.emit("DROP_DATABASE", "sales", None, {"db": "sales", "dbJson": "{}"})


def permission_denied(followed: Followed) -> None:
    followed.world.replica_files.forbidden.add("hdfs://west/warehouse")


def file_outside_its_table(followed: Followed) -> None:
    table = followed.users.table("plain")
    path = f"{table.location}/../../finance.db/accounts.7/evil"
    followed.world.source_files.put(path, b"evil rows")
    checksum = followed.world.source_files.checksum(path, ChecksumForm.IDENTITY)
    followed.world.source.fire_insert(table.name, None, [(path, checksum)])


def down(followed: Followed) -> None:
    followed.world.replica.down = True


@pytest.mark.parametrize(
    ("spoil", "family", "said"),
    [
        (expire, ActNow, "has a gap"),
        (empty_the_log, ActNow, "has a gap"),
        (restore_a_backup, ActNow, "not the one it was"),
        (lose_files, ActNow, "twinhive resync"),
        (other_content, ActNow, "twinhive resync"),
        (dropped_by_hand, ActNow, "twinhive resync sales plain"),
        (foreign_in_its_place, ActNow, "was not made by policy sales"),
        (unknown_type, ActNow, "skip-event"),
        (broken_json, ActNow, "skip-event"),
        (truncated_gzip, ActNow, "skip-event"),
        (dropped_database, ActNow, "twinhive forget sales"),
        (file_outside_its_table, ActNow, "skip-event"),
        (permission_denied, ActNow, "permission denied"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_run_stops_and_the_position_stays(
    spoil: Callable[[Followed], None], family: type[TwinhiveError], said: str
) -> None:
    followed = Followed()
    followed.users.insert("plain", None, {"told": b"rows"})
    spoil(followed)
    before = state(followed)
    with pytest.raises(family) as caught:
        followed.follow()
    assert said in str(caught.value), str(caught.value)
    assert caught.value.next_step
    # An event before the one in trouble may have been applied; nothing goes back.
    assert int(state(followed)[0]) >= int(before[0])
    if spoil is not dropped_database:
        assert state(followed) == before
    assert not any("evil" in path for path in followed.world.replica_files.paths())


def test_an_event_that_names_a_file_elsewhere_is_passed_over_like_any_other() -> None:
    followed = Followed()
    file_outside_its_table(followed)
    event_id = followed.world.source.current_event_id()
    followed.users.insert("plain", None, [b"more"])
    with pytest.raises(ActNow, match=f"event {event_id} names"):
        followed.follow()
    SkipEvent(followed.policy, event_id, "nobody's", {"by": "ann"}).run(followed.world.ports())
    followed.follow()
    followed.users.insert("plain", None, [b"and more"])
    followed.follow()
    followed.assert_twin()
    assert not any("evil" in path for path in followed.world.replica_files.paths())


def test_a_replica_that_does_not_answer_is_tried_again() -> None:
    followed = Followed()
    followed.users.insert("plain", None, {"told": b"rows"})
    down(followed)
    with pytest.raises(TryAgain):
        followed.follow()
    followed.world.replica.down = False
    followed.follow()
    followed.assert_twin()


def test_permission_given_back_the_same_window_goes_on() -> None:
    followed = Followed()
    followed.users.insert("plain", None, {"told": b"rows"})
    permission_denied(followed)
    with pytest.raises(ActNow):
        followed.follow()
    followed.world.replica_files.forbidden.clear()
    followed.follow()
    followed.assert_twin()


def test_of_two_runs_at_once_the_older_one_stops_and_both_end_in_one_twin() -> None:
    followed = Followed()
    for number in range(5):
        followed.users.insert("plain", None, [b"%d" % number])
    world = followed.world
    overtaken = []

    class Slow:
        """Let another run come in between, when the first has applied something."""

        def __getattr__(self, name: str):
            return getattr(world.replica, name)

        def alter_table(self, *args, **kwargs):
            world.replica.alter_table(*args, **kwargs)
            if not overtaken:
                overtaken.append(True)
                followed.follow()

    with pytest.raises(LeaseLost):
        followed.run_with(replace(world.ports(), replica=Slow()))
    assert overtaken
    followed.follow()
    followed.assert_twin()


def test_a_quarantined_table_stays_as_it_was_while_the_others_follow() -> None:
    followed = Followed(tuned(on_object_error="quarantine"))
    followed.users.insert("plain", None, {"told": b"rows"})
    followed.users.insert("orders", ("a b",), [b"more"])
    lose_files(followed)
    followed.follow()
    world = followed.world
    marks = world.replica.database("sales").parameters
    assert "told" in marks["twinhive.quarantine.plain"]
    assert int(marks["repl.last.id"]) == world.source.current_event_id()
    orders = world.replica.partitions(TableName("sales", "orders"), ["p=a b"])[0]
    assert any(
        world.replica_files.read(path) == b"more" for path in world.replica_files.paths() if orders.location in path
    )
    assert any("QUARANTINED: plain" in line for line in followed.log)


def test_applying_before_the_replica_is_published_is_refused() -> None:
    followed = Followed()
    parameters = {**followed.world.replica.database("sales").parameters, "twinhive.phase": "loading"}
    followed.world.replica.set_database_parameters("sales", parameters)
    with pytest.raises(ActNow, match="not published yet"):
        APPLY(Work(followed.policy)).run(followed.world.ports())
