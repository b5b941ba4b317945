"""What the database of a replica says once it has taken over from its source.

`twinhive.promoted` tells how far the old direction had come, and from where in the replica's own log the other one goes
on: `<source log>:<event>:<time>:<digest>@<replica log>:<event>:<time>:<digest>#<how>#<source database>`. What is newer
than that is named beside it, in `twinhive.promoted.ahead`.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from twinhive.core.model.changes.events import Position
from twinhive.core.model.marks import LAST_ID, PHASE, TARGET_FOR, Phase, followed_policy
from twinhive.core.model.objects import Parameters
from twinhive.core.model.quarantine import frozen_tables

PROMOTED = "twinhive.promoted"
PROMOTED_AHEAD = "twinhive.promoted.ahead"
ASKED_FOR = "twinhive.promoted.asked-for"
"""Beside it: the tables that were to be brought over anew when the replica took over, as JSON; `"*"` for any table."""
_ANY, _LONGEST_VALUE = "*", 4_000
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
    ahead                  the tables that were newer than that position, in words; mostly none
    """

    source_log: str
    position: Position
    log: str
    begin: Position
    how: How
    source: str
    ahead: str = ""

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
            return cls(source_log, position, log, begin, How(how), source, parameters.get(PROMOTED_AHEAD, ""))
        except ValueError:
            return None

    def is_over(self, old: Parameters) -> bool:
        """True where the database that was taken over from follows a source by now, or has taken over itself since."""
        since = Promotion.read(old)
        took_over = (
            since is not None
            and since.source_log == self.log
            and since.position.event_id >= self.begin.event_id
            and old.get(PHASE) == Phase.PROMOTED.value
        )
        return took_over or followed_policy(old) is not None

    def written(self, parameters: Parameters, asked_for: Collection[str] | None = ()) -> dict[str, str]:
        """Return a replica database's parameters as those of a primary."""
        return as_primary(parameters, self.marks(asked_for))

    def marks(self, asked_for: Collection[str] | None = ()) -> dict[str, str]:
        """Return the parameters that say it; `asked_for` waited to be brought over anew, None where all tables did."""
        said = {PROMOTED: str(self)}
        if self.ahead:
            said[PROMOTED_AHEAD] = self.ahead
        if asked_for is None or asked_for:
            told = json.dumps(_ANY if asked_for is None else sorted(asked_for))
            said[ASKED_FOR] = told if len(told) <= _LONGEST_VALUE else json.dumps(_ANY)
        return said


def as_primary(parameters: Parameters, marks: Parameters) -> dict[str, str]:
    """Return a replica database's parameters as those of a primary that says since when it is one.

    What says whose replica it was stays.
    """
    kept = {key: value for key, value in parameters.items() if key not in (*_OF_HIVE, PROMOTED_AHEAD, ASKED_FOR)}
    return {**kept, PHASE: Phase.PROMOTED.value, **marks}


def behind_when_promoted(parameters: Parameters) -> frozenset[str] | None:
    """Return the tables of a primary that may have lacked rows when it took over: frozen, or asked for; None: any."""
    try:
        asked_for = json.loads(parameters.get(ASKED_FOR, "[]"))
    except ValueError:
        return None
    if not isinstance(asked_for, list):
        return None
    return frozenset(map(str, asked_for)) | frozen_tables(parameters).keys()


def _written(position: Position) -> str:
    return f"{position.event_id}:{position.time}:{position.digest}"


def _side(text: str) -> tuple[str, Position]:
    log, event_id, time, digest = text.rsplit(":", 3)
    return log, Position(int(event_id), int(time), digest)
