"""No error may name a command that does not exist: every text of the package is searched for commands."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer

from twinhive.cli import app
from twinhive.steps.phases import PHASES

PLUGINS = Path(__file__).parents[2] / "plugins"
# Stands for whatever is put in when the text is made: a policy, a table, an id.
FILLED_IN = "1"
# A failed copy does not know the one table that is meant.
NAMED_WITHOUT_ARGUMENTS = {"resync"}
ARGUMENT = rf"{FILLED_IN}\b|<[a-z]+>|--[a-z-]+|'[^']*'|\.\.\."
COMMAND = re.compile(rf"\btwinhive ([a-z-]+)((?: (?:{ARGUMENT}))*)")
DAG = re.compile(rf"the DAG {FILLED_IN}\.(\w+)|the policy's (\w+) DAG")
AGAIN = re.compile(rf"(?:the DAG {FILLED_IN}\.(\w+)|the policy's (\w+) DAG) with again=true")


def texts(source: str) -> Iterator[str]:
    """Yield all texts of a module but docstrings, with what is filled in replaced."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in docstrings or id(node) in parts:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else FILLED_IN for part in node.values)


def wrong_commands(text: str) -> list[str]:
    """Return what is wrong with the commands that a text names."""
    return [
        f"{match[0]}: {problem}"
        for match in COMMAND.finditer(text)
        if _is_a_command(match, text) and (problem := _problem(match[1], match[2].split()))
    ]


def _is_a_command(match: re.Match[str], text: str) -> bool:
    """True for the name of a command; prose such as 'a version of twinhive that' goes on without arguments."""
    return bool(match[2]) or text[: match.start()].endswith(("with: ", "with ", ": ")) or text == match[0]


def _problem(name: str, words: list[str]) -> str | None:
    command = typer.main.get_command(app).get_command(None, name)
    if command is None:
        return "there is no such command"
    if not words and name in NAMED_WITHOUT_ARGUMENTS:
        return None
    try:
        command.make_context(name, words)
    except typer.Exit:  # --help, which is no mistake
        return None
    except (click.UsageError, typer.BadParameter) as error:
        return error.format_message()
    except Exception as error:  # typer brings its own copy of click's errors
        return str(getattr(error, "message", error))
    return None


MODULES = sorted(PLUGINS.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PLUGINS)))
def test_every_command_that_a_text_names_exists_with_these_arguments(path: Path) -> None:
    found = [wrong for text in texts(path.read_text(encoding="utf-8")) for wrong in wrong_commands(text)]
    assert found == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PLUGINS)))
def test_every_dag_that_a_text_names_exists(path: Path) -> None:
    for text in texts(path.read_text(encoding="utf-8")):
        assert {one or other for one, other in DAG.findall(text)} <= {*PHASES, "scan", "operate"}, text
        assert {one or other for one, other in AGAIN.findall(text)} <= {"bootstrap"}, text


def test_there_are_commands_to_look_at() -> None:
    named = [
        match[1]
        for path in MODULES
        for text in texts(path.read_text(encoding="utf-8"))
        for match in COMMAND.finditer(text)
        if _is_a_command(match, text)
    ]
    assert {"resync", "skip-event", "pause", "forget", "check", "policies"} <= set(named)


@pytest.mark.parametrize(
    "text",
    [
        "bring it back with: twinhive resync 1",
        "bring it back with: twinhive resync 1 1 1",
        "do it with: twinhive mend 1",
        "pass it over: twinhive skip-event 1 1",
        "look with: twinhive status 1 --deep",
    ],
)
def test_a_command_that_is_not_there_is_found(text: str) -> None:
    assert wrong_commands(text)


RUNBOOKS = (PLUGINS.parent / "docs" / "runbooks.md").read_text(encoding="utf-8")
ERRORS = re.findall(r"^\| (`.*?) \|", RUNBOOKS, re.MULTILINE)


def test_the_runbooks_name_commands_that_exist() -> None:
    lines = [line for line in RUNBOOKS.splitlines() if line.startswith("twinhive ")]
    typed = [re.sub(r"\b[A-Z]+\b", FILLED_IN, re.split(r"  +", line)[0]) for line in lines]
    assert len(typed) > 5
    for line in typed:
        assert COMMAND.match(line), line
        words = COMMAND.sub(r"\1\2", line).replace("bootstrap", FILLED_IN).split()
        assert _problem(words[0], words[1:]) is None, line


def test_the_runbooks_explain_errors_that_exist() -> None:
    said = "\n".join(text for path in MODULES for text in texts(path.read_text(encoding="utf-8")))
    pieces = {piece.strip() for row in ERRORS for text in re.findall("`(.*?)`", row) for piece in text.split("...")}
    assert len(pieces) > 30
    assert [piece for piece in sorted(pieces) if piece not in said] == []
