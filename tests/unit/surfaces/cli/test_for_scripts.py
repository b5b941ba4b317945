"""What scripts rely on: one document on standard output, errors too, and exit codes that mean something."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from tests.support.policy_terminal import Terminal
from twinhive.core.model.errors import (
    CopyDiffers,
    InvalidSettings,
    Missing,
    Refused,
    SafeMode,
    TwinhiveError,
    Unreachable,
)
from twinhive.surfaces.cli import operations_command as cli_operations
from twinhive.surfaces.cli.app import app, run
from twinhive.surfaces.cli.exits import EXITS
from twinhive.surfaces.cli.json_output import plain
from twinhive.transfer.tree.file_actions import Compared

COMMANDS = typer.main.get_command(app).list_commands(None)  # type: ignore[attr-defined]
DOCUMENTS = (
    ("status",),
    ("status", "sales"),
    ("plan", "sales", "incremental"),
    ("run", "sales", "incremental"),
    ("run", "sales", "external"),
    ("events", "sales"),
    ("check",),
    ("check", "--servers"),
    ("policies",),
    ("resync", "sales", "plain"),
    ("pause", "sales", "--reason", "why"),
    ("unlock", "sales"),
    ("forget", "sales", "--dry-run"),
    ("retire", "sales"),
)


@pytest.mark.parametrize("words", DOCUMENTS, ids=" ".join)
def test_a_command_prints_one_document_and_nothing_else(published: Terminal, words: tuple[str, ...]) -> None:
    assert isinstance(published.document(*words), dict)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_but_version_has_the_option(name: str) -> None:
    command: Any = typer.main.get_command(app).get_command(None, name)  # type: ignore[attr-defined]
    assert ("--json" in {option for param in command.params for option in param.opts}) == (name != "version")


@pytest.mark.parametrize(
    ("error", "code", "family"),
    [
        (Unreachable("down"), 3, "try_again"),
        (SafeMode("safe"), 3, "try_again"),
        (CopyDiffers("differs"), 3, "try_again"),
        (InvalidSettings("wrong", found=1, expected=2, next_step="mend it"), 4, "act_now"),
        (Missing("gone"), 4, "act_now"),
        (Refused("refused"), 4, "act_now"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_has_the_exit_code_of_its_family(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, error: TwinhiveError, code: int, family: str
) -> None:
    def fail(*words: object, **more: object) -> None:
        raise error

    monkeypatch.setattr(cli_operations, "wiring_of", fail)
    said = terminal.type("unlock", "sales", code=code)
    assert error.what in said and "Traceback" not in said
    document = terminal.document("unlock", "sales", code=code)
    assert document["exit_code"] == code
    assert document["error"] == {
        "family": family,
        "kind": type(error).__name__,
        "what": error.what,
        "found": None if error.found is None else str(error.found),
        "expected": None if error.expected is None else str(error.expected),
        "next": error.next_step,
        "commands": [],
    }


@pytest.mark.parametrize(
    ("words", "what", "next_step"),
    [
        (("nonsense",), "No such command 'nonsense'.", "twinhive --help"),
        (("status", "--nonsense"), "No such option: --nonsense", "twinhive status --help"),
        (("plan", "sales", "sleep"), "'sleep' is not a phase", "twinhive plan --help"),
        (("skip-event", "sales"), "Missing argument 'ID'", "twinhive skip-event --help"),
    ],
)
def test_wrong_usage_is_a_document_too(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], what: str, next_step: str
) -> None:
    assert run([*words, "--json"]) == 2
    written = capsys.readouterr()
    document = json.loads(written.out)
    assert what in document["error"]["what"]
    assert (document["error"]["family"], document["error"]["next"], document["exit_code"]) == ("usage", next_step, 2)
    assert run(words) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_interrupted_from_the_keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*words: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_operations, "wiring_of", interrupt)
    assert run(["unlock", "sales"]) == 130


def test_the_help_explains_every_exit_code() -> None:
    result: Result = CliRunner().invoke(app, ["--help"])
    for code, meaning in EXITS.items():
        assert f"{code:>4}  {meaning}" in result.output


PROGRAM = (sys.executable, "-c", "import twinhive.surfaces.cli.app; twinhive.surfaces.cli.app.main()")
PLUGINS = Path(__file__).parents[4] / "plugins"


def test_a_process_ends_with_the_code_and_without_colour_on_a_pipe(terminal: Terminal) -> None:
    words = (*PROGRAM, "check", "nowhere", "--config", str(terminal.policies.directory))
    ended = subprocess.run(words, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(PLUGINS)})
    assert (ended.returncode, ended.stdout) == (4, "")
    assert "there is no policy nowhere" in ended.stderr and "\x1b" not in ended.stderr


def test_a_check_imports_neither_servers_nor_steps() -> None:
    """What makes a command slow to start is what it imports."""
    slow = ("jpype", "thrift", "twinhive.runtime.pipeline", "twinhive.runtime.wiring.policy_wiring", "pyspark")
    seen = f"print([n for n in {slow} if n in sys.modules])"
    program = f"import sys, twinhive.surfaces.cli.app as c; c.run(['check', '--config', sys.argv[1]]); {seen}"
    words = (sys.executable, "-c", program, str(PLUGINS.parent / "dags"))
    ended = subprocess.run(words, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(PLUGINS)})
    assert ended.stdout.splitlines()[-1] == "[]"


def test_names_of_counters_are_written_by_their_values() -> None:
    assert plain({Compared.CHECKSUM: 2, "kept": {Compared.TIME: 1}}) == {"checksum": 2, "kept": {"length and time": 1}}
