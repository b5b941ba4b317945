"""Compare one table of both sides, and say what cannot be said of it yet.

The replica's position r is known before either side is read. A leaf of which the source's log tells nothing after r, up
to where it is read when both sides have been, was the same at all those events on both sides: it can be judged. Any
other leaf cannot, equal or not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from twinhive.replication.comparison.hash_tree import DifferenceKind, differing, kind_of, top_of
from twinhive.replication.comparison.leaf_reader import LeafState
from twinhive.replication.comparison.leaf_records import LeafRecord, Ledger, digest_of_names
from twinhive.replication.verify.comparable_checksums import has_bytes_read, with_comparable_checksums
from twinhive.replication.verify.leaf_differences import LeafDifference, difference
from twinhive.replication.verify.ledger_refresh import TableRead
from twinhive.replication.verify.touched_leaves import TouchedLeaves

_NO_FILES = digest_of_names({})


@dataclass(frozen=True)
class LeafCounts:
    """How many leaves there are, how many were judged; of those with files, of how many all checksums were compared.

    by_bytes   leaves of which bytes were read, because checksums of other types say nothing of each other
    """

    leaves: int = 0
    judged: int = 0
    with_files: int = 0
    with_checksums: int = 0
    by_bytes: int = 0
    read: int = 0

    def __add__(self, other: "LeafCounts") -> "LeafCounts":
        return LeafCounts(
            self.leaves + other.leaves,
            self.judged + other.judged,
            self.with_files + other.with_files,
            self.with_checksums + other.with_checksums,
            self.by_bytes + other.by_bytes,
            self.read + other.read,
        )


@dataclass(frozen=True)
class TableComparison:
    """What two looks at a table came to, before the log has said whether they can be taken together."""

    table: str
    counts: LeafCounts
    differences: tuple[LeafDifference, ...]
    digest: str

    def judged(self, touched: TouchedLeaves) -> "TableVerdict":
        """Leave out what the source's log has told of since the replica's position."""
        quiet = tuple(one for one in self.differences if one.leaf not in touched)
        left = self.counts.leaves if touched.whole else min(len(touched.names), self.counts.leaves)
        return TableVerdict(
            self.table, replace(self.counts, judged=self.counts.leaves - left), quiet, touched, self.digest
        )


@dataclass(frozen=True)
class TableVerdict:
    """What is said of a table; of the leaves in `hot` nothing is."""

    table: str
    counts: LeafCounts
    differences: tuple[LeafDifference, ...]
    hot: TouchedLeaves
    digest: str

    @property
    def not_judged(self) -> tuple[str, ...]:
        """The names of what was not judged."""
        parts = sorted(self.hot.names)
        return (self.table,) if self.hot.whole else tuple(f"{self.table} {name}".rstrip() for name in parts)


def compare(source: TableRead, replica: TableRead, table: str) -> tuple[TableComparison, TableRead, TableRead]:
    """Compare two ledgers, and read once more what differs in them; return both sides with what was read so."""
    kinds = dict(differing(source.ledger, replica.ledger))
    names = {**replica.names_of(kinds), **source.names_of(kinds)}
    wanted = {names[key] for key, kind in kinds.items() if key in names and kind is DifferenceKind.CONTENT}
    read = set(names.values())
    here, there = (side.states(read, wanted.__contains__) for side in (source, replica))
    for name in wanted & here.keys() & there.keys():
        here[name], there[name] = with_comparable_checksums((source.side, replica.side), here[name], there[name])
    found = [difference(table, name, here.get(name), there.get(name)) for name in sorted(read)]
    by_bytes = sum(map(has_bytes_read, here.values()))
    source, replica = (
        side.with_records(_records(side.ledger, names, states)) for side, states in ((source, here), (replica, there))
    )
    counts = replace(_counts(source.ledger, replica.ledger), by_bytes=by_bytes, read=source.read + replica.read)
    differences = tuple(one for one in found if one is not None)
    return TableComparison(table, counts, differences, top_of(source.ledger)), source, replica


def _records(
    ledger: Ledger, names: Mapping[bytes, str], states: Mapping[str, LeafState]
) -> dict[bytes, LeafRecord | None]:
    """Return what is remembered now of leaves that were read once more."""
    return {key: states[name].record(name) if name in states else None for key, name in names.items()}


def _counts(source: Ledger, replica: Ledger) -> LeafCounts:
    leaves = with_files = with_checksums = 0
    for one in source.all():
        other = replica.get(one.key)
        leaves += 1
        if one.names != _NO_FILES:
            with_files += 1
            with_checksums += other is not None and one.has_content and other.has_content and not kind_of(one, other)
    extra = sum(source.get(one.key) is None for one in replica.all())
    return LeafCounts(leaves + extra, leaves + extra, with_files, with_checksums)
