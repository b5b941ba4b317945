"""Name an event together with the log that it is of: a restored metastore gives the same ids to other events."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.changes.events import Position


@dataclass(frozen=True)
class LogPoint:
    """An event of a log. Of what earlier versions have kept only the event's id is known: `log_id` is '' then."""

    position: Position
    log_id: str = ""

    def fields(self) -> dict[str, Any]:
        """Return it as a document keeps it."""
        at = self.position
        return {"log_id": self.log_id, "event_id": at.event_id, "time": at.time, "digest": at.digest}

    @classmethod
    def read(cls, fields: Mapping[str, Any] | None) -> "LogPoint | None":
        """Read what `fields` returned; None where nothing was kept."""
        if not fields:
            return None
        return cls(Position(fields["event_id"], fields["time"], fields["digest"]), fields["log_id"])


IsOfLog = Callable[[LogPoint], bool]
"""Says whether an event that was kept is one of the source's log as it is now."""
