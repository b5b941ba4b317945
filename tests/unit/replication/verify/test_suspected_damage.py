"""A difference that is seen again becomes a finding, whatever the clocks of those who look say."""

import pytest

from tests.unit.replication.verify.test_verify import parameter
from tests.unit.replication.verify.verifying import Verifying
from twinhive.replication.comparison.hash_tree import DifferenceKind
from twinhive.replication.verify.leaf_differences import LeafDifference
from twinhive.replication.verify.suspected_damage import Suspect, suspicion

DAY = 86_400.0
NOW = 20_000 * DAY
DAMAGE = LeafDifference("orders", "p=1", DifferenceKind.CONTENT, {}, "mark")


@pytest.mark.parametrize("ahead", [1.0, 900.0, 300 * DAY])
def test_a_time_in_the_future_is_taken_for_now(ahead: float) -> None:
    first = suspicion([DAMAGE], [], NOW + ahead, 900)
    second = suspicion([DAMAGE], first.remembered, NOW, 900)
    assert (second.findings, second.remembered) == ((), (Suspect("orders", "p=1", "mark", NOW),))
    assert second.look_again_at == NOW + 900
    assert suspicion([DAMAGE], second.remembered, NOW + 899, 900).findings == ()
    assert suspicion([DAMAGE], second.remembered, NOW + 900, 900).findings == (DAMAGE,)


def test_a_clock_that_was_ahead_for_one_night_hides_no_damage() -> None:
    verifying = Verifying()
    parameter(verifying)
    verifying.now += 300 * DAY
    verifying.verify()
    verifying.now -= 300 * DAY
    verifying.next_night()
    assert verifying.verify().suspected == 1
    verifying.next_night()
    assert verifying.verify().found == 1


def test_clocks_that_are_never_right_hide_none_either() -> None:
    remembered: tuple[Suspect, ...] = ()
    found = []
    for night in range(4):
        # One of two workers is an hour ahead, and looks every second night.
        seen = suspicion([DAMAGE], remembered, NOW + night * DAY + 3600 * (night % 2), 900)
        remembered = seen.remembered
        found.append(len(seen.findings))
    assert found == [0, 1, 1, 1]
