"""Choose the cluster that a statement runs on: the rules of seed 000, as a function.

A statement runs on one cluster. Outputs that exist decide it: all of one primary cluster, that one. Else the primaries
of the inputs are tried, in the order of the text. A cluster fits when each existing output belongs to it, and each
input is there whole: by its primary, or by copies of everything that the statement reads of it. A cluster that was
named with USE CLUSTER is the only one tried.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from twinhive.core.model.names import TableName
from twinhive.federation.routing.residence import ObjectResidence, TableResidence


class Why(StrEnum):
    """What has decided on the cluster."""

    OUTPUT = "the tables that it writes belong to it"
    INPUT = "it reads tables of it, and has copies of all others that it reads"
    CHOSEN = "it was named, and has all that the statement reads and writes"
    DEFAULT = "it reads and writes no table"


@dataclass(frozen=True)
class Lacks:
    """Why a cluster does not fit: a table that belongs elsewhere, and what of it is missing here.

    `missing` is None for a table that is written: that can be done on its primary cluster alone.
    """

    cluster: str
    table: TableName
    primary: str
    missing: ObjectResidence | None

    @property
    def stale(self) -> str | None:
        """Why the copy that there is may not be read; None without one."""
        return self.missing.stale.get(self.cluster) if self.missing else None


@dataclass(frozen=True)
class Routed:
    """The cluster that a statement runs on, and why; `passed_over` are those that were tried before."""

    cluster: str
    why: Why
    passed_over: tuple[Lacks, ...] = ()


@dataclass(frozen=True)
class Nowhere:
    """A statement that no cluster can run: what each of those that were tried lacks."""

    tried: tuple[Lacks, ...]


def route(
    outputs: Sequence[TableResidence], inputs: Sequence[TableResidence], *, chosen: str | None, default: str
) -> Routed | Nowhere:
    """Return where a statement runs. `outputs` are those that exist: a new table belongs to where it is made.

    `chosen` is the cluster of USE CLUSTER, `default` that of the session without one.
    """
    if chosen is not None:
        lacks = _lacks(chosen, outputs, inputs)
        return Nowhere((lacks,)) if lacks else Routed(chosen, Why.CHOSEN)
    homes = tuple(dict.fromkeys(one.primary for one in outputs or inputs))
    if not homes:
        return Routed(default, Why.DEFAULT)
    passed: list[Lacks] = []
    for cluster in homes:
        lacks = _lacks(cluster, outputs, inputs)
        if lacks is None:
            return Routed(cluster, Why.OUTPUT if outputs else Why.INPUT, tuple(passed))
        passed.append(lacks)
    return Nowhere(tuple(passed))


def _lacks(cluster: str, outputs: Sequence[TableResidence], inputs: Sequence[TableResidence]) -> Lacks | None:
    for output in outputs:
        if output.primary != cluster:
            return Lacks(cluster, output.name, output.primary, None)
    for table in inputs:
        if missing := table.missing_on(cluster):
            return Lacks(cluster, table.name, table.primary, missing)
    return None
