"""What is to be copied, and where a copy waits until it is placed."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.files import FileStatus, join
from twinhive.core.model.names import TableName
from twinhive.core.model.untrusted_paths import leads_elsewhere, path_error

_OF_THE_BASE = "base"
_OF_EVENTS = "events"
_UNFINISHED = "tmp"
_LIST_AGAIN = "find out who wrote this dump; write another one: by a new bootstrap, window or REPL DUMP"
_EVENT_FIELDS = ("checksum", "cmroot", "event_id", "elsewhere")


@dataclass(frozen=True)
class CopyItem(SourceFile):
    """A file of the source with the object that it belongs to; `partition` is None for a file of the table itself.

    One JSON line holds one item; the dump's `files/` are such lines.

    With a `checksum` (hex, HDFS's identity form) the item is *event content*: the checksum says which
    file is meant, `length` is an estimate (0: unknown), time and file id are unknown (0). It lies at
    `path`, in the change manager's directory `cmroot`, or, after later renames, at one of `elsewhere`.
    """

    table: str = ""
    partition: str | None = None
    elsewhere: tuple[str, ...] = ()

    @classmethod
    def of(cls, file: SourceFile, table: TableName | None = None, partition: str | None = None) -> "CopyItem":
        """Return the item that copies a file of a table or of one of its partitions."""
        return cls(**_of_the_file(file), table=str(table or ""), partition=partition)

    @property
    def file(self) -> SourceFile:
        """Return the file alone."""
        return SourceFile(**_of_the_file(self))

    @property
    def is_event_content(self) -> bool:
        """True when a checksum says which file is meant, false when its listing does."""
        return bool(self.checksum)

    def staged_path(self, staging: str) -> str:
        """Return the path of its copy, named by what it is: every attempt finds what another has done."""
        if self.is_event_content:
            return join(event_directory(staging, self.event_id), _digest(self.path, self.checksum))
        digest = _digest(self.path, self.length, self.modified_ms, self.file_id)
        return join(base_directory(staging), digest[:2], f"{digest}_{self.length}")

    def is_still(self, status: FileStatus) -> bool:
        """True when a status shows the file as it was listed."""
        listed = (self.length, self.modified_ms, self.file_id)
        return not status.is_directory and listed == (status.length, status.modified_ms, status.file_id)

    def to_line(self) -> str:
        """Return the item as one line of JSON."""
        # A bootstrap lists many millions of files: what only events have is not written for them.
        known = {name: value for name, value in vars(self).items() if value or name not in _EVENT_FIELDS}
        return json.dumps(known, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str) -> "CopyItem":
        """Read what `to_line` wrote; fields that this version does not know are left out.

        Raises ActNow for a line by which its copy would be staged or placed elsewhere.
        """
        fields = json.loads(line)
        known = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        item = cls(**{**known, "elsewhere": tuple(known.get("elsewhere", ()))})
        is_odd = item.relative != "" and leads_elsewhere(item.relative)
        if is_odd or type(item.length) is not int or type(item.event_id) is not int:
            raise path_error(f"a line of a dump's list of files, {line:.300}", item.relative, _LIST_AGAIN)
        return item


def remaining(items: Iterable[CopyItem], after_event: int) -> Iterator[CopyItem]:
    """Yield the items that are still needed by a replica that has all events up to `after_event`."""
    return (item for item in items if item.event_id == 0 or item.event_id > after_event)


def base_directory(staging: str) -> str:
    """Return the directory that holds the staged copies of all listed files, spread by their names."""
    return join(staging, _OF_THE_BASE)


def unfinished_directory(staging: str) -> str:
    """Return where copies are written to before they are verified."""
    return join(staging, _UNFINISHED)


def events_directory(staging: str) -> str:
    """Return the directory that holds the staged files of all events, a directory for each event."""
    return join(staging, _OF_EVENTS)


def event_directory(staging: str, event_id: int) -> str:
    """Return the directory of one event's staged files; sorted by name they are sorted by event."""
    return join(events_directory(staging), f"{event_id:012d}")


def _digest(*identity: object) -> str:
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]


def _of_the_file(file: SourceFile) -> dict[str, Any]:
    return {field.name: getattr(file, field.name) for field in fields(SourceFile)}
