"""Describe one row of a metastore's notification log, undecoded."""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class EventRow:
    """One row of NOTIFICATION_LOG. `event_id` is 64 bits wide, `time` is epoch seconds (0: not the log's own text).

    `database` and `table` are None for events that concern neither (transactions); for a rename
    they hold the *new* names, the message holds the old ones. `digest` is that of the message as the log has it, where
    this one was written anew since.
    """

    event_id: int
    time: int
    event_type: str
    catalog: str | None
    database: str | None
    table: str | None
    message: str = field(repr=False)
    message_format: str
    digest: str = field(default="", kw_only=True)

    @property
    def position(self) -> "Position":
        """Return what identifies this event in its log; of a row that is not as the log has it, its id alone."""
        if not self.time:
            return Position(self.event_id)
        digest = self.digest or hashlib.sha256(self.message.encode()).hexdigest()[:32]
        return Position(self.event_id, self.time, digest)


@dataclass(frozen=True)
class Position:
    """An event id with the time and the message hash of that event.

    The two tell whether a log still is the log it was: a metastore restored from a backup gives
    the same ids to other events. Both are empty when the log no longer held the row.
    """

    event_id: int
    time: int = 0
    digest: str = ""


NOWHERE = Position(0)
"""Before the first event."""
