"""Compare a set on the replica with the source's: leaf by leaf, file by file, with checksums."""

from collections.abc import Iterator
from dataclasses import dataclass

from twinhive.core.model.changes.contents import FilesByPath
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import join
from twinhive.core.model.names import partition_values
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.ports import MetastoreReader, ReadPorts
from twinhive.publishing.set_visibility.later_events import LaterEvents
from twinhive.publishing.sets.marking_sets import partitions_of
from twinhive.replication.comparison.leaf_files import Difference, Leaf, compare_leaves

_AT_ONCE = 256


@dataclass(frozen=True)
class Lacking:
    """The first leaf of a set that the replica has otherwise than the source, or not at all."""

    leaf: Leaf
    is_there: bool

    def __str__(self) -> str:
        what = f"partition {self.leaf.name}" if self.leaf.name else "the table"
        return f"the files of {what} differ from the source's" if self.is_there else f"{what} is not on the replica"


def lacking(ports: ReadPorts, policy: Policy, table: Table, spec: SetSpec, later: LaterEvents) -> Lacking | None:
    """Return what keeps the replica from having the set, None for nothing; as many leaves as 256 are held at once."""
    try:
        for some in _leaves(ports.source, table, spec, later):
            compared = compare_leaves(ports, policy, some)
            differ = {one.leaf.name: one for one in compared.differences}
            for leaf in some:
                if leaf.location not in compared.files:
                    if not later.adds(table.name, _values(leaf)):
                        return Lacking(leaf, is_there=False)
                elif not _is_promised(leaf, compared.files[leaf.location], differ.get(leaf.name), later):
                    return Lacking(leaf, is_there=True)
    except Missing:
        # A leaf is taken away at this moment: its event follows.
        return Lacking(Leaf(table, None, table.location or ""), is_there=True)
    return None


def _is_promised(leaf: Leaf, here: FilesByPath, difference: Difference | None, later: LaterEvents) -> bool:
    """True for a leaf that the replica has as the source had it at the mark: later events have made what differs."""
    if not here and later.place_before(leaf.table.name, _values(leaf)):
        return False  # nobody knows whether there were files before it was moved
    if difference is None:
        return True
    return difference.only_adds and later.names(join(leaf.location, name) for name in difference.added)


def _leaves(source: MetastoreReader, table: Table, spec: SetSpec, later: LaterEvents) -> Iterator[list[Leaf]]:
    if not table.partition_keys:
        if table.location:
            yield [Leaf(table, None, later.place_before(table.name, None) or table.location)]
        return
    names = partitions_of(source, table, spec)
    for start in range(0, len(names), _AT_ONCE):
        found = source.partitions(table.name, names[start : start + _AT_ONCE])
        placed = ((one, later.place_before(table.name, one.values) or one.location) for one in found)
        yield [Leaf(table, one.name(table.partition_keys), place) for one, place in placed if place]


def _values(leaf: Leaf) -> tuple[str, ...] | None:
    return None if leaf.name is None else partition_values(leaf.name)
