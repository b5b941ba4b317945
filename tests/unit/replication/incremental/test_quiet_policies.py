"""Keep the position of a policy whose database nobody touches inside the retention of the source's log."""

from dataclasses import replace
from functools import partial

import pytest

from tests.support.builders import a_policy, an_external
from tests.support.hive.fake_log import START_OF_TIME
from tests.support.worlds.external_followed import FollowedExternals
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.replication.incremental.window_stage import WindowStage
from twinhive.runtime.pipeline.phases import INCREMENTAL, WINDOW, Stage

_HOUR = 3600


def following(kind: str) -> Followed:
    """Return a replica with all there is on it, and nothing left to do."""
    if kind == "managed":
        return Followed()
    followed = FollowedExternals.from_the_beginning(a_policy(external=an_external()))
    followed.settle()
    return followed


def run_at(followed: Followed, seconds: float) -> dict:
    """Run the phase at a time by its own clock."""
    window, *others = INCREMENTAL
    timed = Stage(window.name, replace(WINDOW, begin=partial(WindowStage, clock=lambda: seconds)))
    return followed.run_with(followed.world.ports(), (timed, *others))


def position(followed: Followed) -> int:
    return int(followed.world.replica.database("sales").parameters["repl.last.id"])


def somebody_elses_event(followed: Followed) -> int:
    return followed.world.source.emit("OPEN_TXN", None, None, {"txnIds": [1]}).event_id


@pytest.mark.parametrize("kind", ["managed", "external"])
def test_no_retention_reaches_the_position_of_an_idle_policy(kind: str) -> None:
    followed = following(kind)
    for day in range(1, 15):
        newest = somebody_elses_event(followed)
        run_at(followed, START_OF_TIME + day * 24 * _HOUR)
        assert position(followed) == newest
        followed.world.source.expire_events(newest)
    followed.users.insert("plain", None, [b"more"])
    run_at(followed, START_OF_TIME + 20 * 24 * _HOUR)
    followed.assert_twin()


def test_events_of_others_within_an_hour_write_nothing() -> None:
    followed = Followed()
    began = position(followed)
    newest = somebody_elses_event(followed)
    assert run_at(followed, START_OF_TIME + _HOUR - 1)["window"].idle
    assert position(followed) == began
    assert not run_at(followed, START_OF_TIME + 2 * _HOUR)["window"].idle
    assert position(followed) == newest


def test_an_event_that_a_person_has_skipped_is_passed_and_recorded_at_once() -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    skipped = position(followed) + 1
    while (newest := followed.world.source.current_event_id()) >= skipped:
        SkipEvent(followed.policy, skipped, "of no use", {"run": "x"}).run(followed.world.ports())
        skipped += 1
    assert not run_at(followed, START_OF_TIME)["window"].idle
    assert position(followed) == newest
    assert f"twinhive.skipped.{newest}" in followed.world.replica.database("sales").parameters
    assert run_at(followed, START_OF_TIME)["window"].idle


def test_a_log_without_a_new_event_writes_nothing_however_old_the_position_is() -> None:
    followed = Followed()
    assert run_at(followed, START_OF_TIME + 1000 * _HOUR)["window"].idle
    followed.world.source.expire_events(position(followed))
    assert run_at(followed, START_OF_TIME + 2000 * _HOUR)["window"].idle


def test_a_clock_that_is_behind_the_logs_does_not_keep_the_position_back() -> None:
    followed = Followed()
    for _ in range(2):
        followed.world.source.pass_time(2 * _HOUR)
        newest = somebody_elses_event(followed)
        run_at(followed, 0)
        assert position(followed) == newest
