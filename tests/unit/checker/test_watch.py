"""What a watcher takes for known while calls are answered, lost, or done late."""

from dataclasses import replace

import pytest

from tests.checker.memory_histories import Drill
from tests.checker.watch import Watcher
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.errors import Unreachable


@pytest.fixture
def drill() -> Drill:
    """Return a history that has come to its end."""
    drill = Drill(0)
    drill.run()
    return drill


def unanswered() -> None:
    raise Unreachable("no answer; the call may or may not have happened")


@pytest.mark.parametrize("answers_late", [True, False])
def test_what_a_server_does_after_its_caller_has_given_up_is_seen(drill: Drill, answers_late: bool) -> None:
    watcher = Watcher(drill.viewer, drill.judge, drill.policy.staging)
    watcher.calls_come_late = answers_late
    watcher.look("before")
    with pytest.raises(Unreachable):
        watcher.call("create_table", unanswered)
    seen = drill.judge.compared
    # Done by now, unknown to the watcher: a table that the source never had.
    SourceWriter(drill.place.replica, drill.place.replica_files, drill.policy.replica.database).create_table("late")
    watcher.call("set_database_parameters", lambda: None)
    assert drill.judge.compared == seen + 1
    assert any("late" in one.what for one in drill.violations) is answers_late


def test_what_is_read_while_a_late_call_is_carried_out_is_read_again(drill: Drill) -> None:
    watcher = Watcher(drill.viewer, drill.judge, drill.policy.staging)
    watcher.calls_come_late = True
    watcher.look("before")
    with pytest.raises(Unreachable):
        watcher.call("alter_table", unanswered)
    whole = drill.viewer.state()
    torn = whole.with_tables({name: replace(table, columns=()) for name, table in whole.tables})
    drill.viewer.state = iter([torn, *[whole] * 9]).__next__
    watcher.look("now")
    assert drill.violations == []


def test_what_stays_wrong_after_a_late_call_is_judged(drill: Drill) -> None:
    watcher = Watcher(drill.viewer, drill.judge, drill.policy.staging)
    watcher.calls_come_late = True
    watcher.look("before")
    with pytest.raises(Unreachable):
        watcher.call("alter_table", unanswered)
    whole = drill.viewer.state()
    wrong = whole.with_tables({name: replace(table, columns=()) for name, table in whole.tables})
    drill.viewer.state = lambda: wrong
    watcher.look("now")
    assert drill.violations
