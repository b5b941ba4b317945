"""Be the terminal of all commands: where they print, how they fail, who they say they are."""

import getpass
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from twinhive.domain.errors import TryAgain, TwinhiveError

EXIT_USAGE = 2
EXIT_TRY_AGAIN = 3
EXIT_ACT_NOW = 4

console = Console()
errors = Console(stderr=True)

Config = Annotated[
    Path | None,
    typer.Option(help="Directory of clusters.yaml and policies/. Default: $TWINHIVE_CONFIG, else ./dags"),
]


@contextmanager
def said_plainly() -> Iterator[None]:
    """Turn our errors into a message and an exit code; a traceback would help nobody."""
    try:
        yield
    except TwinhiveError as error:
        family = "try again later" if isinstance(error, TryAgain) else "a person must act first"
        errors.print(f"[bold red]error[/] ({family}): {escape(str(error))}", highlight=False, soft_wrap=True)
        raise typer.Exit(EXIT_TRY_AGAIN if isinstance(error, TryAgain) else EXIT_ACT_NOW) from None


def holder_of(task: str) -> dict[str, str]:
    """Say who runs a command, for the lease and for people."""
    return {"run": f"terminal-{uuid.uuid4().hex[:8]}", "task": task, "by": getpass.getuser()}


def say(*lines: str) -> None:
    """Print lines as they are."""
    for line in lines:
        console.print(escape(line), highlight=False, soft_wrap=True)
