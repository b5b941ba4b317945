"""Replicate random histories in memory, with faults, and let the checker judge all that the replica shows.

`TWINHIVE_SEED` runs one history, the one that a failure names; `TWINHIVE_HISTORIES` runs so many of each kind.
Otherwise the seeds are those of the day (tests/support/seeds.py).
"""

import os

import pytest

from tests.checker.memory_histories import Drill, Settings
from tests.support.seeds import ONE, seeds
from twinhive.core.model.policy import WINDOW_END

MANY = int(os.environ.get("TWINHIVE_HISTORIES", "0"))
CHUNK = 3


def parts(number: int) -> list[range]:
    """Return which of the day's seeds belong to one kind of histories, some for each test."""
    return [range(first, first + CHUNK) for first in range(0, 1 if ONE else MANY or number, CHUNK)]


def judge(some: range, settings: Settings) -> None:
    compared = 0
    chosen = seeds(some.stop)[some.start :]
    for seed in chosen:
        drill = Drill(seed, settings)
        drill.run()
        drill.assert_end()
        compared += drill.judge.compared
    # A replica that is shown as windows leave it has a state a window: five or six a history, the others sixty.
    assert compared >= (3 if settings.consistency == WINDOW_END else 20) * len(chosen)


@pytest.mark.thorough
@pytest.mark.parametrize("some", parts(6), ids=str)
def test_with_kills_zombies_and_lost_answers(some: range) -> None:
    judge(some, Settings())


@pytest.mark.thorough
@pytest.mark.parametrize("some", parts(3), ids=str)
def test_with_a_busy_source(some: range) -> None:
    judge(some, Settings(writers=3, statements=45, pace=30, faults=20))


@pytest.mark.parametrize("some", parts(3), ids=str)
def test_with_writers_that_die_before_their_events(some: range) -> None:
    judge(some, Settings(deaths=15))


@pytest.mark.parametrize("some", parts(3), ids=str)
def test_that_are_shown_as_windows_leave_them(some: range) -> None:
    judge(some, Settings(consistency=WINDOW_END))


@pytest.mark.parametrize("some", parts(3), ids=str)
def test_with_what_few_users_do(some: range) -> None:
    judge(some, Settings(odd=True, statements=40))


@pytest.mark.thorough
@pytest.mark.parametrize("some", parts(3), ids=str)
def test_with_scans_and_sweeps_beside(some: range) -> None:
    judge(some, Settings(scans=35, odd=True, writers=3, pace=20))


@pytest.mark.parametrize("some", parts(3), ids=str)
def test_with_files_in_nested_directories(some: range) -> None:
    judge(some, Settings(nests=True))


@pytest.mark.parametrize("some", parts(3), ids=str)
def test_with_tables_that_refer_to_each_other(some: range) -> None:
    judge(some, Settings(keys=True, statements=40))


@pytest.mark.parametrize("some", parts(3), ids=str)
def test_with_renames_between_databases(some: range) -> None:
    judge(some, Settings(crosses=True))


@pytest.mark.parametrize("some", parts(3), ids=str)
def test_with_other_locations_of_tables_and_partitions(some: range) -> None:
    judge(some, Settings(moves=True))


@pytest.mark.parametrize("some", parts(3), ids=str)
def test_with_others_who_want_the_lease(some: range) -> None:
    judge(some, Settings(takers=12))


@pytest.mark.thorough
@pytest.mark.parametrize("some", parts(5), ids=str)
def test_with_sets_that_are_marked(some: range) -> None:
    judge(some, Settings(marks=True))


@pytest.mark.thorough
@pytest.mark.parametrize("some", parts(5), ids=str)
def test_with_sets_of_a_busy_source_whose_writers_die(some: range) -> None:
    judge(some, Settings(marks=True, writers=3, statements=45, pace=30, faults=20, deaths=8, scans=10))


@pytest.mark.thorough
@pytest.mark.parametrize("some", parts(5), ids=str)
def test_with_sets_of_tables_that_few_users_have(some: range) -> None:
    judge(some, Settings(marks=True, odd=True, nests=True, crosses=True, statements=40))


@pytest.mark.thorough
@pytest.mark.parametrize("some", parts(5), ids=str)
def test_with_sets_shown_as_windows_leave_them(some: range) -> None:
    judge(some, Settings(marks=True, consistency=WINDOW_END, takers=12, statements=40))


def test_a_seed_always_gives_the_same() -> None:
    one, other = Drill(3), Drill(3)
    one.run()
    other.run()
    assert one.log == other.log
    assert one.judge.compared == other.judge.compared
