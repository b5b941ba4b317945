"""Hold what a file system in memory consists of: nodes by path, and the snapshots of directories."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from twinhive.core.model.errors import AlreadyThere, Refused
from twinhive.core.model.files import FileStatus, authority, base_name, is_below, name_order, parent

SNAPSHOTS = ".snapshot"
CHECKSUM_TYPE = "CRC32C/512"


@dataclass
class Node:
    """One file or directory."""

    status: FileStatus
    content: bytes = b""
    attributes: dict[str, bytes] = field(default_factory=dict)
    acl: tuple[str, ...] = ()
    checksum_type: str = CHECKSUM_TYPE

    def at(self, path: str) -> "Node":
        """Return the node as it is, under another path."""
        return replace(self, status=replace(self.status, path=path), attributes=dict(self.attributes))


class Tree:
    """Keep nodes by path as HDFS does: a change of a directory's children gives it a new time."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._ids = itertools.count(16385)
        self._times = itertools.count(1_700_000_000_000, 1000)
        self.passed_ms = 0
        """By so much it is later than what has happened tells."""
        self.nodes: dict[str, Node] = {}
        self._names: dict[str, set[str]] = {}
        self._snapshots: dict[str, dict[str, dict[str, Node]]] = {}
        self._put(Node(self.new_status(root, is_directory=True, permission=0o755)))

    def new_time(self) -> int:
        """Return a time after all before it, in milliseconds."""
        return next(self._times) + self.passed_ms

    def new_status(
        self, path: str, length: int = 0, *, is_directory: bool = False, permission: int = 0, block_size: int = 0
    ) -> FileStatus:
        """Return the status of something that is made now."""
        now, replication = self.new_time(), 0 if is_directory else 1
        number = next(self._ids)
        return FileStatus(
            path, length, now, is_directory, number, "hive", "hive", permission, block_size, replication, now
        )

    def find(self, path: str) -> Node | None:
        """Return the node of a path, which may lead into a snapshot."""
        path = path.rstrip("/")
        found = self.nodes.get(path)
        if found is None and f"/{SNAPSHOTS}" in path:
            return self._find_in_snapshot(path)
        return found

    def children(self, directory: str) -> list[FileStatus]:
        """Return the children of a directory in HDFS's order."""
        return sorted(self._children(directory), key=lambda status: name_order(base_name(status.path)))

    def below(self, path: str) -> list[str]:
        """Return the path itself and all paths below it, those above first; nothing for a missing one."""
        found = [path] if path in self.nodes else []
        for each in found:
            found += self._names.get(each, ())
        return found

    def add(self, node: Node) -> None:
        """Put a node at its path, over whatever was there; the parents are made. The directory gets a new time."""
        directory = parent(node.status.path)
        self.make_directories(directory)
        self._put(node)
        self.touch(directory)

    def touch(self, directory: str) -> None:
        """Give a directory a new time."""
        node = self.nodes[directory]
        node.status = replace(node.status, modified_ms=self.new_time())

    def make_directories(self, path: str) -> None:
        """Make a directory and its parents. Raises AlreadyThere where a file is in the way."""
        if authority(path) != self.root:
            raise Refused(f"{path}: {self.root} cannot be used like this", expected=f"a path of {self.root}")
        missing = []
        directory = path.rstrip("/")
        while (node := self.nodes.get(directory)) is None:
            missing.append(directory)
            directory = parent(directory)
        if not node.status.is_directory:
            raise AlreadyThere(f"{directory}: {self.root} has a file there")
        for directory in reversed(missing):
            self._put(Node(self.new_status(directory, is_directory=True, permission=0o755)))
            self.touch(parent(directory))

    def move(self, source: str, target: str) -> None:
        """Take a node and all below it to another path."""
        self._check_no_snapshots(source)
        for path in self.below(source):
            node = self.nodes.pop(path)
            self._names[parent(path)].discard(path)
            self._put(node.at(target + path[len(source) :]))
        self.touch(parent(source))
        self.touch(parent(target))

    def remove(self, path: str) -> bool:
        """Take a node away and all below it; False when there was none."""
        self._check_no_snapshots(path)
        gone = self.below(path)
        for each in gone:
            del self.nodes[each]
            self._names.pop(each, None)
        if gone:
            self._names[parent(path)].discard(path)
            self.touch(parent(path))
        return bool(gone)

    def allow_snapshots(self, directory: str) -> None:
        """Let a directory have snapshots."""
        self._snapshots.setdefault(directory, {})

    def snapshots(self, directory: str) -> dict[str, dict[str, Node]] | None:
        """Return the snapshots of a directory, which are nodes by path; None where it cannot have any."""
        return self._snapshots.get(directory)

    def as_is(self, directory: str) -> dict[str, Node]:
        """Return what a snapshot would hold now: nodes by path, which no later change reaches."""
        return {path[len(directory) + 1 :]: self.nodes[path].at(path) for path in self.below(directory)}

    def _put(self, node: Node) -> None:
        path = node.status.path
        self.nodes[path] = node
        if path != self.root:
            self._names.setdefault(parent(path), set()).add(path)

    def _children(self, directory: str) -> Iterator[FileStatus]:
        directory = directory.rstrip("/")
        if directory in self.nodes:
            yield from (self.nodes[path].status for path in self._names.get(directory, ()))
            return
        owner, _, inner = directory.partition(f"/{SNAPSHOTS}")
        held = self._snapshots.get(owner, {})
        if not inner:
            yield from (self._find_status(f"{directory}/{name}") for name in held)
            return
        name, _, relative = inner[1:].partition("/")
        prefix = f"{owner}/{SNAPSHOTS}/{name}"
        for path in held[name]:
            if path and parent(f"/{path}") == (f"/{relative}" if relative else ""):
                yield self._find_status(f"{prefix}/{path}")

    def _find_status(self, path: str) -> FileStatus:
        found = self.find(path)
        assert found
        return found.status

    def _find_in_snapshot(self, path: str) -> Node | None:
        owner, _, inner = path.partition(f"/{SNAPSHOTS}")
        held = self._snapshots.get(owner)
        if held is None or (inner and not inner.startswith("/")):
            return None
        if not inner:
            return self.nodes[owner].at(path)
        name, _, relative = inner[1:].partition("/")
        found = held.get(name, {}).get(relative)
        return found.at(path) if found else None

    def _check_no_snapshots(self, path: str) -> None:
        for directory, held in self._snapshots.items():
            if held and (directory == path or is_below(directory, path)):
                raise Refused(f"{path}: {self.root} refused", found=f"{directory} has snapshots")
