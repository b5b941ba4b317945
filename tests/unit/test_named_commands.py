"""No text may name a command, DAG or task that does not exist: the package's errors, README and docs are searched."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer

from tests.support.package_texts import FILLED_IN, MODULES, PLUGINS, texts
from twinhive.operations.failover.fence.fencing import FENCE
from twinhive.operations.failover.proof import PROVE_QUIET
from twinhive.runtime.pipeline.phases import HAND_OVERS, PHASES, PLACEMENT_PHASES
from twinhive.surfaces.cli.app import app
from twinhive.surfaces.page.dag_runs import ALL

# A failed copy does not know the one table that is meant.
NAMED_WITHOUT_ARGUMENTS = {"resync"}
GROUP: Any = typer.main.get_command(app)
ARGUMENT = rf"{FILLED_IN}\b|<[a-z]+>|--[a-z-]+|'[^']*'|\.\.\.|(?:{'|'.join((*PHASES, *PLACEMENT_PHASES))})\b"
# Options of all commands stand before the command's name.
OF_ALL = {option for parameter in GROUP.params for option in parameter.opts}
COMMAND = re.compile(rf"\btwinhive (?:(?:{'|'.join(sorted(OF_ALL))}) )?([a-z][a-z-]*)((?: (?:{ARGUMENT}))*)")
DAG = re.compile(rf"the DAG {FILLED_IN}\.(\w+)|the policy's (\w+) DAG")
AGAIN = re.compile(rf"(?:the DAG {FILLED_IN}\.(\w+)|the policy's (\w+) DAG) with again=true")


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
    command = GROUP.get_command(None, name)
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


def said() -> Iterator[tuple[str, str]]:
    """Yield each text of the package with the module it stands in."""
    for path in MODULES:
        for text in texts(path):
            yield str(path.relative_to(PLUGINS)), text


def test_every_command_that_a_text_names_exists_with_these_arguments() -> None:
    assert [(where, wrong) for where, text in said() for wrong in wrong_commands(text)] == []


def test_every_dag_that_a_text_names_exists() -> None:
    for where, text in said():
        named = {one or other for one, other in DAG.findall(text)}
        assert named <= {*PHASES, *PLACEMENT_PHASES, "scan", "operate", "give_up", "failover"}, (where, text)
        assert {one or other for one, other in AGAIN.findall(text)} <= {"bootstrap"}, (where, text)


def test_there_are_commands_to_look_at() -> None:
    named = [match[1] for _, text in said() for match in COMMAND.finditer(text) if _is_a_command(match, text)]
    assert {"resync", "skip-event", "pause", "forget", "check", "policies"} <= set(named)


@pytest.mark.parametrize(
    "text",
    [
        "pass it over with: twinhive skip-event sales",
        "bring it back with: twinhive resync 1 1 1",
        "do it with: twinhive mend 1",
        "pass it over: twinhive skip-event 1 1",
        "look with: twinhive status 1 --deep",
    ],
)
def test_a_command_that_is_not_there_is_found(text: str) -> None:
    assert wrong_commands(text)


TASK = re.compile(r"clear the task (?!that\b|with\b|of\b|again\b|which\b)([a-z_]+)")
TASKS = (
    {stage.name for stages in (*PHASES.values(), *PLACEMENT_PHASES.values()) for stage in stages}
    | {hand_over.name for some in HAND_OVERS.values() for hand_over in some}
    | {PROVE_QUIET, FENCE}
)


def test_every_task_that_a_text_names_exists() -> None:
    for where, text in said():
        assert set(TASK.findall(text)) <= TASKS | {FILLED_IN}, (where, text)


def test_there_are_tasks_to_look_at() -> None:
    assert {"apply", "load", "list_files", "preflight"} <= {name for _, text in said() for name in TASK.findall(text)}


PAGES = sorted([*(PLUGINS.parent / "docs").glob("*.md"), PLUGINS.parent / "README.md"])
PLACEHOLDER = re.compile(r"\[?[A-Z]{2,}\]?(\.\.\.)?")
IN_A_LINE = re.compile(r"^twinhive (.+?)(?:  .*| # .*)?$", re.MULTILINE)
IN_A_SENTENCE = re.compile(r"`twinhive ([^`|]+)`")
DAG_ID = re.compile(r"`?<policy>\.(\w+)|airflow dags \w+ \w+\.(\w+)")
NOT_DAGS = {"tables"}  # the name of an asset


def typed(text: str) -> list[str]:
    """Return the command lines of a page, without the name of the program."""
    return IN_A_LINE.findall(text) + [" ".join(one.split()) for one in IN_A_SENTENCE.findall(text)]


def wrong_line(line: str) -> str | None:
    """Return what is wrong with a command line of a page."""
    words = [FILLED_IN if PLACEHOLDER.fullmatch(word) else word for word in shlex.split(line)]
    name, *arguments = words[1:] if words[0] in OF_ALL else words
    if name == "...":
        return None
    if not arguments:
        # A page may speak of a command without typing it.
        return None if GROUP.get_command(None, name) else "there is no such command"
    if name in ("run", "plan") and len(arguments) > 1 and arguments[1] not in {*PHASES, *PLACEMENT_PHASES, FILLED_IN}:
        return f"{arguments[1]} is no phase"
    return _problem(name, arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_exists_with_its_options(page: Path) -> None:
    lines = typed(page.read_text(encoding="utf-8"))
    assert {line: problem for line in lines if (problem := wrong_line(line))} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_dag_of_a_page_exists(page: Path) -> None:
    named = {one or other for one, other in DAG_ID.findall(page.read_text(encoding="utf-8"))}
    assert named <= {*ALL, *PLACEMENT_PHASES} | NOT_DAGS


def test_pages_are_searched() -> None:
    lines = [line for page in PAGES for line in typed(page.read_text(encoding="utf-8"))]
    assert len(lines) > 60
    assert {line.split()[0] for line in lines} >= {"status", "plan", "run", "copy", "events", "check", "skip-event"}


@pytest.mark.parametrize(
    "line", ["mend sales", "status --deep", "run sales sleep", "skip-event 1 --reason", "resync --all", "nonsense"]
)
def test_a_line_that_cannot_be_typed_is_found(line: str) -> None:
    assert wrong_line(line)


RUNBOOKS = (PLUGINS.parent / "docs" / "runbooks.md").read_text(encoding="utf-8")
ERRORS = re.findall(r"^\| (`.*?) \|", RUNBOOKS, re.MULTILINE)


def test_the_runbooks_explain_errors_that_exist() -> None:
    said = "\n".join(text for path in MODULES for text in texts(path))
    pieces = {piece.strip() for row in ERRORS for text in re.findall("`(.*?)`", row) for piece in text.split("...")}
    assert len(pieces) > 30
    assert [piece for piece in sorted(pieces) if piece not in said] == []
