"""Say what is to be copied, and where a copy waits until it is placed."""

import hashlib
import json
from dataclasses import asdict, dataclass

from twinhive.domain.files import FileStatus, join

_OF_THE_BASE = "base"
_UNFINISHED = "tmp"


@dataclass(frozen=True)
class CopyItem:
    """One file of the source as it was when it was listed, and the object that it belongs to.

    One JSON line holds one item; the dump's `files/` are such lines. `relative` is
    the path below the object's directory, `partition` is None for a file of the table itself.
    """

    source_path: str
    length: int
    modified_ms: int
    file_id: int
    block_size: int = 0
    permission: int = 0
    table: str = ""
    partition: str | None = None
    relative: str = ""

    def staged_path(self, staging: str) -> str:
        """Return the path of its copy, named by what it is: every attempt finds what another has done."""
        identity = json.dumps([self.source_path, self.length, self.modified_ms, self.file_id])
        digest = hashlib.sha256(identity.encode()).hexdigest()[:32]
        return join(staging, _OF_THE_BASE, digest[:2], f"{digest}_{self.length}")

    def is_still(self, status: FileStatus) -> bool:
        """True when a status shows the file as it was listed."""
        listed = (self.length, self.modified_ms, self.file_id)
        return not status.is_directory and listed == (status.length, status.modified_ms, status.file_id)

    def to_line(self) -> str:
        """Return the item as one line of JSON."""
        fields = asdict(self)
        return json.dumps({"path": fields.pop("source_path"), **fields}, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str) -> "CopyItem":
        """Read what `to_line` wrote; fields that this version does not know are left out."""
        fields = json.loads(line)
        known = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        return cls(source_path=fields["path"], **known)


def unfinished_directory(staging: str) -> str:
    """Return where copies are written to before they are verified."""
    return join(staging, _UNFINISHED)
