"""What sweeps have found unused: written down in staging, with the times of the NameNode.

The clock of no other machine is asked: the time of the note is when it was written, and what it names without a time
was seen then for the first time. A time in the future proves nothing: what has one counts as seen now.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from twinhive.core.model.files import join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.core.ports.server_clock import time_at
from twinhive.replication.dump.json_files import read_json, write_json

_UNUSED, _ASKED = "unused", "asked"


@dataclass(frozen=True)
class UnusedNote:
    """Times are in milliseconds since 1970.

    since     the directories, and when a sweep has first seen each unused
    asked     when the whole metastore was last asked what it uses, None for never
    written   when the note was written; 0 where it names nothing
    """

    since: Mapping[str, int] = field(default_factory=dict)
    asked: int | None = None
    written: int = 0

    @classmethod
    def read(cls, files: FileReader, policy: Policy) -> "UnusedNote":
        """Return what the last sweep has written down; nothing of what earlier versions have."""
        said = read_json(files, note_path(policy))
        return cls() if said is None or _UNUSED not in said else cls._dated(files, policy, said)

    @classmethod
    def _dated(cls, files: FileReader, policy: Policy, said: Mapping[str, Any]) -> "UnusedNote":
        if not said[_UNUSED]:
            return cls(asked=said[_ASKED])
        written = modified(files, note_path(policy))
        since = {one: written if at is None else min(at, written) for one, at in said[_UNUSED].items()}
        return cls(since, said[_ASKED], written)

    def write(self, files: FileWriter, policy: Policy, unused: Collection[str]) -> "UnusedNote":
        """Write down what is unused, and since when, with what was known before; return it as it is then."""
        said = {_UNUSED: {one: self.since.get(one) for one in sorted(unused)}, _ASKED: self.asked}
        write_json(files, note_path(policy), said)
        return self._dated(files, policy, said)

    def due(self, grace_seconds: int) -> list[str]:
        """Return what had been unused for the grace when the note was written, sorted."""
        return sorted(one for one, since in self.since.items() if self.written - since >= grace_seconds * 1000)

    def may_ask(self, grace_seconds: int) -> bool:
        """True where the whole metastore, which takes long, was not asked within the grace."""
        return self.asked is None or not 0 <= self.written - self.asked < grace_seconds * 1000


def note_path(policy: Policy) -> str:
    """Return where the note is."""
    return join(policy.staging, "scan", "unused.json")


def modified(files: FileReader, path: str) -> int:
    """Return when something was last modified, by the NameNode's clock; 0 for what is not there."""
    status = files.status(path)
    return 0 if status is None else status.modified_ms


def time_now(files: FileWriter, policy: Policy) -> int:
    """Return what time the NameNode has: that of a file which is written for this."""
    return time_at(files, join(policy.staging, "tmp", uuid4().hex))


def modified_since(files: FileReader, directory: str, moment: int) -> bool:
    """True where a directory, or anything below it, was modified after a moment of the NameNode's clock."""
    if modified(files, directory) > moment:
        return True
    waiting = [directory]
    while waiting:
        below: list[str] = []
        for _, page in files.list_pages(waiting):
            for child in page or ():
                if child.modified_ms > moment:
                    return True
                if child.is_directory:
                    below.append(child.path)
        waiting = below
    return False
