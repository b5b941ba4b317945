"""Bring a side's ledger of a table up to date: only what its log tells of, what looks otherwise, and what is due."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from twinhive.core.model.objects import Table
from twinhive.replication.comparison.directory_fingerprints import LooksOfPages
from twinhive.replication.comparison.leaf_reader import LeafState, Located, Side
from twinhive.replication.comparison.leaf_records import LeafRecord, Ledger, LedgerBuilder, digest_of_look, leaf_key
from twinhive.replication.verify.ledger_files import KeptLedger
from twinhive.replication.verify.touched_leaves import TouchedLeaves

SLICES = 30
"""In so many days the checksums of all files are asked for once more."""


@dataclass(frozen=True)
class Due:
    """Whose checksums are to be read: with `deep` everybody's, else the shares of all days since the last one, once."""

    day: int
    deep: bool = False

    def concerns(self, key: bytes, slice_done: int) -> bool:
        """True for a leaf whose files are to be asked for their checksums; 0 stands for a day that nobody knows."""
        return self.deep or (self.day - key[2]) % SLICES < self._days_since(slice_done)

    def _days_since(self, slice_done: int) -> int:
        # A clock that was wrong once puts nothing off.
        return self.day - slice_done if 0 < slice_done <= self.day else 1


@dataclass(frozen=True)
class TableRead:
    """A table on one side as its ledger has it now. `read` counts the leaves that were looked at for it.

    Names and places of its leaves are asked for again where something differs: there may be a million of them.
    """

    side: Side
    table: Table | None
    ledger: Ledger
    read: int

    def states(self, names: Collection[str], wanted: Callable[[str], bool]) -> dict[str, LeafState]:
        """Read some leaves as they are now."""
        if self.table is None or not names:
            return {}
        seen, found = LooksOfPages(self.side.files), dict[str, LeafState]()
        for page in self.side.located(self.table):
            some = {name: place for name, place in page if name in names}
            if some:
                looks = seen.of([place for place in some.values() if place])
                found |= self.side.read(self.table, sorted(some), looks, wanted)
        return found

    def names_of(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """Return the names of leaves by their keys."""
        if not keys or self.table is None:
            return {}
        located = (name for page in self.side.located(self.table) for name, _ in page)
        return {key: name for name in located if (key := leaf_key(name)) in keys}

    def with_records(self, changes: Mapping[bytes, LeafRecord | None]) -> "TableRead":
        """Return the same with other records of some leaves."""
        return replace(self, ledger=self.ledger.replaced(changes)) if changes else self


def read_table(side: Side, table: Table | None, kept: KeptLedger | None, touched: TouchedLeaves, due: Due) -> TableRead:
    """Read what of a table is not known; a table that is not there has no leaves."""
    if table is None:
        return TableRead(side, None, Ledger(), 0)
    builder, looks = LedgerBuilder(), LooksOfPages(side.files)
    read = sum(
        _read_page(side, table, page, looks, _Known(kept, touched, due), builder) for page in side.located(table)
    )
    return TableRead(side, table, builder.ledger(), read)


@dataclass(frozen=True)
class _Known:
    """What decides whether a leaf is read again."""

    kept: KeptLedger | None
    touched: TouchedLeaves
    due: Due


def _read_page(
    side: Side, table: Table, page: Located, looks: LooksOfPages, known: _Known, builder: LedgerBuilder
) -> int:
    """Put the records of some leaves into a ledger; return how many were read for it."""
    kept, touched, due = known.kept, known.touched, known.due
    now = looks.of([place for _, place in page if place])
    stale: dict[str, LeafRecord | None] = {}
    deep: set[str] = set()
    for name, place in page:
        key = leaf_key(name)
        record = kept.ledger.get(key) if kept else None
        is_due = due.deep or (bool(place) and due.concerns(key, kept.slice if kept else 0))
        is_same = record is not None and record.look == digest_of_look(now.get(place))
        if record is not None and is_same and not is_due and name not in touched:
            builder.put(record)
            continue
        stale[name] = record if is_same else None
        # What is known to have changed is compared with its checksums; a first look is one at names alone.
        if is_due or (record is not None and (not is_same or name in touched.names)):
            deep.add(name)
    for name, state in side.read(table, list(stale), now, deep.__contains__):
        builder.put(_with_known_content(state.record(name), stale[name]))
    return len(stale)


def _with_known_content(record: LeafRecord, before: LeafRecord | None) -> LeafRecord:
    """Keep what was known of checksums of files that nothing says to have changed."""
    if before is None or record.has_content or record.names != before.names:
        return record
    return replace(record, content=before.content)


def with_checksums_of_both(source: TableRead, replica: TableRead) -> tuple[TableRead, TableRead]:
    """Read the checksums of leaves of which only one side knows them."""
    lacking: dict[bool, set[bytes]] = {True: set(), False: set()}
    for one in source.ledger.all():
        other = replica.ledger.get(one.key)
        if other is not None and one.names == other.names and one.has_content != other.has_content:
            lacking[one.has_content].add(one.key)
    return _with_checksums(source, lacking[False]), _with_checksums(replica, lacking[True])


def _with_checksums(read: TableRead, keys: Collection[bytes]) -> TableRead:
    names = read.names_of(keys)
    states = read.states(set(names.values()), lambda name: True)
    return read.with_records({leaf_key(name): state.record(name) for name, state in states.items()})
