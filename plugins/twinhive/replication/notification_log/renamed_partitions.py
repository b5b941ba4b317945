"""Know whether the log has told, since a position, of a partition that gets another name.

The replica's metastore moves its directory to the default place by itself: that place bears no event in its name, and
may come into use at any moment between that event and the position's passing it.
"""

from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import RenamePartition
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_types import EventType
from twinhive.replication.notification_log.event_stream import EventStream

_RENAMES = EventType.ALTER_PARTITION


class RenamedPartitions:
    """Ask again and again: the log is read on, and not held. An event that cannot be read may be anything."""

    def __init__(self, policy: Policy, position: Position) -> None:
        self._policy = policy
        self._end = position
        self._any = False

    def any_by_now(self, ports: ReadPorts) -> bool:
        """True when there is such an event by now."""
        try:
            for event_range in () if self._any else EventStream(ports, self._policy).event_ranges_after(self._end):
                rows = (row for row in event_range.rows if row.event_type == _RENAMES)
                self._any |= any(isinstance(decode_event(row).change, RenamePartition) for row in rows)
                self._end = event_range.end
        except UnreadableEvent:
            self._any = True
        return self._any
