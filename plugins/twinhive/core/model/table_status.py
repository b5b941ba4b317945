"""Name what a table of a policy may be on its replica."""

from enum import StrEnum


class TableStanding(StrEnum):
    """What a table of the policy's scope is on the replica."""

    PUBLISHED = "published"
    PENDING = "pending"
    """An external table of which something waits for its data."""
    QUARANTINED = "quarantined"
    """Frozen after an error: its events are passed over."""
    WAITS_FOR_RESYNC = "waits for resync"
    """The next windows bring it over as it is."""
    LEFT_OUT = "left out"
    NOT_THERE_YET = "not there yet"
