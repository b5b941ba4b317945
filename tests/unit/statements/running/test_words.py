"""No error of a statement asks for what only a policy's DAGs have, and no line of its report does."""

import ast
import re
from pathlib import Path

import pytest

from tests.support.package_texts import PHRASES, PLUGINS, WAYS, texts_of
from twinhive.model.errors import ActNow, Missing, TryAgain, TwinhiveError, together
from twinhive.model.next_steps import IN_THE_POLICY_FILE, RETRIES, clear, resync
from twinhive.statements.running.words import in_words_of_statements, telling
from twinhive.step.base import Detail

# What no statement runs speaks to those who have DAGs: these packages and the commands, and some steps.
PACKAGES_NOT_RUN = {"airflow_edge", "cli", "journal", "page", "reference"}
STEPS_NOT_RUN = {
    "requests/request_files": "why a policy is paused: who forgets one has its commands",
    "incremental/event_reached": "what a sensor in a DAG waits for",
    "operations/forget": "a command of policies",
    "observe/lag": "the lag of a policy's replica",
    "observe/lag_alerts": "the alarms of the monitor's DAG",
    "operations/operation": "the DAG operate",
    "operations/pausing": "a command of policies",
    "incremental/requests": "why a window is planned again, and the mark of a table that a resync was asked for",
    "operations/skip_event": "a command of policies",
    "incremental/plan_window": "the DAG incremental; a statement names its own events",
    "incremental/window": "the DAG incremental; a statement names its own events",
}
OF_DAGS = re.compile(
    r"\bclear (?:the|this|its|that)\b|\bretries by itself\b|\bDAGs?\b|\btwinhive (?:resync|skip-event|forget|pause)\b"
    r"|\bin the policy file\b|\bstaging_root \w|\bexternal_tables\.(?:include|base_directory)\b"
)
TWO_WORDINGS = {"Wording", *WAYS, *PHRASES}
PACKAGE = PLUGINS / "twinhive"
LEFT_OUT = {PACKAGE / f"{step}.py" for step in STEPS_NOT_RUN}
RUN = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.relative_to(PACKAGE).parts[0] not in PACKAGES_NOT_RUN and path not in LEFT_OUT
]


def of_dags(tree: ast.Module) -> list[str]:
    return [text for text in texts_of(tree, for_statements=True) if OF_DAGS.search(text)]


def made_one(tree: ast.Module) -> list[str]:
    """Return the f-strings that put in a text of two wordings, and so lose the one of statements."""
    filled_in = [value for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for value in node.values]
    return [
        ast.unparse(value)
        for value in filled_in
        if any(isinstance(node, ast.Name) and node.id in TWO_WORDINGS for node in ast.walk(value))
    ]


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_what_statements_run_says_nothing_of_dags() -> None:
    assert {path.name: texts for path in RUN if (texts := of_dags(tree_of(path)))} == {}


@pytest.mark.parametrize("path", sorted(LEFT_OUT), ids=lambda path: path.stem)
def test_a_step_that_is_left_out_speaks_of_dags(path: Path) -> None:
    assert of_dags(tree_of(path))


def test_no_wording_is_lost() -> None:
    assert {path.name: texts for path in PACKAGE.rglob("*.py") if (texts := made_one(tree_of(path)))} == {}


def test_texts_are_put_together_in_both_wordings() -> None:
    code = "ActNow(BASE_DIRECTORY + f' of {policy}', next_step='move it away, then: ' + resync(name, 't'))"
    for_tasks, for_statements = ([*texts_of(ast.parse(code), for_statements=said)] for said in (False, True))
    assert for_tasks == [
        "external_tables.base_directory of 1",
        "move it away, then: twinhive resync 1 t; then clear the task window with all tasks after it",
    ]
    assert for_statements == [
        "hive.repl.replica.external.table.base.dir of 1",
        "move it away, then: two more dumps, one that leaves the table out (REPLACE) and one that takes it in again",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "ActNow('a', next_step='then clear the task apply')",
        "ActNow('a', next_step=f'start the DAG {policy}.bootstrap')",
        "ActNow('a', next_step='name it in the policy file, then ' + clear('the task'))",
        "Wording('clear the task', 'clear the task')",
    ],
)
def test_a_text_for_dags_is_found(code: str) -> None:
    assert of_dags(ast.parse(code))


@pytest.mark.parametrize(
    "code", ["f'mend it, then {clear(1)}'", "f'name another {BASE_DIRECTORY}'", "f'bring it back: {resync(1, 2)}'"]
)
def test_a_lost_wording_is_found(code: str) -> None:
    assert made_one(ast.parse(code))


def said(error: TwinhiveError) -> TwinhiveError:
    with pytest.raises(TwinhiveError) as caught, in_words_of_statements():
        raise error
    assert caught.value is error
    return error


def test_an_error_is_said_in_the_words_of_statements() -> None:
    error = said(
        Missing(
            "nothing is " + IN_THE_POLICY_FILE,
            found="no base " + IN_THE_POLICY_FILE,
            expected=1,
            next_step="mend it, then " + clear("the task apply"),
        )
    )
    with_key = "in WITH (or in the file of a policy that it is run under)"
    assert (error.what, error.found, error.expected) == (f"nothing is {with_key}", f"no base {with_key}", 1)
    assert error.next_step == "mend it, then run the statement again"


def test_each_of_several_errors_is() -> None:
    first, second = TryAgain("a", next_step=RETRIES), ActNow("b", next_step="get it: " + resync("sales", "t"))
    text = str(said(together([first, together([second, first], "two more")], "three")))
    assert not OF_DAGS.search(text)
    assert text.count("run the statement again") == 2 and "get it: two more dumps" in text


def test_an_error_that_asks_for_nothing_stays_as_it_is() -> None:
    assert str(said(ActNow("a", found=2))) == "a\n  found:    2"


def test_a_statement_within_another_says_it_once() -> None:
    error = ActNow("a", next_step="wait, then " + clear("this task"))
    assert said(said(error)).next_step == "wait, then run the statement again"


def test_lines_are_told_in_the_words_of_statements() -> None:
    told: list[str] = []
    tell, detail = telling(told.append), Detail("What is left out", "left out: t")
    for line in ("1 file", "bring it back with: " + clear("this task"), detail):
        tell(line)
    assert told[:2] == ["1 file", "bring it back with: run the statement again"]
    assert told[2] is detail
