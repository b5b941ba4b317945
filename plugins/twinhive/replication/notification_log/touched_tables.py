"""Know which tables the log has told of since a position, without holding the log."""

from twinhive.core.model.changes.events import Position
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_message import names_touched
from twinhive.hive.events.event_types import KNOWN_TYPES
from twinhive.replication.notification_log.event_stream import EventStream


class TouchedTables:
    """The source tables with events after a position, up to where the log was read last.

    An event that cannot be read, and that nobody has asked to skip, may tell of any table.
    """

    def __init__(self, policy: Policy, position: Position) -> None:
        self._policy = policy
        self._names: set[TableName] = set()
        self._any = False
        self._end = position

    def __contains__(self, table: TableName) -> bool:
        """Return True for a table that may have an event."""
        return self._any or table in self._names

    def read_on(self, ports: ReadPorts) -> None:
        """Read what the log says by now."""
        try:
            for event_range in EventStream.of(ports, self._policy).event_ranges_after(self._end):
                for row in event_range.rows:
                    self._names |= names_touched(row)
                    self._any |= not row.table and row.event_type not in KNOWN_TYPES
                self._end = event_range.end
        except UnreadableEvent:
            self._any = True
