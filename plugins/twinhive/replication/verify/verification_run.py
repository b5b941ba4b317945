"""Look at tables, some at a time, and keep what was read of each for the next night."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf
from operator import attrgetter

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import InvalidSettings, UnreadableObject
from twinhive.core.model.objects import Table
from twinhive.core.model.text import render
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.comparison.leaf_reader import sides_of
from twinhive.replication.comparison.leaf_records import OWN_LEAF
from twinhive.replication.replica.replica_state import state_now
from twinhive.replication.replica.source_scope import readable_tables
from twinhive.replication.verify.database_leaves import compare_database
from twinhive.replication.verify.hot_leaves import MOST_HOT, HotLeaf, HotLooks, JudgedLeaf
from twinhive.replication.verify.ledger_files import KeptLedger, LedgerFiles
from twinhive.replication.verify.ledger_refresh import Due, TableRead, read_table, with_checksums_of_both
from twinhive.replication.verify.table_verdicts import TableComparison, TableVerdict, compare
from twinhive.replication.verify.touched_leaves import DATABASE, UNKNOWN, Touched, touched_after
from twinhive.replication.verify.verified_scope import VerifyScope

_TABLES_AT_ONCE = 50


class Looking:
    """A verification under way: what both logs have told, and where their ledgers lie.

    `_source` tells what the source's log says after the position that the replica had first: by it leaves are judged.
    `_own` tells of each side what its log says since its ledgers were read: by it leaves are read again.
    """

    def __init__(self, work: Work, ports: WritePorts, day: int, *, deep: bool) -> None:
        self._work, self._ports = work, ports
        self._due = Due(day, deep)
        self._sides = sides_of(ports, work.policy)
        self._ledgers = tuple(
            LedgerFiles(ports.replica_files, work.policy, side.role, side.metastore.log_id()) for side in self._sides
        )
        self._own = tuple(
            touched_after(side.metastore, side.database, ledgers.read_position())
            for side, ledgers in zip(self._sides, self._ledgers, strict=True)
        )
        # Before the first leaf is read: no ledger of this run is older.
        self._begun = tuple(own.end for own in self._own)
        self._source = Touched.after(work.policy.source.database, self._position())
        self._looked: dict[str, tuple[TableComparison, int]] = {}
        self.not_placed: dict[str, str] = {}
        self.hot: dict[HotLeaf, JudgedLeaf] = {}

    @property
    def end(self) -> int:
        """The newest event that the source's log was read up to."""
        return self._source.end.event_id

    def look(self, tables: Sequence[str]) -> None:
        """Compare tables as they are now, `DATABASE` among them."""
        for start in range(0, len(tables), _TABLES_AT_ONCE):
            begin = self._position().event_id
            for own, side in zip(self._own, self._sides, strict=True):
                if own.told_since != inf:
                    own.read_on(side.metastore)
            self._look(tables[start : start + _TABLES_AT_ONCE], begin)
        self._source.read_on(self._ports.source)

    def verdicts(self) -> list[TableVerdict]:
        """Return what can be said of all tables that were looked at, as the source's log was read by now."""
        looked = self._looked.items()
        return [compared.judged(self._source.of(table, begin)) for table, (compared, begin) in looked]

    def leave_out(self, scope: VerifyScope) -> None:
        """Say nothing of tables that have been frozen, or asked for, since they were looked at."""
        for table in [table for table in self._looked if not scope.compares(table)]:
            del self._looked[table]

    def waiting(self, scope: VerifyScope) -> list[str]:
        """Return what is to be looked at again, or was made since the scope was read."""
        hot = {one.table for one in self.verdicts() if one.hot}
        new = self._source.tables() - self._looked.keys() - self.not_placed.keys()
        return sorted(table for table in hot | new if scope.compares(table))

    def judge_hot(self, scope: VerifyScope, left: Sequence[str], wait: Callable[[float], None]) -> None:
        """Judge what never stood still, where both sides can be seen at one event of theirs."""
        verdicts = {one.table: one for one in self.verdicts() if one.table in left and one.table != DATABASE}
        leaves = [
            HotLeaf(table, leaf)
            for table, one in sorted(verdicts.items())
            if scope.compares(table)
            for leaf in ([OWN_LEAF] if self._is_one_leaf(table) else sorted(one.hot.names))
            if one.hot and not (one.hot.whole and leaf != OWN_LEAF)
        ]
        if leaves and len(leaves) <= MOST_HOT:
            self._work.report(
                f"{len(leaves)} leaves never stand still: looking for an event at which both sides are seen"
            )
            self.hot |= HotLooks(self._sides, leaves, self._position, wait).run()

    def _is_one_leaf(self, table: str) -> bool:
        source = self._sides[0]
        found = source.metastore.table(source.name(table))
        return found is not None and not found.partition_keys

    def finish(self, scope: VerifyScope) -> None:
        """Remember that all of the scope was read in this run."""
        for ledgers, begun in zip(self._ledgers, self._begun, strict=True):
            ledgers.keep_only(scope.names)
            ledgers.write_position(begun)

    def _position(self) -> Position:
        return state_now(self._ports, self._work.policy).position

    def _look(self, tables: Sequence[str], begin: int) -> None:
        names = [table for table in tables if table != DATABASE]
        read = [readable_tables(side.metastore, side.database, names) for side in self._sides]
        found = [{one.name.table: one for one in some} for some, _ in read]
        unreadable = {table: why for _, some in read for table, why in some.items()}
        for table in tables:
            try:
                if table in unreadable:
                    raise unreadable[table]
                compared = (
                    compare_database(self._sides)
                    if table == DATABASE
                    else self._compare(table, [some.get(table) for some in found])
                )
            except (InvalidSettings, UnreadableObject) as error:
                self._looked.pop(table, None)
                self.not_placed[table] = render(error.what)
                continue
            self._looked[table] = (compared, begin)

    def _compare(self, name: str, tables: Sequence[Table | None]) -> TableComparison:
        read: list[TableRead] = []
        unread: list[KeptLedger | None] = []
        for side, table, ledgers, own in zip(self._sides, tables, self._ledgers, self._own, strict=True):
            kept = ledgers.read(name)
            touched = own.since(kept, name, side.metastore) if kept else UNKNOWN
            read.append(one := read_table(side, table, kept, touched, self._due))
            same = kept is not None and not one.read and kept.ledger == one.ledger
            unread.append(replace(kept, ledger=one.ledger) if kept and same else None)
        source, replica = with_checksums_of_both(read[0], read[1])
        compared, source, replica = compare(source, replica, name)
        for ledgers, one, before, own in zip(self._ledgers, (source, replica), unread, self._own, strict=True):
            is_unread = before is not None and one.ledger is before.ledger
            until = _later(before.until, own.end) if before and is_unread else own.newest(one.side.metastore)
            ledgers.write(name, KeptLedger(one.ledger, own.end.event_id, until, self._due.day))
        return compared


def _later(until: Position | None, end: Position) -> Position | None:
    """Return the later of two events: another verification may have written a ledger after this one read the log."""
    return until and max(until, end, key=attrgetter("event_id"))


def digest_of(verdicts: Iterable[TableVerdict]) -> str:
    """Return one digest for all that was compared at the source."""
    said = sorted((one.table, one.digest) for one in verdicts)
    return hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()[:32]
