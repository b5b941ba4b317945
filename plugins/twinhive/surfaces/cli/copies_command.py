"""Say which copies are kept on secondary clusters (seed 000), and whether they are fresh; move a table to one."""

import shlex
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table

from twinhive.core.model.human_readable import readable
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.federation.placement.copies_status import TableCopies, copies_of, totals
from twinhive.federation.placement.move_primary import MovePrimary
from twinhive.federation.placement.users_copies import TakeCopies
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.runtime.wiring.table_move import MoveWiring
from twinhive.statements.execution.moving_primary import by_spark, planned
from twinhive.surfaces.cli.command_line import configuration_of
from twinhive.surfaces.cli.connection_sources import resolver
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.statements.statement_options import SparkConf, SparkMaster, SparkTasks, spark_of
from twinhive.surfaces.cli.terminal import (
    NOTHING_CHANGED,
    AsJson,
    Config,
    DryRun,
    console,
    errors_shown,
    escape,
    holder_of,
    print_stderr,
    say,
    waiting,
)

app = typer.Typer(rich_markup_mode=None)


@dataclass(frozen=True)
class _Found:
    policy: Policy
    tables: list[TableCopies]


@app.command()
def copies(
    placement: Annotated[str | None, typer.Argument(metavar="PLACEMENT", help="One placement; without it, all")] = None,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List the copies on secondary clusters: what has one, where, fresh or stale since which event, bytes.

    With --json each copy is told, else each table. Copies are kept by the files in placements/ (docs/copies.md).
    """
    with errors_shown(as_json=as_json):
        configuration = configuration_of(config)
        names = [configuration.placement(placement).name] if placement else sorted(configuration.placements)
        found = []
        for name in names:
            wiring = Wiring.of(configuration, name, resolver())
            with waiting(f"looking at the copies of {name}"):
                found.append(_Found(wiring.policy, list(copies_of(wiring.read_ports(), wiring.policy))))
    if as_json:
        print_json({"placements": [_fields(one) for one in found]})
    else:
        _print(found)


def _fields(found: _Found) -> dict[str, Any]:
    fresh, stale, missing = totals(found.tables)
    return {
        "placement": found.policy.name,
        "database": found.policy.source.database,
        "primary": found.policy.source.cluster,
        "cluster": found.policy.replica.cluster,
        "fresh": fresh,
        "stale": stale,
        "missing": missing,
        "tables": found.tables,
    }


def _print(found: list[_Found]) -> None:
    table = Table("placement", "table", "from", "to", "fresh", "stale", "missing", "bytes", "left out")
    for one in found:
        sides = one.policy.source.cluster, one.policy.replica.cluster
        for each in one.tables:
            stale = [copy for copy in each.copies if copy.stale]
            why = f"{len(stale)} ({stale[0].stale})" if stale else "0"
            more = f"{each.left_out[0]}{'; ...' if len(each.left_out) > 1 else ''}" if each.left_out else ""
            cells = one.policy.name, str(each.name), *sides, str(each.fresh), why, str(each.missing)
            table.add_row(*map(escape, (*cells, readable(each.bytes), more)))
    console.print(table)


@app.command("take-copies")
def take_copies(
    placement: Annotated[str, typer.Argument(metavar="PLACEMENT", help="A placement that copies the table")],
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Its name, without the database")],
    directory: Annotated[
        str,
        typer.Argument(
            metavar="DIRECTORY", help="Its copy, a full URI on the placement's cluster; partitions below it"
        ),
    ],
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Take over what users have copied, by distcp for example: the placement copies nothing of it again.

    All files of the table, or of a partition in DIRECTORY/KEY=VALUE, are compared with the original. What has the same
    files with the same content, and no others, is moved to the placement's staging directory; its next run makes it a
    copy. What differs stays where it is, is said, and is copied as ever. With --dry-run all is compared, nothing moved.
    """
    with errors_shown(as_json=as_json):
        configuration = configuration_of(config)
        wiring = Wiring.of(configuration, configuration.placement(placement).name, resolver())
        name = TableName(wiring.policy.source.database, table.lower())
        place = wiring.replica_endpoint.by_one_name.named(directory.rstrip("/"))
        taking = TakeCopies(wiring.policy, name, place, holder_of("take-copies"))
        with waiting(f"comparing {directory} with {name}"):
            lines = taking.plan(wiring.read_ports()) if dry_run else taking.run(wiring.write_ports())
    if as_json:
        print_json({"placement": placement, "table": str(name), "dry_run": dry_run, "said": lines})
    else:
        say(*lines, NOTHING_CHANGED if dry_run else f"then: twinhive run {shlex.quote(placement)} copies")


@app.command("move-primary")
def move_primary(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="DATABASE.TABLE")],
    cluster: Annotated[
        str, typer.Argument(metavar="CLUSTER", help="Where it is to be at home: a cluster of the same metastore")
    ],
    root: Annotated[
        str | None,
        typer.Option(help="Below which its directory is made; without it, below the database's twinhive.root.CLUSTER"),
    ] = None,
    dry_run: DryRun = False,
    spark: SparkMaster = None,
    tasks: SparkTasks = None,
    spark_conf: SparkConf = None,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Let a table belong to another cluster: copy it there, then switch it by one call; the old place becomes a copy.

    From the end of the first copy to the switch the table is marked, and nothing that is routed writes it. Killed, the
    same command goes on. Stop jobs that write the table without being routed: they see no mark (docs/copies.md).

    A fresh copy that a placement has there becomes the table's home. With --spark large batches are copied by Spark.
    """
    with errors_shown(as_json=as_json):
        found = spark_of(spark, tasks, spark_conf)
        wiring = MoveWiring.of(configuration_of(config), resolver(), table, cluster, root)
        moving = MovePrimary(wiring.policy, wiring.name, holder_of("move-primary"), print_stderr)
        if found is not None:
            moving = by_spark(moving, wiring, found)
        with waiting(f"moving {wiring.name} to {cluster}" if not dry_run else f"looking at {wiring.name}"):
            ports = wiring.write_ports()
            lines = planned(moving, ports) if dry_run else moving.run(ports)
    if as_json:
        print_json({"table": str(wiring.name), "cluster": cluster, "dry_run": dry_run, "said": lines})
    else:
        say(*lines, *([NOTHING_CHANGED] if dry_run else []))
