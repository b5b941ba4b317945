"""List the remotes of a local metastore (seed 004), and ask each of them."""

import asyncio
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from rich.table import Table

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteDatabase
from twinhive.core.model.text import Text, render
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.probe import Probed, RemoteState, probe
from twinhive.replication.verify.remote_replicas import RemoteTwin
from twinhive.runtime.settings import Configuration
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring
from twinhive.surfaces.cli.command_line import configuration_of, local_cluster
from twinhive.surfaces.cli.connection_sources import resolver
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.remote import remote_rights
from twinhive.surfaces.cli.remote import remotes_check as remote_twins
from twinhive.surfaces.cli.remote.remote_rights import NO_RIGHTS, FileRights
from twinhive.surfaces.cli.terminal import AsJson, Config, console, errors_shown, escape, waiting

app = typer.Typer(rich_markup_mode=None)
_CHECK = "check"


@dataclass(frozen=True)
class _Row:
    definition: Definition
    address: str
    probed: Probed | None
    refused: str | None = None
    twins: tuple[RemoteTwin, ...] = ()
    files: FileRights = NO_RIGHTS

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

    @property
    def lines(self) -> list[Text]:
        """What is said of its files and its twins."""
        identity = self.probed.identity if self.probed else None
        itself = self.probed.itself(self.definition) if self.probed else ()
        what = ", ".join(filter(None, (*itself, f"metastore {identity}")))
        said = [f"{self.definition.local}: {what}"] if identity else []
        local = str(self.definition.local)
        return [*said, *remote_rights.lines(local, self.files), *remote_twins.lines(local, self.twins)]


@app.command()
def remotes(
    what: Annotated[
        str | None, typer.Argument(metavar="[check]", help="check: compare each remote with the replicas of it")
    ] = None,
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
    With `check` it is also said which metastore each remote is, whose users may change its tables' files in HDFS, and,
    where a policy replicates the same object, whether the replica equals it now, and since when not: then the exit code
    is that of `twinhive verify`.
    """
    if what not in (None, _CHECK):
        raise typer.BadParameter(f"{what!r} is not known; expected check, or nothing")
    if what and not ask:
        raise typer.BadParameter("--no-ask asks nobody, and check asks all")
    with errors_shown(as_json=as_json):
        configuration = configuration_of(config)
        chosen = local_cluster(configuration, cluster)
        wiring = RemotesWiring(configuration, chosen, resolver())
        rows = asyncio.run(_rows(wiring, wiring.definitions(), user, ask=ask, identify=what is not None))
        troubles: list[Text] = []
        if what:
            with waiting("comparing replicas"):
                rows, troubles = _compared(configuration, rows)
                rows = [replace(row, files=_file_rights(row, wiring)) for row in rows]
    if as_json:
        more = {"troubles": [render(one) for one in troubles]} if what else {}
        print_json({"remotes": [_fields(row, with_twins=what is not None) for row in rows], **more})
    else:
        _print(rows)
        remote_twins.say_lines([*(line for row in rows for line in row.lines), *troubles])
    if any(row.refused or (row.probed and row.probed.state is not RemoteState.THERE) for row in rows):
        raise typer.Exit(ExitCode.ACT_NOW)
    if code := remote_twins.exit_of([twin for row in rows for twin in row.twins]):
        raise typer.Exit(code)


def _compared(configuration: Configuration, rows: list[_Row]) -> tuple[list[_Row], list[Text]]:
    """Return the rows with what was found of their twins, and what kept policies from being looked at."""
    identities = {row.definition.local: row.probed.identity if row.probed else None for row in rows}
    answering = [row.definition for row in rows if identities[row.definition.local]]
    known, troubles = remote_twins.replications(configuration, resolver(), answering)
    return [
        replace(row, twins=tuple(remote_twins.twins(row.definition, identities[row.definition.local], known)))
        for row in rows
    ], troubles


def _file_rights(row: _Row, wiring: RemotesWiring) -> FileRights:
    return remote_rights.file_rights(row.probed.places, wiring.files_at) if row.probed else NO_RIGHTS


async def _rows(
    wiring: RemotesWiring, defined: Definitions, user: str | None, *, ask: bool, identify: bool
) -> list[_Row]:
    found: list[Definition] = [*defined.databases.values(), *defined.tables.values()]
    rows = await asyncio.gather(*(_row(wiring, one, user, ask=ask, identify=identify) for one in found))
    await wiring.connectors.close()
    return sorted(rows, key=lambda row: str(row.definition.local))


async def _row(wiring: RemotesWiring, definition: Definition, user: str | None, *, ask: bool, identify: bool) -> _Row:
    try:
        reached = wiring.reached(definition)
    except TwinhiveError as error:
        words = error.words
        return _Row(definition, "", None, f"{words.what}: found {words.found}, expected {words.expected}")
    probed = await probe(reached, definition, RemoteLimits().of_a_probe, user, identify=identify) if ask else None
    return _Row(definition, reached.name, probed)


def _fields(row: _Row, *, with_twins: bool) -> dict[str, Any]:
    kind, location = row.probed.itself(row.definition) if row.probed else (None, None)
    twins = {
        "metastore": row.probed.identity if row.probed else None,
        "remote_kind": kind,
        "location": location,
        "file_rights": remote_rights.fields(row.files),
        "files_not_looked_at": [render(one) for one in row.files.troubles],
        "twins": [remote_twins.fields(one) for one in row.twins],
    }
    return {
        "local": str(row.definition.local),
        "kind": row.kind,
        "remote": str(row.definition.remote),
        "via": row.definition.via,
        "address": row.address or None,
        "state": row.state or None,
        "trouble": row.text or None,
        **(twins if with_twins else {}),
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
