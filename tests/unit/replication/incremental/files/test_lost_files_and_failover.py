"""The dry run of a failover without its source names what lost files do: tables that are frozen, where it ends."""

from collections.abc import Callable

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.operations.failover.test_failover import HOLDER, parameters, position, promotion, ready, silent
from tests.unit.replication.incremental.files.test_lost_files_of_windows import insert_that_is_lost
from tests.unit.replication.incremental.files.test_salvage import (
    UP_TO_COPY,
    at_replica,
    at_source,
    named_by_plan,
    take_over,
)
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow
from twinhive.core.model.quarantine import frozen_tables
from twinhive.operations.failover.unplanned_failover import UnplannedFailover

BOTH = pytest.mark.parametrize("consistency", ["every_event", "window_end"])


def only_lost(followed: Followed) -> None:
    insert_that_is_lost(followed)
    followed.users.insert("orders", ("a b",), [b"three"])


def lost_and_renamed(followed: Followed) -> None:
    insert_that_is_lost(followed)
    followed.users.rename_table("plain", "renamed")
    followed.users.insert("orders", ("a b",), [b"three"])


def lost_and_dropped(followed: Followed) -> None:
    """Of `window_end` the one cancels the other, and nothing is frozen."""
    insert_that_is_lost(followed)
    followed.users.drop_table("plain")


def lost_and_skipped(followed: Followed) -> None:
    """The later events of a table that is frozen are passed over, lost or not."""
    insert_that_is_lost(followed)
    followed.users.set_parameters("orders", {"colour": "red"})
    insert_that_is_lost(followed, b"lost two")


def doomed(lines: list[str]) -> set[str]:
    said = [line for line in lines if "(files are lost): " in line]
    return set(said[0].rpartition(": ")[2].split(", ")) if said else set()


def plan(followed: Followed) -> list[str]:
    return UnplannedFailover(followed.policy, 0, "a rehearsal", HOLDER).plan(followed.world.ports())


@BOTH
@pytest.mark.parametrize("history", [only_lost, lost_and_renamed, lost_and_dropped, lost_and_skipped])
def test_the_tables_that_are_frozen_are_named_before(history: Callable[[Followed], None], consistency: str) -> None:
    followed = ready(Followed(tuned(on_object_error="quarantine", consistency=consistency)))
    history(followed)
    newest = followed.world.source.current_event_id()
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    named, at = doomed(plan(followed)), named_by_plan(followed)
    assert at == newest
    assert doomed(take_over(followed, at)) == named
    assert named == set(frozen_tables(parameters(followed)))
    assert named or history is lost_and_dropped
    assert promotion(followed).position.event_id == at


def test_of_an_earlier_event_only_what_is_frozen_until_then_is_named() -> None:
    followed = ready(Followed(tuned(on_object_error="quarantine")))
    followed.users.insert("orders", ("a b",), [b"three"])
    at = followed.world.source.current_event_id()
    insert_that_is_lost(followed)
    followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    assert doomed(plan(followed)) == {"plain"}
    assert doomed(take_over(followed, at)) == set() == set(frozen_tables(parameters(followed)))


@BOTH
def test_where_a_lost_file_stops_the_event_before_it_is_named_and_taken(consistency: str) -> None:
    """An event inside of a window only where there are such ones."""
    followed = ready(Followed(tuned(consistency=consistency)))
    begin, held_before = position(followed), at_source(followed)
    followed.users.insert("orders", ("a b",), [b"three"])
    inside, held_inside = followed.world.source.current_event_id(), at_source(followed)
    insert_that_is_lost(followed)
    followed.users.set_parameters("orders", {"colour": "red"})
    with pytest.raises(ActNow, match="1 files were not copied"):
        followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)
    at, held = (inside, held_inside) if consistency == "every_event" else (begin, held_before)
    assert named_by_plan(followed) == at and doomed(plan(followed)) == set()
    take_over(followed)
    assert promotion(followed).position.event_id == at
    assert at_replica(followed) == held and frozen_tables(parameters(followed)) == {}
