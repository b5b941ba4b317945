"""What is to be done with one path of a tree; one line of a plan holds one action."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from twinhive.core.model.files import FileStatus

# ASCII only: a name may hold line separators, or half of a character that no encoding writes.
_encode = json.JSONEncoder(separators=(",", ":")).encode

_EXISTING = -1
_SOURCE_AT = 4


class ActionKind(StrEnum):
    """What is to be done, by the letter that a line holds."""

    MAKE_DIRECTORY = "M"
    COPY = "C"
    """The target has no such file."""
    REPLACE = "R"
    """The target has another file of this name, which readers see until the new one takes its place."""
    APPEND = "A"
    """The target's file is shorter: when its bytes are the first ones of the source's, the others are appended."""
    CHECK = "V"
    """Both have the same length: the contents are compared, and the file is replaced when they differ."""
    ATTRIBUTES = "T"
    """The contents are equal, what is preserved besides is not, or cannot be known from a listing."""
    DELETE = "D"
    """The source does not have it: a file, or a whole directory."""
    SKIP = "S"
    """Nothing has to be done; such actions are counted, and have no line."""


@dataclass(frozen=True, slots=True)
class FileAction:
    """One thing to do. `relative` is the path below `Places.base`; `source` is None for a deletion.

    new_root     the topmost directory, below the base as well, that the target does not have yet and this path is in
                 ('': the base itself): it is built in `Places.tree` and renamed into place as a whole. None: the
                 path's directory is at the target, and so what is in its place counts.
    target       what a listing found there (in `Places.tree` for a path in a new directory), None for nothing
    attributes   what is preserved differs, or cannot be known from a listing: it has to be set
    """

    kind: ActionKind
    relative: str
    source: FileStatus | None = None
    new_root: str | None = None
    target: FileStatus | None = None
    attributes: bool = False

    @property
    def length(self) -> int:
        """Bytes of the source's file, 0 for a directory or a deletion."""
        return self.source.length if self.source else 0

    def to_line(self) -> str:
        """Return the action as one line of JSON, without its end."""
        new_root = _EXISTING if self.new_root is None else len(self.new_root)
        fields: list[Any] = [self.kind.value, self.relative, new_root, int(self.attributes)]
        fields.append(0 if self.source is None else _fields(self.source, self.relative))
        if self.target is not None:
            fields.append(_fields(self.target, self.relative))
        return _encode(fields)

    @classmethod
    def from_line(cls, line: str) -> "FileAction":
        """Read what `to_line` wrote."""
        kind, relative, new_root, attributes, source, *target = json.loads(line)
        return cls(
            ActionKind(kind),
            relative,
            _status(relative, *source) if source else None,
            None if new_root == _EXISTING else relative[:new_root],
            _status(relative, *target[0]) if target else None,
            bool(attributes),
        )


def length_of(line: str) -> int:
    """Return the length of the file that a line is about."""
    source = json.loads(line)[_SOURCE_AT]
    return source[1] if source else 0


def _fields(status: FileStatus, relative: str) -> tuple[Any, ...]:
    """Return the fields of a status; of a path that ends in `relative` only what stands before, else a list of it."""
    path = status.path
    return (
        path[: len(path) - len(relative)] if path.endswith(relative) else (path,),
        status.length,
        status.modified_ms,
        int(status.is_directory),
        status.file_id,
        status.owner,
        status.group,
        status.permission,
        status.block_size,
        status.replication,
        status.accessed_ms,
        int(status.has_acl),
    )


def _status(relative: str, path: str | list[str], *others: Any) -> FileStatus:
    length, modified_ms, is_directory, *between, has_acl = others
    whole = path + relative if isinstance(path, str) else path[0]
    columns = (whole, length, modified_ms, bool(is_directory), *between, bool(has_acl))
    return FileStatus(*columns)
