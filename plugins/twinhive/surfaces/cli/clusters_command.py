"""List the clusters of `clusters.yaml`, and find what tables say of them that does not fit."""

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Table

from twinhive.core.model.exit_codes import ExitCode
from twinhive.federation.placement.cluster_check import Misfit, misfits
from twinhive.runtime.settings import Configuration
from twinhive.runtime.settings.clusters import metastore_owner
from twinhive.runtime.wiring.cluster_wiring import ClustersWiring
from twinhive.runtime.wiring.job_users import users_who_may_write_copies
from twinhive.surfaces.cli.command_line import configuration_of
from twinhive.surfaces.cli.connection_sources import resolver
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.terminal import AsJson, Config, console, errors_shown, escape, say, waiting

app = typer.Typer(rich_markup_mode=None)
_CHECK = "check"


@dataclass(frozen=True)
class _Row:
    cluster: str
    metastore_of: str
    is_default: bool
    file_system: str
    job_tracker: str


@app.command()
def clusters(
    what: Annotated[
        str | None, typer.Argument(metavar="[check]", help="check: ask the metastores for what does not fit")
    ] = None,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List the clusters: whose metastore each uses, its file system, where it runs jobs.

    With `check` every table and partition of each metastore is read: locations that are not on the file system of the
    table's cluster, marks of copies that cannot be read, clusters that do not exist, directories that overlap; and
    whether jobs run as a user who may write into copies. The exit code says that a person has to act when there is any.
    """
    if what not in (None, _CHECK):
        raise typer.BadParameter(f"{what!r} is not known; expected check, or nothing")
    with errors_shown(as_json=as_json):
        configuration = configuration_of(config)
        configuration.refuse_wrong_clusters()
        wiring = ClustersWiring(configuration, resolver())
        rows = [_row(configuration, wiring, name) for name in configuration.clusters]
        found: dict[str, list[Misfit]] = {}
        for owner in sorted({row.metastore_of for row in rows} if what else ()):
            with waiting(f"reading the metastore of {owner}"):
                there = {row.cluster: wiring.file_system(row.cluster) for row in rows if row.metastore_of == owner}
                default = configuration.default_cluster_of(owner)
                found[owner] = list(misfits(wiring.metastore(owner), there, default))
        if what and (users := [Misfit(*one) for one in users_who_may_write_copies(configuration, wiring.resolve)]):
            found["clusters.yaml"] = users
    if as_json:
        print_json({"clusters": rows, **({"misfits": found} if what else {})})
    elif what:
        _say_misfits(found)
    else:
        _print(rows)
    if any(found.values()):
        raise typer.Exit(ExitCode.ACT_NOW)


def _row(configuration: Configuration, wiring: ClustersWiring, name: str) -> _Row:
    owner = metastore_owner(configuration.clusters, name)
    is_default = configuration.default_cluster_of(name) == name
    job_tracker = configuration.clusters[name].job_tracker.connection
    return _Row(name, owner, is_default, wiring.file_system(name).root, job_tracker)


def _say_misfits(found: dict[str, list[Misfit]]) -> None:
    for owner, some in found.items():
        for one in some:
            say(f"{owner}: {one.what}: {one.trouble}")
        if not some:
            say(f"{owner}: everything fits")


def _print(rows: list[_Row]) -> None:
    table = Table("cluster", "metastore", "default", "file system", "job tracker")
    for row in rows:
        metastore = "its own" if row.metastore_of == row.cluster else f"that of {row.metastore_of}"
        cells = row.cluster, metastore, "yes" if row.is_default else "", row.file_system, row.job_tracker
        table.add_row(*map(escape, cells))
    console.print(table)
