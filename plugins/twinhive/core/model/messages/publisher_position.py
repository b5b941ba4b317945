"""Keep up to which event a metastore's messages were sent: parameters of a table without rows on that metastore."""

import re
import uuid
from dataclasses import dataclass, replace

from twinhive.core.model.changes.events import Position
from twinhive.core.model.marks import STAMP
from twinhive.core.model.objects import Parameters

_PREFIX = "twinhive.publisher."
_LOG, _EVENT, _TIME, _DIGEST, _HOLDER = (_PREFIX + key for key in ("log", "event", "time", "digest", "holder"))
_GAP = _PREFIX + "gap"
NOBODY = ""


@dataclass(frozen=True)
class ToldGap:
    """Events, the first and the last, that were gone before they were told, and when that was seen, Unix seconds."""

    first: int
    last: int
    at: int

    def __str__(self) -> str:
        return f"{self.first}-{self.last} {self.at}"

    @classmethod
    def read(cls, text: str) -> "ToldGap | None":
        """Read what was written; None for anything else."""
        found = re.fullmatch(r"(\d+)-(\d+) (\d+)", text, re.ASCII)
        return cls(*map(int, found.groups())) if found else None


@dataclass(frozen=True)
class KeptPosition:
    """What is kept.

    log_id    the notification log that the position is of
    position  all messages up to and with this event were sent
    holder    the publisher that sends, NOBODY after one that ended in order
    token     is another after each write: whoever writes proves by it that nobody else has written since
    gap       the last one that was told
    """

    log_id: str
    position: Position
    holder: str
    token: str
    gap: ToldGap | None = None

    @classmethod
    def new(cls, log_id: str, position: Position, holder: str) -> "KeptPosition":
        """Return a position that was never written."""
        return cls(log_id, position, holder, uuid.uuid4().hex)

    def moved(self, position: Position, holder: str) -> "KeptPosition":
        """Return what to write after this one."""
        return replace(self, position=position, holder=holder, token=uuid.uuid4().hex)

    def parameters(self) -> dict[str, str]:
        """Return the table's parameters that keep it."""
        return {
            _LOG: self.log_id,
            _EVENT: str(self.position.event_id),
            _TIME: str(self.position.time),
            _DIGEST: self.position.digest,
            _HOLDER: self.holder,
            STAMP: self.token,
            **({_GAP: str(self.gap)} if self.gap else {}),
        }

    @classmethod
    def read(cls, parameters: Parameters) -> "KeptPosition | None":
        """Read a table's parameters; None for a table that keeps no position."""
        log_id, event, token = (parameters.get(key) for key in (_LOG, _EVENT, STAMP))
        time = parameters.get(_TIME, "0")
        if not (log_id and token and event and event.isdecimal() and time.isdecimal()):
            return None
        at = Position(int(event), int(time), parameters.get(_DIGEST, ""))
        return cls(log_id, at, parameters.get(_HOLDER, NOBODY), token, ToldGap.read(parameters.get(_GAP, "")))
