"""Say why no cluster runs a statement: what each of those tried lacks, and the command that would copy it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from twinhive.core.model.errors import ActNow
from twinhive.core.model.next_steps import command
from twinhive.core.model.text import Text
from twinhive.federation.routing.cluster_choice import Lacks, Nowhere


@dataclass(frozen=True)
class PlacedCopy:
    """What placements do for what a cluster lacks.

    placement  the one that is meant for copies of the table there, None where none is
    why_not    why no copy comes of this object all the same, None where one comes
    """

    placement: str | None = None
    why_not: str | None = None

    @property
    def copies(self) -> bool:
        """True when a copy comes."""
        return self.placement is not None and self.why_not is None


PlacementOf = Callable[[Lacks], PlacedCopy]
"""What placements do for what a cluster lacks of a table that is read."""


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
    placed = placement_of(lacks)
    if placed.why_not is not None:
        return _without_a_copy(lacks, placed)
    if placed.placement is None:
        return (
            f"write placements/<name>.yaml with database {lacks.table.database}, tables {lacks.table.table}, cluster "
            f"{lacks.cluster} (docs/copies.md), then trigger its DAG"
        )
    run = command("twinhive", "run", placed.placement, "copies")
    return f"have it copied to {lacks.cluster}: trigger the DAG {placed.placement}.copies, or " + run


def _without_a_copy(lacks: Lacks, placed: PlacedCopy) -> Text:
    elsewhere = f"have what else the statement reads copied to {lacks.primary}, and run it there"
    if placed.placement is None:
        return f"{elsewhere}: of {lacks.table} no copy can be made ({placed.why_not})"
    return f"let the placement copy it, or {elsewhere}: placement {placed.placement} keeps {placed.why_not}"
