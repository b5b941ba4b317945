"""The judge of those who read copies on real servers says no where it has to."""

from collections import defaultdict
from random import Random

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from tests.support.worlds.read_copies import DAYS, Asked, Became, Primary, Seen

ONE, OTHER = DAYS[:2]


@pytest.fixture
def primary() -> Primary:
    """ONE holds 1, from about second 5 on 2; OTHER holds 3, from about second 8 on 4."""
    made = Primary(CopiesWorld().users, Random(1))
    made._states = defaultdict(list)
    made._states[ONE] = [Became(0, 0, None), Became(1, 2, {"f": b"1"}), Became(5, 6, {"f": b"2"})]
    made._states[OTHER] = [Became(0, 0, None), Became(1, 2, {"f": b"3"}), Became(8, 9, {"f": b"4"})]
    return made


@pytest.mark.parametrize(
    ("end", "one", "other", "is_true"),
    [
        (10, [1], [3], True),
        (10, [2], [3], True),
        (10, [2], [4], True),
        (10, [1], [4], False),  # each was there, but never at one moment
        (10, [], [3], False),
        (10, [1, 2], [3], False),
        (7, [2], [4], False),
    ],
)
def test_a_query_has_seen_all_at_one_moment(
    primary: Primary, end: float, one: list[int], other: list[int], is_true: bool
) -> None:
    asked = Asked(3, end, {ONE: one, OTHER: other})
    if is_true:
        primary.assert_answered(asked)
    else:
        with pytest.raises(AssertionError, match="meanwhile"):
            primary.assert_answered(asked)


def test_a_look_has_seen_what_was_there_while_it_looked(primary: Primary) -> None:
    primary.assert_was(Seen(ONE, 3, 5.5, {"f": b"2"}))
    for content in ({"f": b"2"}, None, {}):
        with pytest.raises(AssertionError, match="meanwhile"):
            primary.assert_was(Seen(ONE, 3, 4, content))
