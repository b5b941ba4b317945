"""Look at the configuration: which policies there are, and whether they can be used."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from twinhive import __version__
from twinhive.cli_base import configuration_of, wiring_of
from twinhive.cli_exits import exit_of
from twinhive.cli_json import error_fields, print_json
from twinhive.cli_terminal import AsJson, Config, console, said_plainly, say, show_error
from twinhive.domain.errors import TwinhiveError
from twinhive.settings import PolicyEntry

app = typer.Typer(rich_markup_mode=None)


@app.command()
def version() -> None:
    """Print the version."""
    say(__version__)


@app.command()
def policies(as_json: AsJson = False, config: Config = None) -> None:
    """List all policies, usable or not."""
    with said_plainly(as_json=as_json):
        entries = sorted(configuration_of(config).policies.values(), key=lambda entry: entry.name)
    if as_json:
        print_json({"policies": [_fields(entry) for entry in entries]})
        return
    table = Table("policy", "source", "replica", "file", "state")
    for entry in entries:
        state = f"[red]{escape(entry.error)}[/]" if entry.error else "[green]usable[/]"
        table.add_row(entry.name, *_sides(entry), escape(entry.path.name), state)
    console.print(table)


def _sides(entry: PolicyEntry) -> tuple[str, str]:
    if entry.settings is None:
        return "", ""
    source, replica = entry.settings.source, entry.settings.replica
    return f"{source.cluster}/{source.database}", f"{replica.cluster}/{replica.database}"


def _fields(entry: PolicyEntry) -> dict[str, Any]:
    source, replica = _sides(entry)
    return {
        "policy": entry.name,
        "source": source or None,
        "replica": replica or None,
        "file": str(entry.path),
        "usable": entry.error is None,
        "trouble": entry.error,
    }


@app.command()
def check(
    policy: Annotated[str | None, typer.Argument(metavar="POLICY", help="One policy; without it, all")] = None,
    servers: Annotated[
        bool,
        typer.Option(
            "--servers",
            help="Ask the servers of both clusters too, as a bootstrap does before it starts; changes nothing.",
        ),
    ] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Validate the configuration.

    No server is touched unless told to. Every policy is checked, whatever is wrong with others. The exit code is that
    of the worst.
    """
    with said_plainly(as_json=as_json):
        configuration = configuration_of(config)
        entries = (
            [configuration.policy(policy)]
            if policy
            else [configuration.policies[n] for n in sorted(configuration.policies)]
        )
    found: dict[str, list[TwinhiveError]] = {}
    for entry in entries:
        found[entry.name] = _problems_of_file(entry) or (_problems_of_servers(config, entry.name) if servers else [])
        if not as_json:
            _show(entry.name, found[entry.name], servers=servers)
    problems = [problem for some in found.values() for problem in some]
    if as_json:
        checked = [{"policy": name, "problems": [error_fields(one) for one in some]} for name, some in found.items()]
        print_json({"policies": checked, "exit_code": exit_of(*problems)})
    elif not problems:
        say(f"{len(entries)} policies can be used")
    if problems:
        raise typer.Exit(exit_of(*problems))


def _problems_of_file(entry: PolicyEntry) -> list[TwinhiveError]:
    try:
        entry.usable()
    except TwinhiveError as error:
        return [error]
    return []


def _problems_of_servers(config: Path | None, policy: str) -> list[TwinhiveError]:
    # Imported here because a mere check of files would wait for them.
    from twinhive.steps.base import Work
    from twinhive.steps.preflight import Preflight

    try:
        wiring = wiring_of(config, policy)
        return Preflight(Work(wiring.policy)).problems(wiring.write_ports())
    except TwinhiveError as error:
        return [error]


def _show(policy: str, problems: list[TwinhiveError], *, servers: bool) -> None:
    for problem in problems:
        show_error(problem, policy)
    if servers and not problems:
        say(f"{policy}: both clusters are as a bootstrap needs them")
