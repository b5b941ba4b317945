"""The mark that says that an object has a whole copy on another cluster: a parameter of its table or partition."""

import json
from dataclasses import dataclass

from twinhive.core.model.files import FileStatus
from twinhive.core.model.objects import Parameters

PREFIX = "twinhive.copy."
"""Followed by the name of the cluster."""
CLUSTER = "twinhive.cluster"
"""On a table: the cluster to which it belongs; without it, the default cluster."""
ROOT = "twinhive.root."
"""On a database, followed by a cluster's name: where its tables are put on that cluster."""
TICKET = "twinhive.copies"
"""On whatever had a copy marked, or a mark taken away: which call did so last (`touches`)."""
LONGEST = 4_000
"""Characters of a parameter of a partition, in the schema of most metastores."""


@dataclass(frozen=True)
class DirectoryState:
    """What tells whether something has changed in a directory: its id, and its time in milliseconds.

    `below` is a digest of the directories in it, in depth: what changes in them changes nothing of its own. '' without.
    """

    file_id: int
    modified_ms: int
    below: str = ""

    def fields(self) -> list[int | str]:
        """Return the state as JSON holds it."""
        return [self.file_id, self.modified_ms, *([self.below] if self.below else [])]

    @classmethod
    def of(cls, status: FileStatus) -> "DirectoryState":
        """Return the state of a directory that was looked at."""
        return cls(status.file_id, status.modified_ms)


@dataclass(frozen=True)
class CopyMark:
    """A whole copy of an unpartitioned table or a partition.

    location   the directory of the copy, a full URI
    log_id     the metastore's log
    event_id   the copy is what the object was as of this event of it
    directory  the primary's directory as it was when it was listed, with those in it
    files, bytes   what the copy holds
    """

    location: str
    log_id: str
    event_id: int
    directory: DirectoryState
    files: int
    bytes: int

    def is_of(self, log_id: str, newest_event: int) -> bool:
        """True unless it was made under another log, or under what a restored metastore's log has lost."""
        return self.log_id == log_id and self.event_id <= newest_event

    def text(self) -> str:
        """Return the value of the parameter."""
        fields = {
            "location": self.location,
            "log": self.log_id,
            "event": self.event_id,
            "directory": self.directory.fields(),
            "files": self.files,
            "bytes": self.bytes,
        }
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "CopyMark | None":
        """Read a mark; None for a text that is none."""
        try:
            fields = json.loads(text)
            file_id, modified_ms, *more = fields["directory"]
            mark = cls(
                fields["location"],
                fields["log"],
                fields["event"],
                DirectoryState(file_id, modified_ms, *more),
                fields["files"],
                fields["bytes"],
            )
        except (ValueError, TypeError, KeyError):
            return None
        numbers = (mark.event_id, file_id, modified_ms, mark.files, mark.bytes)
        texts = (mark.location, mark.log_id, mark.directory.below)
        is_sound = all(type(one) is int for one in numbers) and all(type(one) is str for one in texts)
        return mark if is_sound else None


def mark_key(cluster: str) -> str:
    """Return the name of the parameter that marks a copy on a cluster."""
    return PREFIX + cluster


def mark_on(parameters: Parameters, cluster: str) -> CopyMark | None:
    """Return the mark of a copy on a cluster, None where there is none that can be read."""
    text = parameters.get(mark_key(cluster))
    return None if text is None else CopyMark.parse(text)


def with_mark(parameters: Parameters, cluster: str, mark: CopyMark | None, ticket: str) -> dict[str, str]:
    """Return an object's parameters with another mark for a cluster, or with none, and the ticket of the call."""
    others = {key: value for key, value in parameters.items() if key != mark_key(cluster)}
    marked = {} if mark is None else {mark_key(cluster): mark.text()}
    return {**others, **marked, TICKET: ticket}


def primary_of(parameters: Parameters, default: str) -> str:
    """Return the cluster to which a table belongs."""
    return parameters.get(CLUSTER) or default
