"""Spark repeats a batch whose executor is lost: whatever the first attempt did, the end is the same."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.fake_world import Killable, Killed, KillSwitch
from tests.unit.syncing.test_sync_killed import (
    EVERYTHING,
    MOST_CHANGES,
    SPLIT,
    assert_same_end,
    to_a_new_target,
    to_an_old_target,
)
from tests.unit.syncing.trees import Trees
from twinhive.syncing.executing import CopyJob, Executor
from twinhive.syncing.outcome import ExecOutcome
from twinhive.syncing.plan import Plan


class Repeated:
    """Carry out a plan whose first attempt is killed at one of its changes."""

    def __init__(self, trees: Trees, switch: KillSwitch) -> None:
        self._trees = trees
        self._switch = switch
        self.was_killed = False

    def __call__(self, job: CopyJob, plan: Plan, confirm: Callable[[], None]) -> ExecOutcome:
        source, target = self._trees.source, self._trees.target
        lines = list(plan.copies())
        first: Any = Killable(target, self._switch)
        try:
            Executor(job, source, first).run(lines, 1)
        except Killed:
            self.was_killed = True
        return Executor(job, source, target).run(lines, 1)


@pytest.mark.parametrize("after_effect", [False, True], ids=["before its effect", "after its effect"])
@pytest.mark.parametrize("begin", [to_a_new_target, to_an_old_target], ids=["to a new target", "to an old target"])
def test_a_batch_may_be_repeated_after_any_change(begin: Callable[[], Trees], after_effect: bool) -> None:
    for at in range(1, MOST_CHANGES):
        trees = begin()
        execute = Repeated(trees, KillSwitch(at, after_effect=after_effect))
        outcome = trees.sync(**EVERYTHING, split_above=SPLIT, execute=execute)
        assert not outcome.kinds
        assert_same_end(trees)
        if not execute.was_killed:
            break
    assert 10 < at < MOST_CHANGES - 1
