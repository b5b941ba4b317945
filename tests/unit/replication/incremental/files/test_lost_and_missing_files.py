"""Lost files beside ones that were only not copied: a failover goes up to these, and no farther back."""

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.operations.failover.test_failover import parameters, position, promotion, ready, silent
from tests.unit.replication.incremental.files.test_lost_files_and_failover import doomed, plan
from tests.unit.replication.incremental.files.test_lost_files_of_windows import (
    failing,
    insert_that_is_lost,
    quarantining,
)
from tests.unit.replication.incremental.files.test_salvage import (
    UP_TO_COPY,
    at_replica,
    at_source,
    named_by_plan,
    take_over,
)
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import TwinhiveError, Unreachable
from twinhive.core.model.quarantine import frozen_tables


def copy_all_but_orders(followed: Followed) -> None:
    dying = Unreachable("the source is dying", next_step="wait")
    with failing(followed, "/orders/", dying), pytest.raises(TwinhiveError):
        followed.run_with(followed.world.ports(), UP_TO_COPY)
    silent(followed)


def test_events_after_a_lost_file_are_applied_up_to_one_that_was_not_copied() -> None:
    followed = quarantining()
    insert_that_is_lost(followed)
    for colour in ("blue", "green"):
        followed.users.set_parameters("orders", {"colour": colour})
    at, orders = followed.world.source.current_event_id(), at_source(followed)["sales.orders"]
    followed.users.insert("orders", ("a b",), [b"three", b"four"])
    copy_all_but_orders(followed)
    assert named_by_plan(followed) == at and doomed(plan(followed)) == {"plain"}
    take_over(followed)
    assert promotion(followed).position.event_id == at
    assert list(frozen_tables(parameters(followed))) == ["plain"]
    assert at_replica(followed)["sales.orders"] == orders


def test_a_lost_file_ends_it_where_its_table_is_not_frozen() -> None:
    followed = ready(Followed(tuned(on_object_error="stop")))
    followed.users.set_parameters("orders", {"colour": "blue"})
    at, held = followed.world.source.current_event_id(), at_source(followed)
    insert_that_is_lost(followed)
    followed.users.set_parameters("orders", {"colour": "green"})
    followed.users.insert("orders", ("a b",), [b"three"])
    copy_all_but_orders(followed)
    assert named_by_plan(followed) == at
    take_over(followed)
    assert promotion(followed).position.event_id == at
    assert frozen_tables(parameters(followed)) == {} and at_replica(followed) == held


def test_no_table_is_frozen_where_nothing_else_comes_before_what_was_not_copied() -> None:
    followed = quarantining()
    followed.users.set_parameters("orders", {"colour": "blue"})
    at, held = followed.world.source.current_event_id(), at_source(followed)
    insert_that_is_lost(followed)
    followed.users.set_parameters("plain", {"colour": "green"})
    followed.users.insert("orders", ("a b",), [b"three"])
    assert position(followed) < at
    copy_all_but_orders(followed)
    assert named_by_plan(followed) == at and doomed(plan(followed)) == set()
    take_over(followed)
    assert promotion(followed).position.event_id == at
    assert frozen_tables(parameters(followed)) == {} and at_replica(followed) == held
