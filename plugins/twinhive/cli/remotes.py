"""List the remotes of a local metastore (seed 004), and ask each of them."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table

from twinhive.cli.base import configuration_of, local_cluster
from twinhive.cli.connection_sources import resolver
from twinhive.cli.exits import EXIT_ACT_NOW
from twinhive.cli.json_output import print_json
from twinhive.cli.terminal import AsJson, Config, console, errors_shown, escape
from twinhive.gateway.isolation import RemoteLimits
from twinhive.gateway.probe import Probed, RemoteState, probe
from twinhive.model.errors import TwinhiveError
from twinhive.model.remotes.definitions import Definition, Definitions, RemoteDatabase
from twinhive.wiring.gateway import RemotesWiring

app = typer.Typer(rich_markup_mode=None)


@dataclass(frozen=True)
class _Row:
    definition: Definition
    address: str
    probed: Probed | None
    refused: str | None = None

    @property
    def kind(self) -> str:
        return "database" if isinstance(self.definition, RemoteDatabase) else "table"

    @property
    def state(self) -> str:
        if self.refused is not None:
            return "not allowed"
        return "" if self.probed is None else self.probed.state

    @property
    def text(self) -> str:
        return self.refused or (self.probed.text if self.probed else "")


@app.command()
def remotes(
    cluster: Annotated[
        str | None, typer.Option(help="The cluster of the local metastore; not needed where there is one only")
    ] = None,
    ask: Annotated[bool, typer.Option(help="Ask each remote whether it is there; --no-ask only lists")] = True,
    user: Annotated[str | None, typer.Option(help="Ask as this user where remotes.yaml says no other")] = None,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List remote databases and tables: what each stands for, where it is, and whether it answers.

    The exit code says that a person has to act when one is missing, is away, or is not allowed by remotes.yaml.
    """
    with errors_shown(as_json=as_json):
        configuration = configuration_of(config)
        chosen = local_cluster(configuration, cluster)
        wiring = RemotesWiring(configuration, chosen, resolver())
        rows = asyncio.run(_rows(wiring, wiring.definitions(), user, ask=ask))
    if as_json:
        print_json({"remotes": [_fields(row) for row in rows]})
    else:
        _print(rows)
    if any(row.refused or (row.probed and row.probed.state is not RemoteState.THERE) for row in rows):
        raise typer.Exit(EXIT_ACT_NOW)


async def _rows(wiring: RemotesWiring, defined: Definitions, user: str | None, *, ask: bool) -> list[_Row]:
    found: list[Definition] = [*defined.databases.values(), *defined.tables.values()]
    rows = await asyncio.gather(*(_row(wiring, one, user, ask=ask) for one in found))
    await wiring.connectors.close()
    return sorted(rows, key=lambda row: str(row.definition.local))


async def _row(wiring: RemotesWiring, definition: Definition, user: str | None, *, ask: bool) -> _Row:
    try:
        reached = wiring.reached(definition)
    except TwinhiveError as error:
        words = error.words
        return _Row(definition, "", None, f"{words.what}: found {words.found}, expected {words.expected}")
    probed = await probe(reached, definition, RemoteLimits(), user) if ask else None
    return _Row(definition, reached.name, probed)


def _fields(row: _Row) -> dict[str, Any]:
    return {
        "local": str(row.definition.local),
        "kind": row.kind,
        "remote": str(row.definition.remote),
        "via": row.definition.via,
        "address": row.address or None,
        "state": row.state or None,
        "trouble": row.text or None,
    }


def _print(rows: list[_Row]) -> None:
    table = Table("local name", "kind", "stands for", "via", "address", "state")
    for row in rows:
        color = "green" if row.state == RemoteState.THERE else "red"
        trouble = f": {escape(row.text)}" if row.text else ""
        state = f"[{color}]{row.state}{trouble}[/]" if row.state else ""
        names = (str(row.definition.local), row.kind, str(row.definition.remote), row.definition.via, row.address)
        table.add_row(*map(escape, names), state)
    console.print(table)
