"""Say which copies are kept on secondary clusters (seed 000), and whether they are fresh."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table

from twinhive.cli.base import configuration_of
from twinhive.cli.connection_sources import resolver
from twinhive.cli.json_output import print_json
from twinhive.cli.terminal import AsJson, Config, console, errors_shown, escape, waiting
from twinhive.copies.standing import TableCopies, copies_of, totals
from twinhive.model.policy import Policy
from twinhive.model.sizes import readable
from twinhive.wiring.policies import Wiring

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
