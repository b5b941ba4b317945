"""A text keeps its values, whatever is put before and after it, and is said in the words of its reader."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from mypy import api

from twinhive.core.model.errors import ActNow, Missing, TryAgain, TwinhiveError, together
from twinhive.core.model.text import Again, Clear, Either, Reader, Retry, StartDag, Text, commands_of, render, text_of
from twinhive.surfaces.cli.json_output import plain

AGAIN = Either("clear the task", "say it again")


@pytest.mark.parametrize(
    ("text", "for_policies", "for_statements"),
    [
        (AGAIN, "clear the task", "say it again"),
        ("mend it, then " + AGAIN, "mend it, then clear the task", "mend it, then say it again"),
        (AGAIN + "; it helps", "clear the task; it helps", "say it again; it helps"),
        ("a " + AGAIN + " b " + AGAIN, "a clear the task b clear the task", "a say it again b say it again"),
        (Either("a " + AGAIN, AGAIN + " b"), "a clear the task", "say it again b"),
        (text_of(7), "7", "7"),
        (text_of(AGAIN), "clear the task", "say it again"),
        ("mend it", "mend it", "mend it"),
    ],
)
def test_a_text_is_said_to_both_readers(text: Text, for_policies: str, for_statements: str) -> None:
    assert (render(text), render(text, Reader.STATEMENTS)) == (for_policies, for_statements)


@pytest.mark.parametrize(
    ("text", "in_airflow", "in_a_terminal"),
    [
        (
            "mend it, then " + Clear("the task apply"),
            "mend it, then clear the task apply",
            "mend it, then run the command again",
        ),
        (Retry(), "the task retries by itself", "run the command again"),
        (StartDag("consolidate", "sales"), "start the DAG sales.consolidate", "twinhive run sales consolidate"),
        (
            StartDag("bootstrap"),
            "start the DAG <policy>.bootstrap with again=true",
            "twinhive run <policy> bootstrap --again",
        ),
        (AGAIN, "clear the task", "clear the task"),
    ],
    ids=["clear", "retry", "start", "start again", "other"],
)
def test_who_runs_a_phase_in_a_terminal_has_no_task_to_clear(text: Text, in_airflow: str, in_a_terminal: str) -> None:
    assert (render(text), render(text, Reader.TERMINAL)) == (in_airflow, in_a_terminal)


@pytest.mark.parametrize(
    ("step", "in_airflow", "of_a_command", "of_a_phase", "of_a_statement"),
    [
        (Again(), "clear this task", "run the command again", "run the command again", "run the statement again"),
        (
            Again("this task with all tasks after it"),
            "clear this task with all tasks after it",
            "run the command again",
            "run the command again",
            "run the statement again",
        ),
        (Clear("the task"), "clear the task", "clear the task", "run the command again", "run the statement again"),
    ],
)
def test_what_has_met_an_error_is_a_task_or_a_command(
    step: Clear, in_airflow: str, of_a_command: str, of_a_phase: str, of_a_statement: str
) -> None:
    readers = (Reader.POLICIES, Reader.COMMANDS, Reader.TERMINAL, Reader.STATEMENTS)
    assert [render(step, reader) for reader in readers] == [in_airflow, of_a_command, of_a_phase, of_a_statement]


def test_an_error_that_is_for_somebody_already_is_for_them_in_a_terminal_too() -> None:
    error = ActNow("a", next_step=Again())
    error.reader = Reader.STATEMENTS
    assert error.in_a_terminal().words.next_step == "run the statement again"
    assert ActNow("a", next_step=Again()).in_a_terminal().words.next_step == "run the command again"


def test_where_there_is_but_one_reader_it_is_the_text_of_policies() -> None:
    assert str(AGAIN) == "clear the task"
    assert plain({"next": AGAIN}) == {"next": "clear the task"}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_equal(copied: Callable[[Either], Either]) -> None:
    assert copied(AGAIN) == AGAIN


def error() -> TwinhiveError:
    return Missing("it is " + AGAIN, found="no " + AGAIN, expected=3, next_step="mend it, then " + AGAIN)


def test_an_error_is_said_in_both_ways() -> None:
    assert str(error()) == (
        "it is clear the task\n  found:    no clear the task\n  expected: 3\n  next:     mend it, then clear the task"
    )
    assert render(error().text, Reader.STATEMENTS) == str(error()).replace("clear the task", "say it again")


def test_the_parts_of_an_error_are_for_its_reader() -> None:
    said = error()
    said.reader = Reader.STATEMENTS
    words = said.words
    assert (words.what, words.found, words.expected) == ("it is say it again", "no say it again", "3")
    assert words.next_step == "mend it, then say it again"


def test_an_error_keeps_both_ways_across_processes() -> None:
    there = pickle.loads(pickle.dumps(error()))
    assert type(there) is Missing
    assert (there.text, there.reader) == (error().text, error().reader)


def test_several_errors_are_one_that_is_said_in_both_ways() -> None:
    inner = together([TryAgain("a", next_step=AGAIN), ActNow("b")], "two inside")
    outer = together([inner, ActNow("c", next_step="wait, then " + AGAIN)], "two")
    assert str(outer) == (
        "two\n1. two inside\n1. a\n  next:     clear the task\n2. b\n2. c\n  next:     wait, then clear the task"
    )
    assert render(outer.text, Reader.STATEMENTS) == str(outer).replace("clear the task", "say it again")


def test_of_many_errors_the_first_are_shown() -> None:
    many = together([ActNow(f"no. {number}") for number in range(5)], "five", shown=2)
    assert str(many) == "five\n1. no. 0\n2. no. 1\nand 3 more, in the log"


def test_a_command_of_one_reader_is_not_the_other_s() -> None:
    text = "do: " + AGAIN
    assert commands_of(text) == ()


LOST = """
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.next_steps import STAGING_ROOT, resync
from twinhive.core.model.text import Clear, Text, render

def lost(error: TwinhiveError, text: Text | None) -> None:
    f"mend it, then {Clear('this task')}"
    f"name another {STAGING_ROOT}"
    f"bring it back: {resync('sales', 't')}"
    f"{error.what} ({error.words.found})"
    str(error.next_step)
    ", ".join(["a", error.what])
    "{}".format(text)
    f"{text!s:>10}"

def kept(error: TwinhiveError, text: Text) -> Text:
    return f"{render(text)} {error.words.what} {error}: " + text
"""


def test_the_type_checker_refuses_a_text_of_which_one_reader_s_words_are_lost(tmp_path: Path) -> None:
    (tmp_path / "twinhive_lost.py").write_text(LOST, encoding="utf-8")
    config = str(Path(__file__).parents[4] / "pyproject.toml")
    said, _, _ = api.run(["--config-file", config, "--cache-dir", f"{tmp_path}", str(tmp_path / "twinhive_lost.py")])
    lines = LOST.splitlines()
    wrong = [number for number, line in enumerate(lines, 1) if line.startswith("    ") and "return" not in line]
    assert [int(line.split(":")[1]) for line in said.splitlines() if ": error: " in line] == wrong, said
