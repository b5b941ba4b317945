"""Which copies a placement keeps: of which partitions, and where (seed 000: secondary clusters)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from twinhive.core.model.files import is_below, join
from twinhive.core.model.names import unescape_path_name
from twinhive.core.model.objects import Table


@dataclass(frozen=True)
class KeptCopies:
    """What a placement says beside its tables and clusters.

    root             the directory on the cluster's file system in which each placement has one of its own
    partitions       regular expressions; a partition is wanted when one of them matches its whole name, `day=1/hour=2`
    newest           of the wanted ones only so many, the last ones; None: all
    default_cluster  to which cluster tables of the metastore belong that do not say another one
    takes_over       copies that somebody else has marked on the cluster are made anew, and their marks replaced
    adopts           but those in these directories, of the tables it names: they are taken as they are, where they are
    """

    root: str
    partitions: tuple[str, ...] = (".*",)
    newest: int | None = None
    default_cluster: str = ""
    takes_over: bool = False
    adopts: tuple[str, ...] = ()

    def directory(self, name: str) -> str:
        """Return the directory that holds all copies of the placement of a name, and nothing else."""
        return join(self.root, name)

    def holds(self, name: str, place: str) -> bool:
        """True for a place among the copies of the placement of a name, and among those that it adopts."""
        return self.made(name, place) or any(is_below(place, directory) for directory in self.adopts)

    def made(self, name: str, place: str) -> bool:
        """True for a place among the copies of the placement of a name alone."""
        return is_below(place, self.directory(name))

    def wanted(self, names: Iterable[str]) -> list[str]:
        """Return the names of the partitions that are to be copied, the oldest first."""
        ordered = sorted(filter(self._names, names), key=_age)
        return ordered if self.newest is None else ordered[-self.newest :]

    def why_unwanted(self, name: str, names: Iterable[str]) -> str | None:
        """Say why a partition among others is not to be copied, None for one that is."""
        if not self._names(name):
            return f"only partitions that match {' or '.join(self.partitions)} (partitions.include)"
        if self.newest is not None and name not in self.wanted(names):
            return f"only the newest {self.newest} of each table (partitions.newest)"
        return None

    def _names(self, name: str) -> bool:
        return any(re.fullmatch(pattern, name) for pattern in self.partitions)


def why_never_copied(table: Table) -> str | None:
    """Say why a table has no copies, whatever a placement says; None for one that may have."""
    if not table.has_plain_files:
        return f"a {table.kind.value} is not copied"
    return None if table.location else "it has no location"


def _age(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Return what partitions are ordered by: numbers as numbers, so that `month=10` comes after `month=9`."""
    values = [unescape_path_name(level.partition("=")[2]) for level in name.split("/")]
    return tuple((not _is_number(value), int(value) if _is_number(value) else 0, value) for value in values)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 100
