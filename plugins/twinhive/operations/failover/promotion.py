"""What the database of a replica says once it has taken over from its source.

`twinhive.promoted` tells how far the old direction had come, and from where in the replica's own log the other one goes
on: `<source log>:<event>:<time>:<digest>@<replica log>:<event>:<time>:<digest>#<how>#<source database>`.
"""

from dataclasses import dataclass
from enum import Enum

from twinhive.core.model.changes.events import Position
from twinhive.core.model.marks import LAST_ID, PHASE, TARGET_FOR, Phase
from twinhive.core.model.objects import Parameters

PROMOTED = "twinhive.promoted"
_OF_HIVE = (LAST_ID, TARGET_FOR, "repl.target.last.id", "repl.incompatible", "readonly")
"""By these Hive's own services, its REPL LOAD and its hook for read-only databases know a replica."""


class How(Enum):
    """Whether anything of the source can be missing."""

    PLANNED = "planned"
    """The source stood still, and the replica was proved equal to it."""
    UNPLANNED = "unplanned"
    """Nobody asked the source: what it logged after the replica's position is not there."""


@dataclass(frozen=True)
class Promotion:
    """A replica that became a primary.

    source_log, position   the log that it had followed, and how far it had come
    source                 the database that it had followed
    log, begin             its own log, and the newest event before it was opened to writers
    """

    source_log: str
    position: Position
    log: str
    begin: Position
    how: How
    source: str

    def __str__(self) -> str:
        sides = f"{self.source_log}:{_written(self.position)}@{self.log}:{_written(self.begin)}"
        return f"{sides}#{self.how.value}#{self.source}"

    @classmethod
    def read(cls, parameters: Parameters) -> "Promotion | None":
        """Return what a database's parameters say of it; None where they say nothing that can be read."""
        told, _, source = parameters.get(PROMOTED, "").rpartition("#")
        sides, _, how = told.rpartition("#")
        old, _, new = sides.partition("@")
        try:
            (source_log, position), (log, begin) = _side(old), _side(new)
            return cls(source_log, position, log, begin, How(how), source)
        except ValueError:
            return None

    def written(self, parameters: Parameters) -> dict[str, str]:
        """Return a replica database's parameters as those of a primary; what says whose replica it was stays."""
        kept = {key: value for key, value in parameters.items() if key not in _OF_HIVE}
        return {**kept, PHASE: Phase.PROMOTED.value, PROMOTED: str(self)}


def _written(position: Position) -> str:
    return f"{position.event_id}:{position.time}:{position.digest}"


def _side(text: str) -> tuple[str, Position]:
    log, event_id, time, digest = text.rsplit(":", 3)
    return log, Position(int(event_id), int(time), digest)
