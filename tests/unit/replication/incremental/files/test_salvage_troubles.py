"""Trouble of a failover without its source: only lost files freeze a table, and only what was named is passed over."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.operations.failover.test_failover import HOLDER, parameters, position, promotion, ready, silent
from tests.unit.replication.incremental.files.test_salvage import UP_TO_COPY, at_replica, at_source, changed, take_over
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Refused, Unexplained
from twinhive.core.model.quarantine import frozen_tables, with_frozen
from twinhive.core.model.text import Reader, render
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.replication.incremental.salvage import Salvage, Salvaged

ODD = Unexplained("altering: the metastore refused", found="MetaException: odd", next_step="see its log")
NO = Refused("altering: the metastore says no", next_step="ask it why")
ASKED = ActNow("this needs the source, which is not asked any more", next_step="take over without it")

MODES = pytest.mark.parametrize("mode", ["stop", "quarantine"])
TAKE_OVER = "twinhive failover sales --unplanned --at"
CALLS = pytest.mark.parametrize("call", ["alter_table", "create_table"])


def staged(mode: str) -> Followed:
    """Return a replica of a source that is gone, with changes of it that are staged."""
    followed = ready(Followed(tuned(on_object_error=mode)))
    changed(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    return followed


def failing_once(followed: Followed, call: str, error: ActNow) -> None:
    """Let one call of the replica's metastore fail, the first of its name."""
    replica: Any = followed.world.replica
    original: Callable[..., Any] = getattr(replica, call)

    def fail(*_: Any, **__: Any) -> Any:
        setattr(replica, call, original)
        raise error

    setattr(replica, call, fail)


def assert_equal_when_run_again(followed: Followed, newest: int, held: dict[str, Any]) -> None:
    take_over(followed, newest)
    assert promotion(followed).position.event_id == newest
    assert at_replica(followed) == held and frozen_tables(parameters(followed)) == {}


@MODES
@CALLS
@pytest.mark.parametrize("error", [NO, ASKED], ids=["refused", "asked"])
def test_no_table_is_frozen_for_a_refusal_and_the_event_before_is_offered(call: str, mode: str, error: ActNow) -> None:
    followed = staged(mode)
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    silent(followed)
    failing_once(followed, call, error)
    with pytest.raises(Refused, match=r"what is staged cannot be applied: event") as told:
        take_over(followed, newest)
    assert not isinstance(told.value, Unexplained)
    assert f"next:     take over before it: {TAKE_OVER} {position(followed)} " in str(told.value)
    assert position(followed) < newest and frozen_tables(parameters(followed)) == {}
    assert_equal_when_run_again(followed, newest, held)


@MODES
@CALLS
def test_after_an_answer_that_nobody_knows_another_try_comes_before_an_earlier_event(call: str, mode: str) -> None:
    followed = staged(mode)
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    silent(followed)
    failing_once(followed, call, ODD)
    with pytest.raises(Unexplained, match="what is staged cannot be applied: event") as told:
        take_over(followed, newest)
    assert told.value.next_step is not None
    said = render(told.value.next_step, Reader.TERMINAL)
    assert said.startswith("run the command again. If it goes on, take over before it: ")
    assert f"--at {position(followed)} " in said
    assert position(followed) < newest and frozen_tables(parameters(followed)) == {}
    assert_equal_when_run_again(followed, newest, held)


@MODES
def test_while_tries_are_left_it_is_raised_as_it_is_and_what_was_seen_is_taken_back(mode: str) -> None:
    followed = ready(Followed(tuned(on_object_error=mode)))
    before = at_replica(followed)
    followed.users.insert("plain", None, [b"one", b"two"])
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    failing_once(followed, "alter_table", ODD)
    order = UnplannedFailover(followed.policy, newest, "east is gone", HOLDER, is_last_try=False)
    with pytest.raises(Unexplained, match=r"^event .* the metastore refused") as told:
        order.run(followed.world.ports())
    assert "--at" not in str(told.value)
    assert at_replica(followed) == before
    assert_equal_when_run_again(followed, newest, held)


def test_statistics_come_with_the_next_try() -> None:
    """What a refusal leaves out is not left out for an answer that nobody knows while tries are left."""
    followed = ready(Followed())
    followed.users.update_statistics("plain")
    newest, held = followed.world.source.current_event_id(), at_source(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    failing_once(followed, "set_statistics", ODD)
    order = UnplannedFailover(followed.policy, newest, "east is gone", HOLDER, is_last_try=False)
    with pytest.raises(Unexplained, match="the metastore refused"):
        order.run(followed.world.ports())
    assert_equal_when_run_again(followed, newest, held)


def test_a_table_that_is_frozen_meanwhile_was_not_named_and_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run may have brought the replica to the same event."""
    followed = ready(Followed())
    run = Salvage.run

    def beside(salvage: Salvage, ports: Any, state: Any) -> Salvaged:
        done = run(salvage, ports, state)
        ports.replica.set_database_parameters("sales", with_frozen(parameters(followed), "orders", "refused"))
        return done

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Salvage, "run", beside)
        with pytest.raises(Refused, match=r"(?s)older than was named.*orders.*failover sales --unplanned --dry-run"):
            take_over(followed, position(followed))
    lines = take_over(followed, position(followed))
    assert any("because they are quarantined: orders" in line for line in lines)
