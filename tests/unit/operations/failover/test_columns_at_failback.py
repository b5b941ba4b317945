"""Columns that the old primary's metastore does not let become others in one call become them in two."""

from collections.abc import Callable

import pytest

from tests.support.worlds.fake_world import Killed, KillSwitch, kill_points, killable
from tests.unit.operations.failover.test_failback import BACK, HOLDER, Switched
from tests.unit.replication.incremental.odd_tables.test_columns_in_two_calls import (
    AFTER,
    ALL_OTHERS,
    BEFORE,
    ORDERS,
    PLAIN,
    a_followed_replica,
    in_steps,
)
from twinhive.operations.failover.failback import Failback


def switched_over() -> Switched:
    return Switched(followed=a_followed_replica())


def changed_in_steps(switched: Switched) -> None:
    for table in ("plain", "orders"):
        in_steps(switched.west, table)


def changed_at_once(switched: Switched) -> None:
    """As a new primary's metastore allows it that is told to."""
    switched.world.replica.takes_all_types = True
    switched.west.set_columns("plain", ALL_OTHERS)
    switched.west.set_columns("orders", ALL_OTHERS, cascade=True)
    switched.world.replica.takes_all_types = False


def changed_at_both(switched: Switched) -> None:
    """The old primary's users have changed them to something else, where nobody reads any more."""
    switched.east.set_columns("plain", ())
    switched.east.set_columns("plain", ALL_OTHERS)
    changed_in_steps(switched)


def made_again(switched: Switched) -> None:
    switched.west.drop_table("plain")
    switched.west.create_table("plain", files=[b"other rows"])
    switched.west.set_columns("plain", ())
    switched.west.set_columns("plain", AFTER)
    in_steps(switched.west, "orders")


WAYS = (changed_in_steps, changed_at_once, changed_at_both, made_again)


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest) -> Callable[[Switched], None]:
    return request.param


def test_an_old_primary_gets_the_columns_of_the_new_one(way: Callable[[Switched], None]) -> None:
    switched = switched_over()
    east, west = switched.world.source, switched.world.replica
    assert east.table(PLAIN).columns == east.table(ORDERS).columns == BEFORE
    way(switched)
    switched.fail_back()  # which proves both sides equal
    for name in (PLAIN, ORDERS):
        assert east.table(name).columns == west.table(name).columns != BEFORE


def test_no_file_of_the_table_is_copied_again() -> None:
    switched = switched_over()
    there = switched.world.source.table(ORDERS).location
    before = {path for path in switched.world.source_files.paths() if path.startswith(f"{there}/")}
    in_steps(switched.west, "orders")
    switched.fail_back()
    assert switched.world.source.table(ORDERS).location == there
    assert {path for path in switched.world.source_files.paths() if path.startswith(f"{there}/")} == before


def test_killed_at_any_change_it_converges(way: Callable[[Switched], None]) -> None:
    for after_effect in (False, True):
        for at in kill_points(80, after_effect=after_effect):
            switched = switched_over()
            way(switched)
            Failback(BACK, HOLDER).run(switched.ports())
            switch = KillSwitch(at, after_effect=after_effect)
            try:
                switched.go_on(BACK, lambda: killable(switched.ports(), switch))  # noqa: B023
            except Killed:
                switched.go_on(BACK, switched.ports)
