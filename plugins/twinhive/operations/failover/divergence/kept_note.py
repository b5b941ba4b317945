"""Note, on the old primary's cluster, how far what only an old primary has is kept."""

import json
from dataclasses import dataclass

from twinhive.core.model.changes.events import NOWHERE, Position
from twinhive.core.model.files import join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.operations.failover.promotion import Promotion


@dataclass(frozen=True)
class KeptNote:
    """How far the old primary of one failover was looked through.

    promotion  the failover that parted the two
    until      all that its own log tells up to this event is kept; None before the first pass has ended
    since_ms   when that pass began, by the clock of the old primary's file system
    is_final   nobody has written after it, up to the mark that makes the old primary a replica
    """

    promotion: str
    until: Position | None = None
    since_ms: int = 0
    is_final: bool = False

    def write(self, files: FileWriter, policy: Policy) -> int:
        """Write it, and return the time that the file system gives it."""
        position = self.until and [self.until.event_id, self.until.time, self.until.digest]
        said = {"promotion": self.promotion, "until": position, "since_ms": self.since_ms, "is_final": self.is_final}
        path = _path(policy)
        files.write(path, json.dumps(said).encode())
        status = files.status(path)
        # Without a time of its own nothing is older than it.
        return status.modified_ms if status else 0


def read_kept_note(files: FileReader, policy: Policy, promotion: Promotion) -> KeptNote:
    """Return what is noted of a failover; of another one, or what cannot be read, counts for nothing."""
    nothing, path = KeptNote(str(promotion)), _path(policy)
    if files.status(path) is None:
        return nothing
    try:
        said = json.loads(files.read(path))
        event_id, time, digest = said.get("until") or (NOWHERE.event_id, 0, "")
        until = Position(int(event_id), int(time), str(digest)) if said.get("until") else None
        found = KeptNote(str(said["promotion"]), until, int(said["since_ms"]), said["is_final"] is True)
    except (ValueError, TypeError, KeyError, AttributeError):
        return nothing
    return found if found.promotion == nothing.promotion else nothing


def _path(policy: Policy) -> str:
    return join(policy.staging, "control", "diverged.json")
