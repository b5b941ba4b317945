"""Move the home of a table to another cluster of its metastore."""

from typing import Annotated

import typer

from twinhive.cli.base import configuration_of
from twinhive.cli.connection_sources import resolver
from twinhive.cli.json_output import print_json
from twinhive.cli.terminal import NOTHING_CHANGED, AsJson, Config, DryRun, errors_shown, holder_of, say, waiting
from twinhive.copies.move_primary import MovePrimary
from twinhive.dry_run.rehearsal import rehearse
from twinhive.wiring.moving import MoveWiring

app = typer.Typer(rich_markup_mode=None)


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
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Let a table belong to another cluster: copy it there, then switch it by one call; the old place becomes a copy.

    From the end of the first copy to the switch the table is marked, and nothing that is routed writes it. Killed, the
    same command goes on. Stop jobs that write the table without being routed: they see no mark (docs/copies.md).
    """
    with errors_shown(as_json=as_json):
        wiring = MoveWiring.of(configuration_of(config), resolver(), table, cluster, root)
        moving = MovePrimary(wiring.policy, wiring.name, holder_of("move-primary"))
        with waiting(f"moving {wiring.name} to {cluster}" if not dry_run else f"looking at {wiring.name}"):
            ports = wiring.write_ports()
            lines = moving.plan(ports) if dry_run else moving.run(ports)
            if dry_run and len(lines) > 1:
                copying = rehearse("copies", ports, wiring.policy)
                if copying.refusals:
                    raise copying.refusals[0]
                lines = [*map(str, copying.sections), *lines]
    if as_json:
        print_json({"table": str(wiring.name), "cluster": cluster, "dry_run": dry_run, "said": lines})
    else:
        say(*lines, *([NOTHING_CHANGED] if dry_run else []))
