"""Random histories of failovers and failbacks, in memory (tests/checker/failover_histories.py, and switches)."""

import os
import random

import pytest

from tests.checker.failover_histories import Sides
from tests.checker.memory_histories import one_thread
from tests.checker.switches.features import drawn
from tests.checker.switches.history import run_history
from tests.support.seeds import cases
from tests.unit.operations.failover.test_failback import BACK, Switched

HISTORIES = int(os.environ.get("TWINHIVE_HISTORIES") or 12)


@pytest.mark.parametrize("seed", cases(HISTORIES, few=4, kind=11))
def test_each_primary_is_what_its_users_have_made_of_the_one_before(seed: int) -> None:
    with one_thread(random.Random(seed)):
        two = Switched()
        ways = (two.there, two.world.ports), (BACK, two.ports)
        sides = Sides(random.Random(seed), ways, (two.east, two.west))
        for _ in range(4):
            sides.round()
        sides.fail_back()


@pytest.mark.parametrize("seed", cases(2 * HISTORIES, few=8, kind=12))
def test_beside_people_nothing_of_theirs_is_changed_and_no_row_is_nowhere(seed: int) -> None:
    outcome = run_history(seed, drawn(seed))
    assert not outcome.violations, outcome.story()
