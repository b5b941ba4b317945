"""Remember what the last scan has accepted, in as many files as keep what is in memory small.

The tables of a policy are dealt out over the files by their names. Each file is written when its tables are done: a
scan that was killed goes on with the others, and none has to hold, or do, all of a warehouse at once.
"""

import gzip
import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import base_name, join, short_hash
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, children
from twinhive.core.ports.packed_json import unpack_json
from twinhive.replication.comparison.directory_fingerprints import LeafLook
from twinhive.replication.scan.silent_writes import Size

_SHARDS = 64
_SUFFIX = ".json.gz"
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, IndexError)


@dataclass(frozen=True)
class Memory:
    """What was accepted of some tables: the looks of directories, when all files were compared, what they held then."""

    looks: Mapping[str, LeafLook] = field(default_factory=dict)
    deep: float = 0.0
    sizes: Mapping[str, Size] = field(default_factory=dict)
    dump: str | None = None
    """What the replica was loaded from, '' for one that was adopted: of another dump nothing is remembered.

    None: written by an earlier version.
    """

    @classmethod
    def unpacked(cls, content: bytes) -> "Memory":
        """Read what `packed` wrote."""
        fields = unpack_json(content)
        sizes = {path: (size[0], size[1]) for path, size in fields.get("sizes", {}).items()}
        return cls(
            {path: (look[0], look[1]) for path, look in fields["looks"].items()},
            fields["deep"],
            sizes,
            fields.get("dump"),
        )

    def packed(self) -> bytes:
        """Return what is to be remembered."""
        fields = {"looks": self.looks, "deep": self.deep, "sizes": self.sizes, "dump": self.dump}
        return gzip.compress(json.dumps(fields, sort_keys=True).encode(), mtime=0)


@dataclass(frozen=True)
class Memories:
    """The files of a policy; what has not changed since it was read is not written again."""

    policy: Policy
    _read: dict[str, bytes] = field(default_factory=dict)

    def read(self, files: FileReader, shard: str, dump: str | None) -> Memory:
        """Read what was remembered of some tables; nothing before the first scan after a load of `dump`."""
        loaded = dump or ""
        # Earlier versions kept all tables in one file.
        for path in (self._path(shard), self._earlier):
            with suppress(Missing, *_UNREADABLE):
                content = files.read(path)
                memory = Memory.unpacked(content)
                if path != self._earlier:
                    self._read[shard] = content
                return replace(memory, dump=loaded) if memory.dump in (None, loaded) else Memory(dump=loaded)
        return Memory(dump=loaded)

    def write(self, files: FileWriter, shard: str, memory: Memory) -> None:
        """Remember what was accepted of some tables."""
        content = memory.packed()
        if content != self._read.get(shard):
            files.write(self._path(shard), content)

    def keep_only(self, files: FileWriter, shards: Collection[str]) -> None:
        """Remove what is remembered of tables that are gone."""
        kept = {self._path(shard) for shard in shards}
        for child in children(files, self._directory):
            if child.path not in kept and base_name(child.path).endswith(_SUFFIX):
                files.delete_file(child.path)
        if files.status(self._earlier) is not None:
            files.delete_file(self._earlier)

    @property
    def _directory(self) -> str:
        return join(self.policy.staging, "scan", "looks")

    @property
    def _earlier(self) -> str:
        return join(self.policy.staging, "scan", "directories.json.gz")

    def _path(self, shard: str) -> str:
        return join(self._directory, shard + _SUFFIX)


def shard_of(table: TableName) -> str:
    """Say with which others a table is remembered: always with the same."""
    return f"{int(short_hash(table.table), 16) % _SHARDS:02d}"
