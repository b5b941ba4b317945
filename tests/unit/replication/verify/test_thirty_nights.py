"""All checksums are compared in thirty nights, also where some of these were missed."""

import pytest

from tests.unit.replication.verify.verifying import Verifying
from twinhive.replication.verify.ledger_refresh import SLICES, Due

KEYS = [bytes([0, 0, number]) for number in range(256)]


def many(partitions: int = 200) -> Verifying:
    verifying = Verifying()
    verifying.users.create_table("many", keys=("p",))
    verifying.users.add_partitions("many", {(str(number),): [b"rows"] for number in range(partitions)})
    verifying.followed.follow()
    return verifying


@pytest.mark.thorough
@pytest.mark.parametrize("every", [2, 3, 7, 31, 60])
def test_who_verifies_not_every_night_has_all_compared_in_thirty_too(every: int) -> None:
    verifying = many()
    found = verifying.verify()
    for _ in range(SLICES // every + 1):
        verifying.now += every * 86_400
        found = verifying.verify()
    assert found.with_checksums == found.with_files > 200


def test_the_share_of_a_day_is_read_once() -> None:
    day = 20_000
    assert not any(Due(day).concerns(key, day) for key in KEYS)


@pytest.mark.parametrize("missed", [1, 2, 10, 29])
def test_a_night_makes_up_for_those_before_it_and_for_no_more(missed: int) -> None:
    day = 20_000
    of_each = [[key for key in KEYS if Due(day - back).concerns(key, day - back - 1)] for back in range(missed)]
    at_once = [key for key in KEYS if Due(day).concerns(key, day - missed)]
    assert sorted(at_once) == sorted(key for one in of_each for key in one)


@pytest.mark.parametrize("done", [0, 20_001, 30_000])
def test_where_nobody_knows_the_last_day_it_is_the_share_of_this_one(done: int) -> None:
    """Of a table that was never looked at, or was by a clock that was ahead."""
    day = 20_000
    assert [key for key in KEYS if Due(day).concerns(key, done)] == [
        key for key in KEYS if key[2] % SLICES == day % SLICES
    ]
