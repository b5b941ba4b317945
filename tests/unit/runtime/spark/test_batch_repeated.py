"""Spark repeats a batch whose executor is lost: whatever the first attempt did, the end is the same."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.support.worlds.fake_world import Killable, Killed, KillSwitch
from tests.unit.transfer.tree.test_sync_killed import (
    EVERYTHING,
    MOST_CHANGES,
    SPLIT,
    assert_same_end,
    to_a_new_target,
    to_an_old_target,
)
from tests.unit.transfer.tree.trees import Changed, Trees
from twinhive.core.model.errors import Unreachable
from twinhive.transfer.tree.executing import Executor, TreeCopyJob
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.tree_outcome import ExecOutcome


class Repeated:
    """Carry out a plan whose first attempt is killed at one of its changes."""

    def __init__(self, trees: Trees, switch: KillSwitch) -> None:
        self._trees = trees
        self._switch = switch
        self.was_killed = False

    def __call__(self, job: TreeCopyJob, plan: Plan, confirm: Callable[[], None]) -> ExecOutcome:
        source, target = self._trees.source, self._trees.target
        lines = list(plan.copies())
        first: Any = Killable(target, self._switch)
        try:
            Executor(job, source, first, 1).run(lines)
        except Killed:
            self.was_killed = True
        return Executor(job, source, target, 1).run(lines)


@pytest.mark.thorough
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


class StillOpen:
    """A target where some files were never closed by a writer that was killed: HDFS has no checksum of them then."""

    def __init__(self, target: Any, paths: set[str]) -> None:
        self._target = target
        self.paths = paths

    def checksum(self, path: str, *form: Any, **length: Any) -> str | None:
        if path in self.paths:
            raise Unreachable(f"{path}: the file is under construction")
        return self._target.checksum(path, *form, **length)

    def delete(self, path: str) -> None:
        self.paths = {kept for kept in self.paths if not f"{kept}/".startswith(f"{path}/")}
        self._target.delete(path)

    def files(self) -> Any:
        return Changed(self._target, checksum=self.checksum, delete=self.delete)


@pytest.mark.parametrize("begin", [to_a_new_target, to_an_old_target], ids=["to a new target", "to an old target"])
def test_what_a_killed_writer_has_left_open_is_written_again(begin: Callable[[], Trees]) -> None:
    tried = 0
    for at in range(1, 40):
        trees = begin()
        with suppress(Killed):
            trees.sync(target=Killable(trees.target, KillSwitch(at, after_effect=True)), **EVERYTHING)
        left = {path for path in trees.target.paths() if "/tree/" in path or "/work/files/" in path}
        still_open = StillOpen(trees.target, left)
        outcome = trees.sync(target=still_open.files(), **EVERYTHING)
        assert not outcome.kinds
        assert still_open.paths == set()
        assert_same_end(trees)
        tried += bool(left)
    assert tried > 5
