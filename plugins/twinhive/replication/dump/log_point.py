"""Name an event together with the log that it is of: a restored metastore gives the same ids to other events."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.changes.events import Position


@dataclass(frozen=True)
class LogPoint:
    """An event of a log; `log_id` is '' where nobody knows which."""

    position: Position
    log_id: str = ""

    def fields(self) -> dict[str, Any]:
        """Return it as a document keeps it."""
        at = self.position
        return {"log_id": self.log_id, "event_id": at.event_id, "time": at.time, "digest": at.digest}

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> "LogPoint":
        """Read what `fields` returned."""
        return cls(Position(fields["event_id"], fields["time"], fields["digest"]), fields["log_id"])


IsOfLog = Callable[[LogPoint], bool]
"""Says whether an event that was kept is one of the source's log as it is now."""
