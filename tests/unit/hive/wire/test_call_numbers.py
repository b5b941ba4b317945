"""Numbers of calls: each is given once, and a client whose numbers rise keeps its own."""

import pytest

from twinhive.hive.wire.call_numbers import CallNumbers, RisingNumbers

LEAST, MOST = -(1 << 31), (1 << 31) - 1


def test_numbers_that_rise_stay() -> None:
    rising = RisingNumbers()
    assert [rising.of(number) for number in (LEAST, -7, 0, 1, 5, MOST)] == [LEAST, -7, 0, 1, 5, MOST]


@pytest.mark.parametrize("number", [LEAST, -7, 0, MOST - 3, MOST])
def test_each_is_given_once_to_a_client_that_repeats_its_own(number: int) -> None:
    rising = RisingNumbers()
    given = [rising.of(number) for _ in range(10)]
    assert given[0] == number and len(set(given)) == 10
    assert all(LEAST <= one <= MOST for one in given)


def test_who_begins_anew_gets_others() -> None:
    rising = RisingNumbers()
    assert len({rising.of(number) for number in (1, 2, 3, 1, 2, 3, 4, 5)}) == 8


def test_without_rising_all_stay() -> None:
    numbers = CallNumbers()
    assert [numbers.of(number) for number in (3, 3, 1)] == [3, 3, 1]
    assert numbers.last == 1
