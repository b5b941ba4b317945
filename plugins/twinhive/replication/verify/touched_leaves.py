"""Know which leaves of a database a log has told of, each with its newest event: those alone need another look.

Both sides have a log. An event that cannot be read may tell of all that its row names; a row that names nothing we know
may tell of everything.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from twinhive.core.model.changes.affected_objects import names_of, partitions_named
from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    DetailChange,
    DropPartitions,
    Insert,
    RenamePartition,
)
from twinhive.core.model.errors import ActNow
from twinhive.core.ports import MetastoreReader
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_message import names_touched
from twinhive.hive.events.event_types import KNOWN_TYPES
from twinhive.hive.events.reader import position_at, read_events
from twinhive.replication.comparison.canonical_form import canonical_table
from twinhive.replication.comparison.leaf_records import OWN_LEAF
from twinhive.replication.notification_log.server_settings import keeps_log
from twinhive.replication.verify.ledger_files import KeptLedger

DATABASE = ""
"""Stands among names of tables for the database itself and its functions."""
_NAMES_KEPT = 100_000
_SHAPE = ("sd", "partitionKeys", "tableName", "tableType")


@dataclass(frozen=True)
class TouchedLeaves:
    """What of one table a log has told of; `whole`: it may be any leaf."""

    whole: bool = False
    names: frozenset[str] = frozenset()

    def __contains__(self, leaf: str) -> bool:
        return self.whole or leaf in self.names

    def __bool__(self) -> bool:
        return self.whole or bool(self.names)


UNKNOWN = TouchedLeaves(whole=True)


@dataclass
class Touched:
    """What a log has told of a database's leaves after a position; `end` is how far it was read.

    told_since   of what has happened before this event nobody knows: no log is kept, or it is not the one it was
    is_kept      False where no log is kept
    """

    database: str
    end: Position
    told_since: float
    is_kept: bool = True
    _leaves: dict[str, dict[str, int]] = field(default_factory=dict)
    _whole: dict[str, int] = field(default_factory=dict)
    _everything: int = 0
    _of_this_log: dict[Position, bool] = field(default_factory=dict)
    _newest: tuple[int, Position | None] = (-1, None)

    @classmethod
    def after(cls, database: str, begin: Position) -> "Touched":
        """Return what is to be read on from a position."""
        return cls(database, begin, begin.event_id)

    def read_on(self, log: MetastoreReader) -> None:
        """Read what the log says by now. Raises ActNow for a gap, or another log."""
        row: EventRow | None = None
        for row in read_events(log, self.end):
            self.note(row)
        if row is not None:
            self.end = row.position

    def of(self, table: str, after: int) -> TouchedLeaves:
        """Return what was told of a table in events after one: of one that this log does not have yet, nobody knows."""
        is_told = self.told_since <= after <= self.end.event_id
        if not is_told or self._everything > after or self._whole.get(table, 0) > after:
            return UNKNOWN
        leaves = self._leaves.get(table, {})
        return TouchedLeaves(names=frozenset(name for name, event in leaves.items() if event > after))

    def since(self, kept: KeptLedger, table: str, log: MetastoreReader) -> TouchedLeaves:
        """Return what was told of a table since its ledger was written; any of its leaves where `until` is no more.

        A log that was restored to an event between the ledger's two gives the numbers that follow to others: none of
        them tells of what the restore has taken back.
        """
        told, until = self.of(table, kept.event), kept.until
        if told.whole or until is None:
            return UNKNOWN
        if until not in self._of_this_log:
            found = position_at(log, until.event_id)
            # Where it was read on from, an event may be too old for the log to have it still.
            self._of_this_log[until] = found == until if found.digest else until.event_id == self.told_since
        return told if self._of_this_log[until] else UNKNOWN

    def newest(self, log: MetastoreReader) -> Position | None:
        """Return the newest event by now, None where no log is kept, or it is not the one any more that `end` is of."""
        if not self.is_kept:
            return None
        newest = log.current_event_id()
        if newest != self._newest[0]:
            now = position_at(log, self.end.event_id)
            is_same = newest >= self.end.event_id and (not now.digest or now == self.end)
            self._newest = (newest, position_at(log, newest) if is_same else None)
        return self._newest[1]

    def tables(self) -> set[str]:
        """Return the tables of which anything was told."""
        return self._leaves.keys() | self._whole.keys() - {DATABASE}

    def note(self, row: EventRow) -> None:
        """Take one row of the log in."""
        if not row.database and row.event_type not in KNOWN_TYPES:
            self._everything = row.event_id
        try:
            tables = {name.table for name in names_touched(row) if name.database == self.database}
        except ActNow:
            self._everything = row.event_id
            return
        if not row.table and (row.database or "").lower() == self.database:
            self._whole[DATABASE] = row.event_id
        for table in tables:
            self._note_leaves(table, _leaves_told(row), row.event_id)

    def _note_leaves(self, table: str, names: Iterable[str] | None, event_id: int) -> None:
        known = self._leaves.setdefault(table, {})
        if names is not None and len(known) < _NAMES_KEPT:
            known.update(dict.fromkeys(names, event_id))
        else:
            self._whole[table] = event_id


def touched_after(metastore: MetastoreReader, database: str, begin: Position | None) -> Touched:
    """Return what a metastore's log has told after a position, None for one that nobody has noted.

    Where no position is noted, it is read from now on. A log that has a gap there, or is another one, tells nothing:
    what is remembered may be of any event of the one that was.
    """
    newest = position_at(metastore, metastore.current_event_id())
    if not keeps_log(metastore):
        return Touched(database, newest, inf, is_kept=False)
    touched = Touched.after(database, begin or newest)
    try:
        touched.read_on(metastore)
    except ActNow:
        return Touched(database, newest, inf)
    return touched


def _leaves_told(row: EventRow) -> list[str] | None:
    """Return the leaves of its table that an event tells of, None where it may be all of them."""
    try:
        change = decode_event(row).change
    except ActNow:
        return None
    return leaves_of(change)


def leaves_of(change: Change) -> list[str] | None:
    """Return the leaves that a change of one table may have altered, None where it may be all of them."""
    match change:
        case Insert() | AddPartitions() | DropPartitions() | AlterPartitions() | RenamePartition():
            return [*names_of(change.table, partitions_named(change))] or [OWN_LEAF]
        case DetailChange():
            return [OWN_LEAF]
        case AlterTable(before=before, after=after) if before.location == after.location:
            one, other = canonical_table(before), canonical_table(after)
            return [OWN_LEAF] if all(one.get(part) == other.get(part) for part in _SHAPE) else None
        case _:
            return None
