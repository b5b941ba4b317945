"""Copies and events share a pass as seed 001 says."""

import pytest

from twinhive.replication.external_tables.bounded_pass import BoundedPass, bounded_pass


@pytest.mark.parametrize(
    ("entries", "events", "max_tasks", "parallelism", "copies", "taken"),
    [
        (100, 10_000, 200, 8, 7, 193),  # seed 001
        (3, 10_000, 200, 8, 3, 197),
        (0, 10_000, 200, 8, 0, 200),
        (100, 50, 200, 8, 7, 50),
        (100, 0, 200, 8, 7, 0),
        (100, 10_000, 5, 8, 4, 1),
        (100, 10_000, 2, 8, 1, 1),
        (100, 10_000, 1, 8, 1, 1),
        (100, 10_000, 8, 8, 7, 1),
        (100, 10_000, 200, 2, 1, 199),
        (100, 10_000, 200, 1, 1, 199),
        (93, 107, 200, 200, 93, 107),
        (100, 10_000, None, 8, 100, 10_000),
        (0, 0, 200, 8, 0, 0),
        (0, 0, None, 8, 0, 0),
    ],
)
def test_a_pass(entries: int, events: int, max_tasks: int | None, parallelism: int, copies: int, taken: int) -> None:
    assert bounded_pass(entries, events, max_tasks, parallelism) == BoundedPass(copies, taken)


def test_neither_lane_is_ever_starved_and_the_bound_holds() -> None:
    for entries in (0, 1, 7, 500):
        for events in (0, 1, 7, 500):
            for most in range(2, 20):
                for parallelism in range(2, 20):
                    found = bounded_pass(entries, events, most, parallelism)
                    assert found.copies + found.events <= most
                    assert (found.copies > 0) == (entries > 0)
                    assert (found.events > 0) == (events > 0)
                    assert found.copies < parallelism
