"""Describe files and directories as values; do arithmetic on their paths.

Paths are URIs as Hadoop prints them (`hdfs://east/warehouse/t/p=a b/f`): nothing in them is
percent-encoded by us, and they never end in a slash.
"""

import hashlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

RENAMING = frozenset({"hdfs", "viewfs", "webhdfs", "swebhdfs", "ofs", "o3fs", "abfs", "abfss", "file"})
"""Schemes of file systems that rename a file or a directory in one step, which nobody sees half done."""
LEASING = frozenset({"hdfs"})
"""Schemes of those that let one client cut off another from the file that it writes: a lease rests on it."""

_BYTES_PER_FILE = 1_000_000
_SIGNED = bytes(byte ^ 0x80 for byte in range(256))


class ChecksumForm(Enum):
    """Which checksum of a file is meant."""

    IDENTITY = "MD5-of-MD5-of-CRC"
    """HDFS's default form, as in events and change-manager names; depends on the block size."""
    COMPARISON = "composite CRC"
    """Equal for equal content whatever the block size: for comparing two copies."""


@dataclass(frozen=True)
class FileStatus:
    """What a listing says of one path. Length in bytes, times in milliseconds since 1970.

    `file_id` is the file system's own number for the file (HDFS: inode id), 0 where there is none.
    `has_acl` is False also where a listing does not tell.
    """

    path: str
    length: int
    modified_ms: int
    is_directory: bool = False
    file_id: int = 0
    owner: str = ""
    group: str = ""
    permission: int = 0
    block_size: int = 0
    replication: int = 0
    accessed_ms: int = 0
    has_acl: bool = False
    is_link: bool = False


@dataclass(frozen=True)
class Creation:
    """How a new file is made; 0, None and '' leave it to the file system and its client.

    `permission` is taken as it is, without a umask. `checksum` names how HDFS guards the blocks, type and
    bytes each: `CRC32C/512`.
    """

    block_size: int = 0
    replication: int = 0
    permission: int | None = None
    checksum: str = ""


AS_USUAL = Creation()


@dataclass(frozen=True)
class Written:
    """What was written: bytes, their checksum in the comparison form, and the file's id (0: there is none).

    `checksum` was computed from the bytes on their way, None where the file system would not give a comparable one.
    """

    length: int
    checksum: str | None = None
    file_id: int = 0


@dataclass(frozen=True)
class Attributes:
    """What a file or directory carries besides its bytes; None leaves a thing as it is. Times in milliseconds."""

    owner: str | None = None
    group: str | None = None
    permission: int | None = None
    replication: int | None = None
    acl: tuple[str, ...] | None = None
    extended: Mapping[str, bytes] | None = None
    modified_ms: int | None = None
    accessed_ms: int | None = None


class ChangeKind(Enum):
    """What happened to a path between two snapshots, as HDFS reports it."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True)
class SnapshotChange:
    """One path below a directory that is not the same in two snapshots; paths are relative to it, '' is itself.

    `target` is where a renamed path is in the later snapshot.
    """

    kind: ChangeKind
    path: str
    target: str | None = None


@dataclass(frozen=True)
class Space:
    """Free bytes of a file system, and what its directory quota leaves (None: no quota)."""

    free_bytes: int
    quota_bytes_left: int | None = None
    quota_names_left: int | None = None


@dataclass(frozen=True)
class Usage:
    """What is below a directory: bytes of all files (one replica), files, directories."""

    length: int
    files: int
    directories: int


def copying_weight(files: int, length: int) -> int:
    """Estimate what copying takes, in bytes: the calls for one file take as long as about a megabyte does."""
    return length + files * _BYTES_PER_FILE


def base_name(path: str) -> str:
    """Return the last component of a path."""
    return path.rpartition("/")[2]


def parent(path: str) -> str:
    """Return the path without its last component."""
    return path.rpartition("/")[0]


def directory_around(path: str) -> str:
    """Return the directory that a path lies in, as it can be listed: that of `hdfs://east/t` is `hdfs://east/`."""
    found = parent(path)
    return f"{found}/" if found == authority(path) else found


def join(directory: str, *components: str) -> str:
    """Put components below a directory; empty ones are left out."""
    return "/".join([directory.rstrip("/"), *(part for part in components if part)])


def is_below(path: str, directory: str) -> bool:
    """True when `path` lies strictly below `directory`."""
    return path.startswith(directory.rstrip("/") + "/")


def relative_to(path: str, directory: str) -> str:
    """Return `path` relative to `directory`, '' when they are equal; ValueError when outside."""
    if path == directory:
        return ""
    if not is_below(path, directory):
        raise ValueError(f"{path} is not below {directory}")
    return path[len(directory.rstrip("/")) + 1 :]


def quoted_path(path: str) -> str:
    """Return a path as `hdfs dfs` is given it in a shell: that command takes some characters for patterns."""
    return shlex.quote(re.sub(r"([*?\[\]{}\\])", r"\\\1", path))


def authority(path: str) -> str:
    """Return scheme and authority of a URI: `hdfs://east/a/b` gives `hdfs://east`."""
    scheme, separator, rest = path.partition("://")
    return f"{scheme}{separator}{rest.partition('/')[0]}"


def qualified(path: str, root: str) -> str:
    """Return a path as a full URI; one that names no host is on the file system `root`, as for Hadoop's clients.

    Metastores keep locations of partitions as they are given them, of ALTER_PARTITIONS at least.
    """
    bare = path.removeprefix(f"{root.partition('://')[0]}:")
    names_host = not bare.startswith("/") or (bare.startswith("//") and not bare.startswith("///"))
    return path if names_host else f"{root}/{bare.lstrip('/')}"


def is_elsewhere(path: str, root: str) -> bool:
    """True for a place on another file system. A port may be named in one place and left out in another."""
    return "://" in path and _host(path) != _host(root)


def without_port(path: str) -> str:
    """Return a path of HDFS without the port of its file system, and without empty components at its end."""
    root = authority(path)
    return f"hdfs://{_host(path)}{path[len(root) :]}".rstrip("/") if path.startswith("hdfs://") else path.rstrip("/")


def _host(path: str) -> str:
    return authority(path).rpartition("://")[2].partition(":")[0] if path.startswith("hdfs:") else authority(path)


def name_order(name: str) -> bytes:
    """Return the key by which the names of a directory are sorted everywhere: HDFS's own order, signed UTF-8 bytes."""
    return name.encode("utf-8", "surrogatepass").translate(_SIGNED)


def is_hidden(name: str) -> bool:
    """True for names that Hive's readers skip (FileUtils.HIDDEN_FILES_PATH_FILTER)."""
    return name.startswith(("_", "."))


def short_hash(text: str, length: int = 16) -> str:
    """Return the first hexadecimal digits of a SHA-256, for names that must be stable and short."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


_UNFINISHED = ("_temporary", ".hive-staging", ".spark-staging", "_twinhive", ".distcp.tmp.")
"""How names begin of what a job has not finished: Hive's, Spark's and MapReduce's, and what puts files one by one."""


def is_unfinished(name: str) -> bool:
    """True for the name of a directory or a file that its writer renames, or removes, when it is done."""
    return name.startswith(_UNFINISHED) or name.endswith("._COPYING_")
