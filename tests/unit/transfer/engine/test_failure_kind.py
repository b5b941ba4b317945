"""One table says what cures a failed copy; who lists the source again needs nobody for what a listing cures."""

import pytest

from twinhive.core.model.exit_codes import ExitCode
from twinhive.transfer.engine.failure_kind import Cure, FailureKind, exit_code
from twinhive.transfer.tree.tree_outcome import SyncOutcome


@pytest.mark.parametrize("kind", FailureKind)
def test_each_kind_has_a_cure_and_the_exit_code_that_says_it(kind: FailureKind) -> None:
    of_a_tree, of_a_batch = {
        Cure.REPEAT: (ExitCode.TRY_AGAIN, ExitCode.TRY_AGAIN),
        Cure.LIST: (ExitCode.TRY_AGAIN, ExitCode.ACT_NOW),
        Cure.PERSON: (ExitCode.ACT_NOW, ExitCode.ACT_NOW),
    }[kind.cure]
    assert exit_code({kind}, lists_again=True) is of_a_tree
    assert exit_code({kind}, lists_again=False) is of_a_batch


def test_a_person_comes_before_a_repetition() -> None:
    assert exit_code({FailureKind.REFUSED, FailureKind.UNREACHABLE}, lists_again=True) is ExitCode.ACT_NOW


@pytest.mark.parametrize("kind", [FailureKind.UNEXPLAINED, FailureKind.SWEPT, FailureKind.CHANGED])
def test_a_copy_of_a_tree_that_may_succeed_is_tried_again(kind: FailureKind) -> None:
    outcome = SyncOutcome()
    outcome.kinds[kind] += 1
    assert outcome.exit_code is ExitCode.TRY_AGAIN
