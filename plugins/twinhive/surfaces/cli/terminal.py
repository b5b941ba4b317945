"""The terminal of all commands: where they print, how they fail, who they say they are."""

import getpass
import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twinhive.core.model.errors import TryAgain, TwinhiveError
from twinhive.core.model.printable import printable
from twinhive.core.model.text import Reader, Text, render
from twinhive.surfaces.cli.exits import exit_of
from twinhive.surfaces.cli.json_output import error_document, print_json

if TYPE_CHECKING:
    from rich.console import Console

    console: Console
    errors: Console

# Where nobody sees a width, tables take what they need: their lines are for grep.
_NO_WIDTH = 10_000


@cache
def _console(*, stderr: bool) -> "Console":
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() or "COLUMNS" in os.environ else _NO_WIDTH)


def __getattr__(name: str) -> Any:
    """Make a console when it is wanted first: a publisher runs for weeks, and needs none of their 2 MB."""
    if name in ("console", "errors"):
        return _console(stderr=name == "errors")
    raise AttributeError(name)


Config = Annotated[
    Path | None,
    typer.Option(help="Directory of clusters.yaml and policies/. Default: $TWINHIVE_CONFIG, else ./dags"),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON document, and nothing else, on standard output; errors too, with the same codes."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")]
NOTHING_CHANGED = "dry run: nothing was changed"


@contextmanager
def without_airflow() -> Iterator[None]:
    """Run a phase inside: what an error asks for is something that can be done in this terminal."""
    try:
        yield
    except TwinhiveError as error:
        error.reader = Reader.TERMINAL
        raise


def escape(text: str) -> str:
    """Return a text from outside as it is printed: nothing in it is markup, and no terminal obeys it."""
    from rich.markup import escape as without_markup

    return without_markup(printable(text))


@contextmanager
def errors_shown(*, as_json: bool = False) -> Iterator[None]:
    """Turn our errors into a message, or a document, and an exit code; a traceback would help nobody."""
    try:
        yield
    except TwinhiveError as error:
        if as_json:
            print_json(error_document(error))
        else:
            show_error(error)
        raise typer.Exit(exit_of(error)) from None


def show_error(error: TwinhiveError, of: str = "") -> None:
    """Print an error, of a policy where there are several, where it does not mix with results."""
    family = "try again later" if isinstance(error, TryAgain) else "a person must act first"
    _console(stderr=True).print(
        f"[bold red]error[/]{of and f' in policy {of}'} ({family}): {escape(str(error.in_a_terminal()))}",
        highlight=False,
        soft_wrap=True,
    )


def waiting(what: str) -> AbstractContextManager[object]:
    """Say on a terminal what a command is waiting for, until it is there."""
    errors = _console(stderr=True)
    return errors.status(what) if errors.is_terminal else nullcontext()


def holder_of(task: str) -> dict[str, str]:
    """Say who runs a command, for the lease and for people."""
    return {"run": f"terminal-{uuid.uuid4().hex[:8]}", "task": task, "by": getpass.getuser()}


def say(*lines: Text) -> None:
    """Print lines as they are."""
    for line in lines:
        _console(stderr=False).print(escape(render(line)), highlight=False, soft_wrap=True)


def print_stderr(*lines: Text) -> None:
    """Print lines of progress where they do not mix with results."""
    for line in lines:
        _console(stderr=True).print(escape(render(line)), highlight=False, soft_wrap=True)
