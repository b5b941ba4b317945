"""A request to pass an event over is for that event: not for another one that a restored source gives its number."""

import pytest

from tests.support.builders import a_policy
from tests.support.worlds.fake_world import Killed, KillSwitch, backup, killable
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.bootstrap.test_consolidate import Copying
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.incremental.test_skipped_events import POISON, emit, recorded, skip
from twinhive.core.model.changes.events import Position
from twinhive.operations.actions.replica_status import read_status
from twinhive.replication.incremental.event_view import WantedEvents, view_log
from twinhive.replication.operator_requests.request_files import skip_event, skipped_events
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE, INCREMENTAL

SAID = "is not passed over: it is not the one that was asked for"


class Restored(Followed):
    """A source that was restored from a backup after it was asked to pass an event over; then users wrote rows."""

    def __init__(self) -> None:
        super().__init__()
        restore = backup(self.world.source)
        self.event_id = emit(self.world, POISON["unreadable"])
        skip(self.policy, self.world, self.event_id)
        restore()

    def write(self) -> None:
        """Let the log have another event of that number."""
        self.users.insert("plain", None, [b"more"])
        (row,) = self.world.source.events_after(self.event_id - 1, 1)
        assert row.event_id == self.event_id

    def follow_to_the_end(self) -> None:
        while not self.follow()["window"].idle:
            pass

    def said(self) -> list[str]:
        return [line for line in self.log if SAID in line]


@pytest.fixture
def restored() -> Restored:
    return Restored()


def test_another_event_of_that_number_is_applied_and_the_window_says_so(restored: Restored) -> None:
    restored.write()
    restored.follow_to_the_end()
    restored.assert_twin()
    assert recorded(restored.world) == {}
    assert f"twinhive skip-event {restored.policy.name} {restored.event_id}" in restored.said()[0]
    assert skipped_events(restored.world.replica_files, restored.policy) == {}


def test_a_log_that_has_no_such_event_yet_lets_none_be_passed_over_that_comes_amid_a_window(restored: Restored) -> None:
    assert read_status(restored.world.ports(), restored.policy).skipped == {}
    before = restored.follow()
    assert before["window"].idle and restored.said() == []
    restored.write()
    assert read_status(restored.world.ports(), restored.policy).skipped == {}
    restored.follow_to_the_end()
    restored.assert_twin()


def test_the_log_as_it_is_shown_skips_nothing_either(restored: Restored) -> None:
    restored.write()
    (view,) = view_log(restored.world.ports(), restored.policy, WantedEvents(begin=restored.event_id, limit=1)).events
    assert view.why_not is None


@pytest.mark.parametrize("later", [0, 5])
def test_a_log_that_is_not_the_one_it_was_is_shown_as_that(later: int) -> None:
    followed = Followed()
    restore = backup(followed.world.source)
    followed.users.insert("plain", None, [b"taken back"])
    followed.follow()
    assert view_log(followed.world.ports(), followed.policy, WantedEvents()).gaps == ()
    restore()
    for _ in range(later):
        followed.users.insert("plain", None, [b"another"])
    (said,) = view_log(followed.world.ports(), followed.policy, WantedEvents()).gaps
    assert "is not the one it was" in said and "expected event" in said


def test_the_new_event_is_passed_over_when_that_is_asked_for(restored: Restored) -> None:
    event_id = emit(restored.world, POISON["unknown type"])
    assert event_id == restored.event_id
    skip(restored.policy, restored.world, event_id)
    restored.follow_to_the_end()
    assert restored.said() == []
    assert recorded(restored.world) == {f"twinhive.skipped.{event_id}": "looked at it"}


@pytest.mark.parametrize("at", range(1, 12))
def test_a_window_that_was_begun_holds_its_own_event(restored: Restored, at: int) -> None:
    restored.write()
    try:
        restored.run_with(killable(restored.world.ports(), KillSwitch(at, after_effect=True)))
    except Killed:
        restored.follow_to_the_end()
    restored.assert_twin()
    assert recorded(restored.world) == {}


def test_a_request_for_another_log_is_left_out(restored: Restored) -> None:
    restored.write()
    (row,) = restored.world.source.events_after(restored.event_id - 1, 1)
    files, position = restored.world.replica_files, row.position
    for event in (position, Position(row.event_id)):
        skip_event(files, restored.policy, row.event_id, "why", "ann", event, "of another log")
        assert read_status(restored.world.ports(), restored.policy).skipped == {}
    skip_event(
        files, restored.policy, row.event_id, "why", "ann", Position(row.event_id), restored.world.source.log_id()
    )
    assert read_status(restored.world.ports(), restored.policy).skipped == {row.event_id: "why"}


def test_a_request_of_an_earlier_version_names_an_id_alone_and_is_obeyed(restored: Restored) -> None:
    restored.write()
    skip_event(restored.world.replica_files, restored.policy, restored.event_id, "why", "ann")
    restored.follow_to_the_end()
    assert recorded(restored.world) == {f"twinhive.skipped.{restored.event_id}": "why"}
    assert restored.said() == []


def test_a_load_records_no_event_that_it_has_not_passed_over() -> None:
    copying = Copying(a_policy())
    copying.run(BOOTSTRAP)
    restore = backup(copying.world.source)
    event_id = emit(copying.world, POISON["unreadable"])
    skip(copying.policy, copying.world, event_id)
    restore()
    copying.users.insert("plain", None, [b"more"])
    copying.run(CONSOLIDATE)
    assert recorded(copying.world) == {}
    copying.run(INCREMENTAL)
    assert_twin(copying.world)
