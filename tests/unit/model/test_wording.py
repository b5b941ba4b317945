"""A text of two wordings keeps both, whatever is put before and after it."""

import copy
import json
import pickle
from collections.abc import Callable

import pytest

from twinhive.model.errors import ActNow, Missing, TryAgain, TwinhiveError, together
from twinhive.model.wording import Wording, said_for_statements

AGAIN = Wording("clear the task", "say it again")


@pytest.mark.parametrize(
    ("text", "for_tasks", "for_statements"),
    [
        (AGAIN, "clear the task", "say it again"),
        ("mend it, then " + AGAIN, "mend it, then clear the task", "mend it, then say it again"),
        (AGAIN + "; it helps", "clear the task; it helps", "say it again; it helps"),
        ("a " + AGAIN + " b " + AGAIN, "a clear the task b clear the task", "a say it again b say it again"),
        (Wording.of(7), "7", "7"),
        (Wording.of(AGAIN), "clear the task", "say it again"),
    ],
)
def test_both_wordings_are_put_together(text: Wording, for_tasks: str, for_statements: str) -> None:
    assert (str(text), text.for_statements) == (for_tasks, for_statements)
    assert said_for_statements(text) == for_statements


def test_a_text_with_one_wording_is_said_as_it_is() -> None:
    assert said_for_statements("mend it") == "mend it"


def test_where_there_is_but_one_reader_it_is_the_text_of_tasks() -> None:
    assert AGAIN == "clear the task"
    assert json.loads(json.dumps({"next": AGAIN})) == {"next": "clear the task"}
    assert type(str(AGAIN)) is str


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_has_both_wordings(copied: Callable[[Wording], Wording]) -> None:
    assert copied(AGAIN) == AGAIN
    assert copied(AGAIN).for_statements == AGAIN.for_statements


def error() -> TwinhiveError:
    return Missing("it is " + AGAIN, found="no " + AGAIN, expected=3, next_step="mend it, then " + AGAIN)


def test_an_error_is_said_in_both_ways() -> None:
    assert str(error()) == (
        "it is clear the task\n  found:    no clear the task\n  expected: 3\n  next:     mend it, then clear the task"
    )
    assert error().text.for_statements == str(error()).replace("clear the task", "say it again")
    assert type(str(error())) is str


def test_an_error_keeps_both_ways_across_processes() -> None:
    there = pickle.loads(pickle.dumps(error()))
    assert type(there) is Missing
    assert (there.text, there.text.for_statements) == (error().text, error().text.for_statements)


def test_several_errors_are_one_that_is_said_in_both_ways() -> None:
    inner = together([TryAgain("a", next_step=AGAIN), ActNow("b")], "two inside")
    outer = together([inner, ActNow("c", next_step="wait, then " + AGAIN)], "two")
    assert str(outer) == (
        "two\n1. two inside\n1. a\n  next:     clear the task\n2. b\n2. c\n  next:     wait, then clear the task"
    )
    assert outer.text.for_statements == str(outer).replace("clear the task", "say it again")


def test_of_many_errors_the_first_are_shown() -> None:
    many = together([ActNow(f"no. {number}") for number in range(5)], "five", shown=2)
    assert str(many) == "five\n1. no. 0\n2. no. 1\nand 3 more, in the log"
