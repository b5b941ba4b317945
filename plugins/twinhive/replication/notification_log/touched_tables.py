"""Know which tables the log has told of since a position, without holding the log."""

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import LogBroken
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import SourcePorts
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_message import names_touched
from twinhive.hive.events.event_types import KNOWN_TYPES
from twinhive.replication.notification_log.event_stream import EventStream


class TouchedTables:
    """The source tables with events after a position, up to where the log was read last."""

    def __init__(self, position: Position) -> None:
        self._names: set[TableName] = set()
        self._any = False
        self._end = position

    def __contains__(self, table: TableName) -> bool:
        """Return True for a table that may have an event."""
        return self._any or table in self._names

    @property
    def names(self) -> frozenset[TableName] | None:
        """The tables, None where an event may tell of any.

        So one does that cannot be read: of a rename, only the message names the old table.
        """
        return None if self._any else frozenset(self._names)

    def read_on(self, stream: EventStream) -> None:
        """Read what the log says by now, to a policy. Raises LogBroken."""
        try:
            for event_range in () if self._any else stream.event_ranges_after(self._end):
                for row in event_range.rows:
                    self._names |= names_touched(row)
                    self._any |= not row.table and row.event_type not in KNOWN_TYPES
                self._end = event_range.end
        except UnreadableEvent:
            self._any = True


def touched_after(ports: SourcePorts, policy: Policy, begin: Position) -> frozenset[TableName] | None:
    """Return the tables of which events in scope speak after a position; None where the log does not tell all.

    Whether an event that cannot be read is to be passed over makes no difference: it has happened.
    """
    touched = TouchedTables(begin)
    try:
        touched.read_on(EventStream(ports, policy))
    except LogBroken:
        return None
    return touched.names
