"""Whatever reads the log obeys a request to pass an event over, and until there is one, says that it can be wished."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.builders import a_policy
from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.bootstrap.test_consolidate import Copying
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.scan.test_scan import put, same, scan
from twinhive.core.model.errors import ActNow, InvalidSettings, Missing
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.replication.external_tables.list_external import ListExternal
from twinhive.replication.incremental.event_view import WantedEvents, view_log
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE, INCREMENTAL

HOLDER = {"run": "x"}

POISON: dict[str, dict[str, str | None]] = {
    "unreadable": {"event_type": "ALTER_TABLE", "database": "sales", "table": "plain"},
    "of a neighbour": {"event_type": "ALTER_TABLE", "database": "neighbour", "table": "t"},
    "unknown type": {"event_type": "REFRESH_EVERYTHING", "database": "sales", "table": "plain"},
    "unknown type of no database": {"event_type": "REFRESH_EVERYTHING", "database": None, "table": None},
}


@pytest.fixture(params=POISON.values(), ids=list(POISON))
def poison(request) -> dict[str, str | None]:
    return request.param


def emit(world, row) -> int:
    return world.source.emit(**row, message={"nonsense": 1}).event_id


def skip(policy, world, event_id: int) -> None:
    SkipEvent(policy, event_id, "looked at it", HOLDER).run(world.ports())


def obeying(policy, world, event_id: int, act: Callable[[], object]) -> None:
    """Do something that stops at an event, then what the error advises, then the same again."""
    with pytest.raises(ActNow, match=f"twinhive skip-event sales {event_id}"):
        act()
    skip(policy, world, event_id)
    act()


def recorded(world) -> dict[str, str]:
    parameters = world.replica.database("sales").parameters
    return {key: why for key, why in parameters.items() if key.startswith("twinhive.skipped.")}


def test_one_behind_a_window_with_a_change_of_columns(poison) -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.add_columns("orders", [("extra", "string")], cascade=True)
    event_id = emit(followed.world, poison)
    followed.users.insert("plain", None, [b"more"])

    def follow_to_the_end() -> None:
        while not followed.follow()["window"].idle:
            pass

    obeying(followed.policy, followed.world, event_id, follow_to_the_end)
    followed.assert_twin()
    assert recorded(followed.world) == {f"twinhive.skipped.{event_id}": "looked at it"}


def test_one_behind_a_window_whose_files_have_moved() -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.insert("plain", None, [b"more"])
    neighbours, event_id = emit(followed.world, POISON["of a neighbour"]), emit(followed.world, POISON["unreadable"])
    followed.users.rename_table("plain", "renamed")
    followed.follow()
    skip(followed.policy, followed.world, neighbours)
    skip(followed.policy, followed.world, event_id)
    while not followed.follow()["window"].idle:
        pass
    followed.assert_twin()


def test_one_behind_a_window_that_brings_a_table_over_whole(poison) -> None:
    followed = Followed()
    Resync(followed.policy, "orders", HOLDER).run(followed.world.ports())
    event_id = emit(followed.world, poison)
    obeying(followed.policy, followed.world, event_id, followed.follow)
    followed.follow()
    followed.assert_twin()


def test_one_that_an_idle_lane_passes_is_recorded_at_once() -> None:
    followed = Followed()
    event_id = emit(followed.world, POISON["unreadable"])
    skip(followed.policy, followed.world, event_id)
    followed.follow()
    assert recorded(followed.world) == {f"twinhive.skipped.{event_id}": "looked at it"}


@pytest.mark.parametrize("at", range(1, 16))
def test_one_is_recorded_whenever_the_lane_is_killed(at: int) -> None:
    followed = Followed()
    event_id = emit(followed.world, POISON["unreadable"])
    skip(followed.policy, followed.world, event_id)
    followed.users.drop_table("plain")
    followed.users.drop_table("empty")
    try:
        followed.run_with(killable(followed.world.ports(), KillSwitch(at, after_effect=True)))
    except Killed:
        while not followed.follow()["window"].idle:
            pass
    assert recorded(followed.world) == {f"twinhive.skipped.{event_id}": "looked at it"}


def silent_write(followed: Followed) -> None:
    put(followed, "empty", "silent", b"row")


@pytest.mark.parametrize("poison", [row for kind, row in POISON.items() if kind != "unknown type"])
def test_a_scan_waits_with_what_an_unreadable_event_may_explain_and_goes_on(poison) -> None:
    followed = Followed()
    scan(followed)
    silent_write(followed)
    event_id = emit(followed.world, poison)
    with pytest.raises(ActNow):
        followed.follow()
    assert scan(followed).waiting
    skip(followed.policy, followed.world, event_id)
    followed.follow()
    assert scan(followed).followed
    assert same(followed)


def test_external_tables_are_listed_beside_an_unreadable_event(poison) -> None:
    followed = FollowedExternals.from_the_beginning()
    followed.settle()
    listed = ListExternal(Work(followed.policy, holder=HOLDER))
    first = listed.run(followed.world.ports())
    event_id = emit(followed.world, poison)
    assert listed.run(followed.world.ports()).entries == first.entries
    skip(followed.policy, followed.world, event_id)
    assert listed.run(followed.world.ports()).entries == first.entries


def test_one_behind_a_dump_is_passed_over_by_rounds_and_recorded_by_the_load(poison) -> None:
    copying = Copying(a_policy())
    copying.run(BOOTSTRAP)
    event_id = emit(copying.world, poison)
    copying.users.insert("plain", None, [b"more"])
    obeying(copying.policy, copying.world, event_id, lambda: copying.run(CONSOLIDATE))
    assert recorded(copying.world) == {f"twinhive.skipped.{event_id}": "looked at it"}
    while not copying.run(INCREMENTAL)["window"].idle:
        pass
    assert recorded(copying.world) == {f"twinhive.skipped.{event_id}": "looked at it"}
    assert_twin(copying.world)


def test_one_that_was_saved_is_passed_over_when_the_log_has_lost_it() -> None:
    copying = Copying(a_policy())
    copying.run(BOOTSTRAP)
    event_id = emit(copying.world, POISON["unreadable"])
    copying.users.insert("plain", None, [b"more"])
    copying.run(INCREMENTAL)
    copying.world.source.expire_events(event_id)
    obeying(copying.policy, copying.world, event_id, lambda: copying.run(CONSOLIDATE))
    copying.run(INCREMENTAL)
    assert_twin(copying.world)


def test_saving_obeys_too() -> None:
    copying = Copying(a_policy())
    copying.run(BOOTSTRAP)
    event_id = emit(copying.world, POISON["of a neighbour"])
    obeying(copying.policy, copying.world, event_id, lambda: copying.run(INCREMENTAL))
    copying.world.source.expire_events(event_id)
    copying.run(CONSOLIDATE)
    copying.run(INCREMENTAL)
    assert_twin(copying.world)


def test_one_that_comes_after_a_round_does_not_stop_the_load_behind_it(poison) -> None:
    copying = Copying(a_policy())
    copying.run(BOOTSTRAP)
    before = copying.run(CONSOLIDATE[:2])
    event_id = emit(copying.world, poison)
    act = lambda: copying.run(CONSOLIDATE[2:], **before)  # noqa: E731
    if poison["database"] == "neighbour":
        obeying(copying.policy, copying.world, event_id, act)
    else:
        act()
        skip(copying.policy, copying.world, event_id)
    copying.run(INCREMENTAL)
    assert recorded(copying.world) == {f"twinhive.skipped.{event_id}": "looked at it"}


def test_the_events_of_one_table_are_shown_beside_it(poison) -> None:
    followed = Followed()
    event_id = emit(followed.world, poison)
    followed.users.insert("orders", ("a b",), [b"more"])
    skip(followed.policy, followed.world, event_id)
    shown = view_log(followed.world.ports(), followed.policy, WantedEvents(table="orders", everything=True))
    assert "INSERT" in {view.event_type for view in shown.events}


def test_an_event_that_the_dump_holds_already_is_refused() -> None:
    copying = Copying(a_policy())
    event_id = emit(copying.world, POISON["unreadable"])
    copying.run(BOOTSTRAP)
    with pytest.raises(InvalidSettings, match="behind the replica's position already"):
        skip(copying.policy, copying.world, event_id)


def test_what_was_saved_under_another_text_of_the_policy_is_read_from_the_log() -> None:
    copying = Copying(replace(a_policy(), exclude=("made",), fingerprint="narrow"))
    copying.run(BOOTSTRAP)
    before = copying.run(CONSOLIDATE[:3])
    copying.users.create_table("made", files=[b"row"])
    copying.run(INCREMENTAL)
    copying.run(CONSOLIDATE[3:], **before)
    copying.policy = replace(a_policy(), fingerprint="wide")
    copying.run(INCREMENTAL)
    assert_twin(copying.world)


def refused_as_expired(world, policy) -> str:
    """Ask for an event that the log does not hold any more; return what to do instead."""
    newest = world.source.current_event_id()
    world.source.expire_events(newest - 1)
    with pytest.raises(Missing, match="does not hold event") as refused:
        SkipEvent(policy, newest - 1, "why", HOLDER).plan(world.ports())
    return refused.value.words.next_step or ""


def test_of_one_that_has_expired_a_replica_that_follows_asks_for_what_differs() -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    said = refused_as_expired(followed.world, followed.policy)
    assert "twinhive resync sales --all" in said and "bootstrap" not in said


def test_of_one_that_has_expired_before_there_is_a_replica_a_dump_is_made_anew() -> None:
    copying = Copying()
    copying.run(BOOTSTRAP)
    copying.users.insert("plain", None, [b"more"])
    copying.users.insert("plain", None, [b"and more"])
    assert "start the DAG sales.bootstrap with again=true" in refused_as_expired(copying.world, copying.policy)
