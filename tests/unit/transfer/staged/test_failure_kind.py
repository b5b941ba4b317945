"""One table says what cures a failed copy; who lists the source again needs nobody for what a listing cures."""

import pytest

from twinhive.transfer.staged.failure_kind import Cure, ExitCode, FailureKind, exit_code
from twinhive.transfer.tree.outcome import SyncOutcome


@pytest.mark.parametrize("kind", FailureKind)
def test_each_kind_has_a_cure_and_the_exit_code_that_says_it(kind: FailureKind) -> None:
    codes = {lists: exit_code({kind}, lists_again=lists) for lists in (True, False)}
    assert codes == {
        Cure.REPEAT: {True: ExitCode.TRY_AGAIN, False: ExitCode.TRY_AGAIN},
        Cure.LIST: {True: ExitCode.TRY_AGAIN, False: ExitCode.ACT_NOW},
        Cure.PERSON: {True: ExitCode.ACT_NOW, False: ExitCode.ACT_NOW},
    }[kind.cure]


def test_a_person_comes_before_a_repetition() -> None:
    assert exit_code({FailureKind.REFUSED, FailureKind.UNREACHABLE}, lists_again=True) is ExitCode.ACT_NOW


@pytest.mark.parametrize("kind", [FailureKind.UNEXPLAINED, FailureKind.SWEPT, FailureKind.CHANGED])
def test_a_copy_of_a_tree_that_may_succeed_is_tried_again(kind: FailureKind) -> None:
    outcome = SyncOutcome()
    outcome.kinds[kind] += 1
    assert outcome.exit_code is ExitCode.TRY_AGAIN
