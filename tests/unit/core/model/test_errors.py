"""Which failures are tried again is one rule."""

import pytest

from twinhive.core.model.errors import (
    ActNow,
    LeaseLost,
    Missing,
    Refused,
    SourceGone,
    TryAgain,
    TwinhiveError,
    Unexplained,
    Unreachable,
    Unwell,
    ends_unknown,
    family_of,
    may_pass,
    together,
)


def test_what_nobody_knows_is_tried_again_until_the_last_try() -> None:
    assert may_pass(Unreachable("x")) and may_pass(Unreachable("x"), is_last_try=True)
    assert may_pass(Unexplained("x")) and not may_pass(Unexplained("x"), is_last_try=True)
    assert not may_pass(Refused("x")) and not may_pass(ValueError("x"))


def test_an_answer_that_nobody_knows_is_an_answer() -> None:
    assert not ends_unknown(Unexplained("x"))


@pytest.mark.parametrize(
    ("errors", "family"),
    [
        ([Unreachable("a"), LeaseLost("b")], TryAgain),
        ([Unexplained("a"), Unreachable("b")], Unexplained),
        ([Unexplained("a"), Unexplained("b")], Unexplained),
        ([Unexplained("a"), Missing("b")], ActNow),
        ([Unreachable("a"), Missing("b")], ActNow),
    ],
)
def test_of_several_errors_a_persons_turn_comes_before_a_repetitions(
    errors: list[TwinhiveError], family: type[TwinhiveError]
) -> None:
    assert family_of(errors) is family
    assert type(together(errors, "two tables")) is family


@pytest.mark.parametrize(
    ("errors", "kind"),
    [
        ([Refused("a"), Unexplained("b")], Refused),
        ([Unexplained("a"), Refused("b")], Refused),
        ([Missing("a"), SourceGone("b"), Missing("c")], Missing),
        ([Refused("a"), Missing("b")], ActNow),
        ([Unwell("a"), Unreachable("b")], Unreachable),
    ],
)
def test_several_errors_are_one_of_the_nearest_kind_and_of_the_same_family(
    errors: list[TwinhiveError], kind: type[TwinhiveError]
) -> None:
    one = together(errors, "two tables")
    assert type(one) is kind
    assert isinstance(one, family_of(errors)) and may_pass(one) is may_pass(family_of(errors)("x"))
