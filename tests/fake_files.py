"""Stand in for a file system and for the lease on it, without Java and without a network.

Both pass the contract suites that the real ones pass. Knobs make them fail.
"""

import itertools
import threading
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from twinhive.domain.errors import ActNow, AlreadyThere, LeaseLost, Missing, Refused, SafeMode, Unreachable
from twinhive.domain.files import ChecksumForm, FileStatus, Space, Usage, is_below, parent, short_hash

BLOCK = 128 * 1024 * 1024


@dataclass
class _Node:
    status: FileStatus
    content: bytes = b""
    attributes: dict[str, str] = field(default_factory=dict)


class InMemoryStream:
    """Be an open file; what it held when it was opened is what a copy gets."""

    def __init__(self, content: bytes) -> None:
        self.content = content


class InMemoryFiles:
    """Implement FileReader and FileWriter as HDFS behaves.

    `down` and `safe_mode` are states, `unanswered` is how many of the next calls get no answer,
    `corrupt_next_copies` how many of the next copies come out wrong. Opening a file of
    `changes_when_opened` changes it once it was read; paths below one of `forbidden` refuse writes.
    """

    def __init__(self, root: str = "hdfs://fake", *, has_checksums: bool = True) -> None:
        self._root = root
        self._has_checksums = has_checksums
        self._ids = itertools.count(16386)
        self._times = itertools.count(1_700_000_000_000, 1000)
        self._lock = threading.RLock()
        self._nodes: dict[str, _Node] = {}
        self.calls: Counter[str] = Counter()
        self.down = False
        self.safe_mode = False
        self.unanswered = 0
        self.corrupt_next_copies = 0
        self.changes_when_opened: set[str] = set()
        self.forbidden: set[str] = set()
        self.quotas: dict[str, Space] = {}

    @property
    def root(self) -> str:
        return self._root

    def close(self) -> None:
        """Hold nothing."""

    def put(self, path: str, content: bytes = b"", *, block_size: int = BLOCK) -> FileStatus:
        """Write a file as the source's own users do, over whatever was there."""
        with self._lock:
            self._make_directories(parent(path))
            status = FileStatus(
                path, len(content), next(self._times), False, next(self._ids), "hive", "hive", 0o644, block_size, 1
            )
            self._nodes[path] = _Node(status, content)
            return status

    def retime(self, path: str) -> None:
        """Give a directory a new time, as HDFS does when a child of it comes or goes."""
        with self._lock:
            node = self._node(path)
            node.status = replace(node.status, modified_ms=next(self._times))

    def paths(self) -> list[str]:
        """Return the paths of all files, sorted."""
        return sorted(path for path, node in self._nodes.items() if not node.status.is_directory)

    def in_safe_mode(self) -> bool:
        with self._call("in_safe_mode"):
            return self.safe_mode

    def status(self, path: str) -> FileStatus | None:
        with self._call("status"):
            node = self._nodes.get(path.rstrip("/"))
            return node.status if node else None

    def list_directories(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        for path in paths:
            with self._call("list_directories"):
                children = self._children(path)
            yield path, children

    def usage(self, path: str) -> Usage:
        with self._call("usage"):
            self._node(path)
            below = [node.status for name, node in self._nodes.items() if name == path or is_below(name, path)]
            files = [status for status in below if not status.is_directory]
            directories = sum(status.is_directory and status.path != path for status in below)
            return Usage(sum(status.length for status in files), len(files), directories)

    def space(self, path: str) -> Space:
        with self._call("space"):
            found = Space(1 << 40)
            for directory, quota in self.quotas.items():
                if path == directory or is_below(path, directory):
                    found = quota
            return found

    def checksum(self, path: str, form: ChecksumForm) -> str | None:
        with self._call("checksum"):
            node = self._node(path)
            if not self._has_checksums or node.status.is_directory:
                return None
            if form is ChecksumForm.COMPARISON:
                return f"{zlib.crc32(node.content):08x}"
            return short_hash(f"{node.status.block_size} {node.content.hex()}", 56)

    def read(self, path: str) -> bytes:
        with self._call("read"):
            return self._file(path).content

    def open(self, path: str) -> InMemoryStream:
        with self._call("open"):
            stream = InMemoryStream(self._file(path).content)
            if path in self.changes_when_opened:
                self.changes_when_opened.remove(path)
                self.put(path, stream.content + b"!")
            return stream

    def attribute(self, path: str, name: str) -> str | None:
        with self._call("attribute"):
            return self._node(path).attributes.get(name)

    def write(self, path: str, content: bytes) -> None:
        with self._change("write", path):
            self.put(path, content)

    def create_from(self, stream: InMemoryStream, path: str, *, block_size: int = 0) -> int:
        with self._change("create_from", path):
            if path in self._nodes:
                raise AlreadyThere(f"{path}: {self.root} has this path already")
            content = stream.content
            if self.corrupt_next_copies:
                self.corrupt_next_copies -= 1
                content = content[:-1] + b"?" if content else b"?"
            self.put(path, content, block_size=block_size or BLOCK)
            return len(content)

    def make_directories(self, path: str) -> None:
        with self._change("make_directories", path):
            self._make_directories(path)

    def rename(self, source: str, target: str) -> bool:
        with self._change("rename", target):
            if source not in self._nodes or target in self._nodes:
                return False
            if parent(target) not in self._nodes:
                raise Missing(f"{parent(target)}: the directory to rename into does not exist")
            for path in [path for path in self._nodes if path == source or is_below(path, source)]:
                node = self._nodes.pop(path)
                moved = target + path[len(source) :]
                self._nodes[moved] = replace(node, status=replace(node.status, path=moved))
            return True

    def delete(self, path: str) -> bool:
        with self._change("delete", path):
            gone = [name for name in self._nodes if name == path or is_below(name, path)]
            for name in gone:
                del self._nodes[name]
            return bool(gone)

    def set_attribute(self, path: str, name: str, value: str) -> None:
        with self._change("set_attribute", path):
            self._node(path).attributes[name] = value

    @contextmanager
    def _call(self, name: str) -> Iterator[None]:
        with self._lock:
            self.calls[name] += 1
            if self.down or self.unanswered:
                self.unanswered = max(0, self.unanswered - 1)
                raise Unreachable(f"{self.root} did not answer", next_step="start it")
            yield

    @contextmanager
    def _change(self, name: str, path: str) -> Iterator[None]:
        with self._call(name):
            if self.safe_mode:
                raise SafeMode(f"{path}: {self.root} is in safe mode", next_step="wait")
            if any(path == directory or is_below(path, directory) for directory in self.forbidden):
                raise Refused(f"{path}: {self.root} refused: permission denied", next_step="grant the right")
            yield

    def _children(self, path: str) -> list[FileStatus] | None:
        directory = path.rstrip("/")
        node = self._nodes.get(directory)
        if node is None:
            return None
        if not node.status.is_directory:
            raise Refused(f"{path}: cannot be listed", found="a file", expected="a directory")
        found = [node.status for name, node in self._nodes.items() if parent(name) == directory]
        return sorted(found, key=lambda status: status.path)

    def _node(self, path: str) -> _Node:
        node = self._nodes.get(path)
        if node is None:
            raise Missing(f"{path}: {self.root} does not have this path")
        return node

    def _file(self, path: str) -> _Node:
        node = self._node(path)
        if node.status.is_directory:
            raise Missing(f"{path}: {self.root} has a directory there")
        return node

    def _make_directories(self, path: str) -> None:
        directory = path.rstrip("/")
        while len(directory) > len(self._root):
            node = self._nodes.get(directory)
            if node is None:
                status = FileStatus(directory, 0, next(self._times), True, next(self._ids), "hive", "hive", 0o755)
                self._nodes[directory] = _Node(status)
            elif not node.status.is_directory:
                raise AlreadyThere(f"{directory}: {self.root} has a file there")
            directory = parent(directory)


class InMemoryLease:
    """Implement LeaseKeeper within one process."""

    def __init__(self) -> None:
        self._newest: Counter[str] = Counter()
        self._holders: dict[str, Mapping[str, str]] = {}
        self._unreleased: set[str] = set()

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str]) -> Iterator["_HeldInMemory"]:
        self._newest[directory] += 1
        self._holders[directory] = holder
        lease = _HeldInMemory(self, directory, self._newest[directory])
        self._unreleased.add(directory)
        try:
            yield lease
        except ActNow:
            lease.confirm()
            self._unreleased.discard(directory)
            raise
        lease.confirm()
        self._unreleased.discard(directory)

    def holder(self, directory: str) -> str | None:
        return str(dict(self._holders[directory])) if directory in self._unreleased else None

    def confirm(self, directory: str, epoch: int) -> None:
        """Raise LeaseLost unless `epoch` is the newest."""
        if self._newest[directory] != epoch:
            raise LeaseLost(f"{directory}: the lease is not ours any more", found=dict(self._holders[directory]))


@dataclass(frozen=True)
class _HeldInMemory:
    keeper: InMemoryLease
    directory: str
    epoch: int

    def confirm(self) -> None:
        self.keeper.confirm(self.directory, self.epoch)
