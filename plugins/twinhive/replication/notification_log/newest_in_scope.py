"""Find the event that a replica has to be at, to be as far as the log: what is out of its scope it need not pass."""

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.replication.notification_log.event_stream import EventStream

_MOST_EVENTS = 2_000
"""Where a replica is further behind, its windows pass what is out of scope, too: these are worth one."""


def newest_in_scope(ports: ReadPorts, policy: Policy, position: Position, newest: int) -> int:
    """Return the newest event in scope up to `newest`, or the position where there is none after it.

    Return `newest` where that cannot be told, or would take much reading.
    """
    found = position.event_id
    if not 0 < newest - found <= _MOST_EVENTS:
        return newest
    try:
        for row in EventStream(ports, policy).rows_after(position):
            if row.event_id > newest:
                break
            found = row.event_id
    except ActNow:  # the log has a gap, is another one, or has an event that cannot be read
        return newest
    return found
