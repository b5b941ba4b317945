"""Tables that come whole, in a failover without its source: none is passed over in the call that promotes."""

import shlex
from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import killable, tuned
from tests.unit.operations.failover.test_failover import HOLDER, parameters, promotion, ready, silent
from tests.unit.replication.incremental.files.test_salvage import UP_TO_COPY, at_replica, at_source, take_over
from tests.unit.replication.incremental.files.test_salvage_troubles import MODES, NO, ODD
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Refused, TwinhiveError, Unexplained, Unreachable
from twinhive.core.model.marks import PHASE, Phase
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.replication.dump import staging_cleanup
from twinhive.replication.operator_requests.request_files import request_table

CALLS = pytest.mark.parametrize("call", ["drop_table", "create_table"])


def staged(mode: str) -> Followed:
    """Return a replica of which a table waits for a resync that is staged, after events of another one."""
    followed = ready(Followed(tuned(on_object_error=mode)))
    followed.users.set_parameters("plain", {"colour": "blue"})
    followed.users.insert("orders", ("a b",), [b"one"])
    request_table(followed.world.replica_files, followed.policy, "plain", "ann")
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    return followed


def refusing_plain(followed: Followed, call: str, error: ActNow) -> Any:
    """Let a call about the table fail; return what ends that."""
    replica: Any = followed.world.replica
    original = getattr(replica, call)

    def fail(about: Any, *given: Any, **named: Any) -> Any:
        if "plain" in str(about):
            raise error
        return original(about, *given, **named)

    setattr(replica, call, fail)
    return lambda: setattr(replica, call, original)


def phase(followed: Followed) -> str:
    return parameters(followed)[PHASE]


@MODES
@CALLS
def test_after_an_answer_that_nobody_knows_another_run_brings_the_table(call: str, mode: str) -> None:
    followed = staged(mode)
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    silent(followed)
    well_again = refusing_plain(followed, call, ODD)
    with pytest.raises(Unexplained, match=r"(?s)cannot be ended: .*next: +run it again\. If it goes on"):
        take_over(followed, newest)
    assert phase(followed) == Phase.FOLLOWING.value
    well_again()
    take_over(followed, newest)
    assert promotion(followed).position.event_id == newest and at_replica(followed) == held


def test_killed_at_any_change_a_rerun_brings_the_table() -> None:
    followed = staged("stop")
    newest, held = followed.world.source.current_event_id(), at_source(followed)

    def act(world: Followed, switch: Any) -> None:
        take_over(world, newest, killable(world.world.ports(), switch))

    for left in left_by_kills(lambda: followed, act):
        take_over(left, newest)
        assert promotion(left).position.event_id == newest
        assert at_replica(left) == held


@CALLS
def test_if_it_goes_on_the_message_has_a_way_without_the_window(call: str) -> None:
    followed = staged("quarantine")
    silent(followed)
    refusing_plain(followed, call, ODD)
    with pytest.raises(Unexplained) as told:
        take_over(followed)
    said = str(told.value).partition("hdfs dfs -mv ")[2].partition(". What of it")[0]
    assert followed.world.replica_files.rename(*shlex.split(said))
    assert any("because they wait for a resync: plain" in line for line in take_over(followed))


@MODES
@CALLS
def test_after_a_refusal_only_the_next_call_takes_over_without_the_table(call: str, mode: str) -> None:
    followed = staged(mode)
    newest = followed.world.source.current_event_id()
    silent(followed)
    refusing_plain(followed, call, NO)
    with pytest.raises(Refused, match=rf"(?s)the metastore says no.*--at {newest} "):
        take_over(followed, newest)
    assert phase(followed) == Phase.FOLLOWING.value
    take_over(followed, newest)
    assert promotion(followed).position.event_id == newest


def test_a_table_that_comes_without_any_event_holds_nothing_up() -> None:
    """The plan has named it: it waits for a resync."""
    followed = ready(Followed())
    request_table(followed.world.replica_files, followed.policy, "plain", "ann")
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    refusing_plain(followed, "drop_table", NO)
    lines = take_over(followed)
    assert any("because they wait for a resync: plain" in line for line in lines)
    assert any("the metastore says no" in line for line in lines)


def test_what_comes_after_the_end_of_a_window_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = staged("stop")
    held = at_source(followed)
    silent(followed)

    def refuse(*_: Any) -> None:
        raise Refused("staging cannot be cleaned")

    monkeypatch.setattr(staging_cleanup, "clean_staging", refuse)
    assert any("staging cannot be cleaned" in line for line in take_over(followed))
    assert at_replica(followed) == held


def order(followed: Followed, event_id: int, *, last: bool) -> UnplannedFailover:
    return UnplannedFailover(followed.policy, event_id, "gone", HOLDER, is_last_try=last)


@pytest.mark.parametrize("first", [ODD, Unreachable("away")], ids=["odd", "away"])
def test_a_retry_that_is_refused_does_not_take_over_without_the_table(first: TwinhiveError) -> None:
    followed = staged("quarantine")
    newest = followed.world.source.current_event_id()
    silent(followed)
    well_again = refusing_plain(followed, "create_table", first)
    with pytest.raises(type(first)):
        order(followed, newest, last=False).run(followed.world.ports())
    well_again()
    refusing_plain(followed, "create_table", NO)
    with pytest.raises(Refused, match=r"(?s)cannot be brought.*not there: plain.*takes over without"):
        order(followed, newest, last=True).run(followed.world.ports())
    assert phase(followed) == Phase.FOLLOWING.value
    plan = order(followed, newest, last=True).plan(followed.world.ports())
    assert "of these not on the replica at all: plain" in plan
    take_over(followed, newest)
    assert promotion(followed).position.event_id == newest


def test_a_rerun_after_a_kill_that_is_refused_does_not_take_over_without_the_table() -> None:
    followed = staged("stop")
    newest, held = followed.world.source.current_event_id(), at_source(followed)

    def act(world: Followed, switch: Any) -> None:
        take_over(world, newest, killable(world.world.ports(), switch))

    tried = 0
    for left in left_by_kills(lambda: followed, act):
        if phase(left) != Phase.FOLLOWING.value or at_replica(left) == held:
            continue
        tried += 1
        refusing_plain(left, "create_table", NO)
        with pytest.raises(Refused, match="the metastore says no"):
            take_over(left, newest)
        assert phase(left) == Phase.FOLLOWING.value
    assert tried


@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
def test_a_window_whose_events_are_all_of_that_table_is_ended_too(consistency: str) -> None:
    followed = ready(Followed(tuned(on_object_error="quarantine", consistency=consistency)))
    followed.users.set_parameters("plain", {"colour": "blue"})
    request_table(followed.world.replica_files, followed.policy, "plain", "ann")
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    newest = followed.world.source.current_event_id()
    silent(followed)
    refusing_plain(followed, "create_table", NO)
    with pytest.raises(Refused, match=rf"(?s)older than event {newest}, or not there: plain; not there: plain"):
        take_over(followed, newest)
    take_over(followed, newest)
    assert promotion(followed).position.event_id == newest


def test_a_table_that_is_taken_after_a_refusal_is_there() -> None:
    followed = staged("stop")
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    silent(followed)
    well_again = refusing_plain(followed, "create_table", NO)
    with pytest.raises(Refused):
        take_over(followed, newest)
    well_again()
    take_over(followed, newest)
    assert at_replica(followed) == held
