"""What users have written into an old primary, as its own log tells it; what a failback itself has marked is none.

Memory holds a few numbers for each table that the log names, however long the log is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from twinhive.core.model.changes.events import NOWHERE, EventRow, Position
from twinhive.core.model.changes.kinds import AlterPartitions, AlterTable
from twinhive.core.model.errors import LogBroken
from twinhive.core.model.marks import STAMP, Stamp, without_marks
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import DDL_TIME, Parameters, Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import EventLog
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_message import names_touched
from twinhive.hive.events.event_scope import in_scope
from twinhive.hive.events.event_types import KNOWN_TYPES, EventType
from twinhive.hive.events.reader import newest_position, read_events

_NAMED = 5
_ALTERS = (EventType.ALTER_TABLE, EventType.ALTER_PARTITION, EventType.ALTER_PARTITIONS)


@dataclass(frozen=True)
class Mention:
    """The events of users that name a table: how many, the first few by id, and the newest few with their types."""

    count: int = 0
    first: tuple[int, ...] = ()
    newest: tuple[tuple[int, str], ...] = ()

    def and_(self, row: EventRow) -> "Mention":
        """Return these and one more."""
        newest = (*self.newest, (row.event_id, row.event_type))[-_NAMED:]
        return Mention(self.count + 1, (*self.first, row.event_id)[:_NAMED], newest)

    def after(self, event_id: int) -> str:
        """Name the newest of those after an event, '' where there are none."""
        return ", ".join(f"event {one} {kind}" for one, kind in self.newest if one > event_id)

    def __str__(self) -> str:
        more = f" and {self.count - len(self.first)} more" if self.count > len(self.first) else ""
        return f"events {', '.join(map(str, self.first))}{more}"


class OldPrimaryLog:
    """Read an old primary's log on from where it was read before, and know which tables its users have written.

    policy   the reverse one: its replica is the old primary
    stamp    what the failback writes on tables and partitions, None where it writes nothing
    tables   what was read of users so far, by table
    is_whole False once events were gone, or could not be read: any table may have been written then
    """

    def __init__(self, log: EventLog, policy: Policy, begin: Position, stamp: Stamp | None = None) -> None:
        self._log = log
        # Seen from its log, the old primary is a source.
        self._scope = replace(policy, source=policy.replica, replica=policy.source)
        self._marking = _Marking(str(stamp) if stamp else None)
        self._has_gap, self._unread = False, 0
        self.position, self.is_whole = begin, True
        self.tables: dict[str, Mention] = {}

    def read_on(self) -> None:
        """Read up to the newest event."""
        try:
            for row in read_events(self._log, self.position):
                self._take(row)
                self.position = row.position
        except LogBroken:
            self.position = newest_position(self._log, NOWHERE)
            self._has_gap, self.is_whole = True, False

    def written_after(self, position: Position) -> Mapping[str, str] | None:
        """Return the tables that users have written after an event, with those that say so; None: any may be.

        That is so where the event is none of this log any more.
        """
        try:
            newest_position(self._log, position)
        except LogBroken:
            return None
        if self._has_gap or self._unread > position.event_id:
            return None
        found = ((name, one.after(position.event_id)) for name, one in self.tables.items())
        return {name: f"{events} of {name}" for name, events in found if events}

    def begin_pass(self) -> Position:
        """Return up to where it was read: whoever looks at all tables from now on has seen what came before."""
        self._has_gap = False
        return self.position

    def _take(self, row: EventRow) -> None:
        try:
            if not in_scope(row, self._scope):
                return
            names = self._scope.followed(names_touched(row))
            is_ours = bool(names) and self._marking.is_marked_by(row, knows_all=self.is_whole)
        except UnreadableEvent:
            self._cannot_tell(row)
            return
        if not names and (row.event_type not in KNOWN_TYPES or row.event_type == EventType.DROP_DATABASE):
            self._cannot_tell(row)
        for name in names if not is_ours else ():
            self.tables[name] = self.tables.get(name, Mention()).and_(row)

    def _cannot_tell(self, row: EventRow) -> None:
        self._unread, self.is_whole = row.event_id, False


class _Marking:
    """Know the events of our own marking: they bring the stamp and change nothing else.

    The event of Hive's newer call for partitions does not say what was before. There ours is the first for a partition
    that bears the stamp, and before that of its table: a failback marks each partition once, then the table. What may
    be somebody else's counts as theirs.
    """

    def __init__(self, stamp: str | None) -> None:
        self._stamp = stamp
        self._begun: dict[TableName, set[tuple[str, ...]]] = {}
        """Of tables that are not marked to their end yet: the partitions that are."""
        self._ended: set[TableName] = set()

    def is_marked_by(self, row: EventRow, *, knows_all: bool) -> bool:
        """True for an event by which the failback has marked. Raises UnreadableEvent."""
        if self._stamp is None or row.event_type not in _ALTERS:
            return False
        change = decode_event(row).change
        if isinstance(change, AlterTable):
            return self._is_table_marked(change)
        return isinstance(change, AlterPartitions) and self._are_partitions_marked(change, knows_all=knows_all)

    def _is_table_marked(self, change: AlterTable) -> bool:
        if change.truncates or not self._brings_the_stamp(change.before, change.after):
            return False
        self._ended.add(change.after.name)
        self._begun.pop(change.after.name, None)
        return True

    def _are_partitions_marked(self, change: AlterPartitions, *, knows_all: bool) -> bool:
        if change.truncates or any(one.parameters.get(STAMP) != self._stamp for one in change.after):
            return False
        if change.before:
            return all(map(self._brings_the_stamp, change.before, change.after))
        if not knows_all or change.table.name in self._ended:
            return False
        marked = self._begun.setdefault(change.table.name, set())
        coming = {one.values for one in change.after}
        is_first = not marked & coming
        marked |= coming
        return is_first

    def _brings_the_stamp(self, before: Table | Partition, after: Table | Partition) -> bool:
        is_new = before.parameters.get(STAMP) != self._stamp == after.parameters.get(STAMP)
        return is_new and _without_ours(before) == _without_ours(after)


def _without_ours(one: Table | Partition) -> Table | Partition:
    """Return what says where rows are and what they are, without our keys and what the server writes by itself."""
    bare = replace(one, parameters=_plain(one.parameters), thrift="")
    return replace(bare, constraints=None) if isinstance(bare, Table) else bare


def _plain(parameters: Parameters) -> dict[str, str]:
    return {key: value for key, value in without_marks(parameters).items() if key != DDL_TIME}
