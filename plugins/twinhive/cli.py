"""Run and inspect policies from a terminal: the same stages as the DAGs, without Airflow.

Exit codes: 0 done, 2 wrong usage, 3 try again later, 4 a person must act first.
"""

import getpass
import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from twinhive import __version__
from twinhive.domain.errors import ActNow, TryAgain, TwinhiveError
from twinhive.domain.marks import ReplicaState
from twinhive.settings import (
    Configuration,
    PolicyEntry,
    default_directory,
    load_configuration,
    resolve_from_environment,
)
from twinhive.steps.phase_run import run_phase
from twinhive.steps.phases import PHASES
from twinhive.steps.replica_state import read_state
from twinhive.wiring import Wiring

EXIT_USAGE = 2
EXIT_TRY_AGAIN = 3
EXIT_ACT_NOW = 4

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__, pretty_exceptions_enable=False)
console = Console()
errors = Console(stderr=True)

PolicyName = Annotated[str, typer.Argument(help="Name of a policy; list them with: twinhive policies")]
Config = Annotated[
    Path | None,
    typer.Option(help="Directory of clusters.yaml and policies/. Default: $TWINHIVE_CONFIG, else ./dags"),
]


@contextmanager
def _said_plainly() -> Iterator[None]:
    """Turn our errors into a message and an exit code; a traceback would help nobody."""
    try:
        yield
    except TwinhiveError as error:
        family = "try again later" if isinstance(error, TryAgain) else "a person must act first"
        errors.print(f"[bold red]error[/] ({family}): {escape(str(error))}", highlight=False, soft_wrap=True)
        raise typer.Exit(EXIT_TRY_AGAIN if isinstance(error, TryAgain) else EXIT_ACT_NOW) from None


def _load(config: Path | None) -> Configuration:
    directory = config or default_directory()
    if not directory.is_dir():
        raise ActNow(
            f"there is no configuration directory {directory}",
            expected="a directory with clusters.yaml and policies/",
            next_step="name it with --config, or set TWINHIVE_CONFIG",
        )
    return load_configuration(directory)


@app.command()
def version() -> None:
    """Print the version."""
    console.print(__version__)


@app.command()
def policies(config: Config = None) -> None:
    """List all policies, usable or not."""
    with _said_plainly():
        entries = _load(config).policies
    table = Table("policy", "source", "replica", "file", "state")
    for entry in sorted(entries.values(), key=lambda entry: entry.name):
        table.add_row(*_row(entry))
    console.print(table)


def _row(entry: PolicyEntry) -> tuple[str, ...]:
    state = f"[red]{escape(entry.error)}[/]" if entry.error else "[green]usable[/]"
    if entry.settings is None:
        return entry.name, "", "", entry.path.name, state
    source, replica = entry.settings.source, entry.settings.replica
    return (
        entry.name,
        f"{source.cluster}/{source.database}",
        f"{replica.cluster}/{replica.database}",
        entry.path.name,
        state,
    )


@app.command()
def check(
    policy: Annotated[str | None, typer.Argument(help="One policy; without it, all")] = None,
    config: Config = None,
) -> None:
    """Validate the configuration without touching any server."""
    with _said_plainly():
        configuration = _load(config)
        names = [policy] if policy else sorted(configuration.policies)
        broken = [entry for entry in map(configuration.policy, names) if entry.error]
        for entry in broken:
            errors.print(f"[red]{escape(entry.error or '')}[/]", highlight=False, soft_wrap=True)
        if broken:
            raise typer.Exit(EXIT_ACT_NOW)
        console.print(f"{len(names)} policies can be used")


@app.command()
def status(policy: PolicyName, config: Config = None) -> None:
    """Show how far the replica of a policy is."""
    with _said_plainly():
        wiring = Wiring.of(_load(config), policy, resolve_from_environment)
        ports = wiring.read_ports()
        state = read_state(ports.replica, wiring.policy, ports.source.log_id())
        _print_status(wiring, state, ports.source.current_event_id())


def _print_status(wiring: Wiring, state: ReplicaState, newest: int) -> None:
    table = Table(show_header=False)
    table.add_row("policy", wiring.policy.name)
    table.add_row("source", str(wiring.policy.source))
    table.add_row("replica", str(wiring.policy.replica))
    table.add_row("phase", state.phase.value)
    table.add_row("replicated event id", "" if state.last_event_id is None else str(state.last_event_id))
    table.add_row("newest event id of the source", str(newest))
    table.add_row("dump", state.dump or "")
    console.print(table)


@app.command()
def retire(policy: PolicyName, config: Config = None) -> None:
    """Take a policy's mark off its source database, whose dropped files are kept for it until then.

    Hive refuses to drop a database that carries marks. The replica stays as it is.
    """
    with _said_plainly():
        wiring = Wiring.of(_load(config), policy, resolve_from_environment)
        wiring.write_ports().source_marker.unmark(wiring.policy.source.database, policy)
        console.print(f"{wiring.policy.source} carries no mark of {policy} any more")


@app.command()
def run(
    policy: PolicyName,
    phase: Annotated[str, typer.Argument(help=f"One of: {', '.join(PHASES)}")],
    config: Config = None,
) -> None:
    """Run a phase here and now, copying in this process instead of by Spark."""
    if phase not in PHASES:
        raise typer.BadParameter(f"{phase!r} is not a phase; expected one of {', '.join(PHASES)}")
    with _said_plainly():
        wiring = Wiring.of(_load(config), policy, resolve_from_environment)
        holder = {"run": f"terminal-{uuid.uuid4().hex[:8]}", "task": phase, "by": getpass.getuser()}
        run_phase(PHASES[phase], wiring.policy, wiring.write_ports(), holder, _say)


def _say(line: str) -> None:
    console.print(escape(line), highlight=False, soft_wrap=True)


def main() -> None:
    """Run the command line; leave at once, because a JVM in this process may take its time."""
    try:
        # Without its standalone mode the command returns the code of an Exit instead of raising it.
        code = app(standalone_mode=False) or 0
    except typer.Abort:
        code = 130
    except Exception as error:
        # Wrong usage explains itself; everything else is a defect and deserves its traceback.
        if not hasattr(error, "show"):
            raise
        error.show()
        code = EXIT_USAGE
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
