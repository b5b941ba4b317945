"""The mark that says that an object has a whole copy on another cluster: a partition of a table of ours."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from twinhive.core.model.files import FileStatus
from twinhive.core.model.names import escape_path_name, partition_name
from twinhive.core.model.objects import Parameters, Partition
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.thrift_objects import TableIdentity

CLUSTER = "twinhive.cluster"
"""On a table: the cluster to which it belongs; without it, the default cluster."""
ROOT = "twinhive.root."
"""On a database, followed by a cluster's name: where its tables are put on that cluster."""
LONGEST = 4_000
"""Characters of a parameter of a partition, in the schema of most metastores."""
_MARK, _LOCATION, _ORIGINAL = "twinhive.copy", "twinhive.copy.location", "twinhive.copy.original"
_WHOLE = "*"
"""Stands for an unpartitioned table where partitions have their values."""
_LONGEST_OBJECT = 200
"""Bytes: the name of a partition is at most 767 characters long, a value of it 256."""


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

    @classmethod
    def parse(cls, fields: Any) -> "DirectoryState":
        """Read what `fields` returned. Raises ValueError, TypeError."""
        file_id, modified_ms, *more = fields
        below = more[0] if more else ""
        if (type(file_id), type(modified_ms), type(below), len(more) > 1) != (int, int, str, False):
            raise ValueError(f"no state of a directory: {fields}")
        return cls(file_id, modified_ms, below)


@dataclass(frozen=True)
class CopyMark:
    """A whole copy of an unpartitioned table or a partition.

    location   the directory of the copy, a full URI
    log_id     the metastore's log
    event_id   the copy is what the object was as of this event of it
    original   the object's own directory, a full URI
    directory  that directory as it was when it was listed, with those in it
    copy       the directory of the copy as it was when all of it was there, likewise
    table      which table it is of, or of whose partition
    files, bytes   what the copy holds
    content    a digest of the object's files that were copied: names, lengths, times and ids
    """

    location: str
    log_id: str
    event_id: int
    original: str
    directory: DirectoryState
    copy: DirectoryState
    table: TableIdentity
    files: int
    bytes: int
    content: str = ""

    def is_of(self, log_id: str, newest_event: int) -> bool:
        """True unless it was made under another log, or under what a restored metastore's log has lost."""
        return self.log_id == log_id and self.event_id <= newest_event

    def parameters(self) -> dict[str, str]:
        """Return the parameters of its partition."""
        fields = {
            "log": self.log_id,
            "event": self.event_id,
            "directory": self.directory.fields(),
            "copy": self.copy.fields(),
            "table": self.table.fields(),
            "files": self.files,
            "bytes": self.bytes,
            "content": self.content,
        }
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return {_MARK: text, _LOCATION: self.location, _ORIGINAL: self.original}

    @classmethod
    def read(cls, parameters: Parameters) -> "CopyMark | None":
        """Read a mark; None for what is none."""
        try:
            fields = json.loads(parameters[_MARK])
            mark = cls(
                parameters[_LOCATION],
                fields["log"],
                fields["event"],
                parameters[_ORIGINAL],
                DirectoryState.parse(fields["directory"]),
                DirectoryState.parse(fields["copy"]),
                TableIdentity.parse(fields["table"]),
                fields["files"],
                fields["bytes"],
                fields["content"],
            )
        except (ValueError, TypeError, KeyError):
            return None
        is_sound = all(type(one) is int for one in (mark.event_id, mark.files, mark.bytes))
        return mark if is_sound and type(mark.log_id) is str and type(mark.content) is str else None


@dataclass(frozen=True)
class KeptMark:
    """A mark as it stands in its table; `mark` is None for one that nobody can read."""

    table: str
    cluster: str
    object: str
    mark: CopyMark | None

    @classmethod
    def read(cls, partition: Partition) -> "KeptMark":
        """Read a partition of a table of marks."""
        table, cluster, one = partition.values
        return cls(table, cluster, one, CopyMark.read(partition.parameters))


def object_name(values: Values) -> str:
    """Return what a table of marks calls an object: the values of a partition, or a hash of very long ones."""
    if values is None:
        return _WHOLE
    name = "/".join(map(escape_path_name, values))
    if len(escape_path_name(name).encode("utf-8", "surrogatepass")) <= _LONGEST_OBJECT:
        return name
    return f"#{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"  # no escaped value begins so


def mark_name(table: str, cluster: str, one: str) -> str:
    """Return the name of a mark's partition."""
    return partition_name(COPY_MARKS.keys, (table, cluster, one))


def primary_of(parameters: Mapping[str, str], default: str) -> str:
    """Return the cluster to which a table belongs."""
    return parameters.get(CLUSTER) or default
