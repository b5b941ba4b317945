"""Say why no cluster runs a statement: what each of those tried lacks, and the command that would copy it."""

from collections.abc import Callable
from functools import reduce

from twinhive.model.errors import ActNow
from twinhive.model.names import TableName
from twinhive.model.next_steps import command
from twinhive.model.text import Text
from twinhive.routing.choosing import Lacks, Nowhere

PlacementOf = Callable[[TableName, str], str | None]
"""The placement that keeps copies of a table on a cluster, None where there is none."""


def refusal(nowhere: Nowhere, placement_of: PlacementOf) -> ActNow:
    """Return the error for a statement that no cluster can run."""
    tried = nowhere.tried
    one = len(tried) == 1
    steps = [_next_step(lacks, placement_of) for lacks in tried]
    return ActNow(
        f"the statement cannot run on cluster {tried[0].cluster}" if one else "the statement can run on no cluster",
        found="; ".join(map(said, tried)),
        expected="a cluster to which all belongs that is written, and on which all is that is read, whole and fresh",
        next_step=reduce(lambda text, more: text + "; or " + more, dict.fromkeys(steps)),
    )


def said(lacks: Lacks) -> str:
    """Say what one cluster lacks."""
    if lacks.missing is None:
        return f"{lacks.cluster}: {lacks.table} is written, and belongs to {lacks.primary}"
    what = str(lacks.table) if lacks.missing.what == str(lacks.table) else f"{lacks.missing.what} of {lacks.table}"
    why = f"its copy is stale: {lacks.stale}" if lacks.stale else "there is no copy of it"
    return f"{lacks.cluster}: {what}, which belongs to {lacks.primary}, is not there ({why})"


def _next_step(lacks: Lacks, placement_of: PlacementOf) -> Text:
    if lacks.missing is None:
        return f"write only tables of one cluster in a statement, or run it on {lacks.primary}"
    placement = placement_of(lacks.table, lacks.cluster)
    if placement is None:
        return (
            f"write placements/<name>.yaml with database {lacks.table.database}, tables {lacks.table.table}, cluster "
            f"{lacks.cluster} (docs/copies.md), then trigger its DAG"
        )
    run = command("twinhive", "run", placement, "copies")
    return f"have it copied to {lacks.cluster}: trigger the DAG {placement}.copies, or " + run
