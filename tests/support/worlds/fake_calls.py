"""Be what every call of a file system in memory goes through: the knobs that make it fail, and the count of calls."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.hdfs.fake_tree import CHECKSUM_TYPE, SNAPSHOTS, Node, Tree
from twinhive.core.model.errors import Missing, Refused, SafeMode, Unreachable
from twinhive.core.model.files import Space, is_below, parent
from twinhive.core.model.untrusted_paths import is_collapsed

_WRITE, _ALL = 0o200, 0o700
_OF_THE_OWNER = frozenset({"set_permission", "set_attributes"})
_OF_THE_INODE = frozenset({"set_attribute", "append_from"})


class InMemoryCalls:
    """Hold the tree and the knobs.

    `down` and `safe_mode` are states, `unanswered` is how many of the next calls get no answer,
    `corrupt_next_copies` how many of the next copies come out wrong. Opening a file of
    `changes_when_opened` changes it once it was read; paths at or below one of `forbidden` refuse writes,
    those of `unreadable` refuse to be read and listed; `name_quotas` say how many names there may be at and below a
    directory, `opened` which files somebody is writing. A file of `corrupt` gives wrong bytes to a read that is not
    verified and none to a verified one; one of `corrupt_replicas` has a good replica for the verified read.
    A page of a listing has `page_size` entries; without `can_concatenate` it is as on an object store,
    without `keeps_trash` as on HDFS where nobody has set `fs.trash.interval`; without `keeps_attributes` no single
    attribute can be set, as on a local file system. Files are guarded by `usual_checksums`.
    """

    def __init__(self, root: str = "hdfs://fake", *, has_checksums: bool = True) -> None:
        self._tree = Tree(root)
        self._nodes = self._tree.nodes
        self._has_checksums = has_checksums
        self._lock = threading.RLock()
        self.calls: Counter[str] = Counter()
        self.down = False
        self.safe_mode = False
        self.unanswered = 0
        self.corrupt_next_copies = 0
        self.changes_when_opened: set[str] = set()
        self.forbidden: set[str] = set()
        self.unreadable: set[str] = set()
        self.corrupt: set[str] = set()
        self.corrupt_replicas: set[str] = set()
        self.quotas: dict[str, Space] = {}
        self.name_quotas: dict[str, int] = {}
        self.opened: set[str] = set()
        self.page_size = 1000
        self.can_concatenate = True
        self.keeps_trash = False
        self.usual_checksums = CHECKSUM_TYPE
        self.keeps_attributes = True

    @property
    def root(self) -> str:
        return self._tree.root

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
            self._check_writable(path)
            self._check_permission(name, path)
            yield

    def _check_writable(self, path: str) -> None:
        self._check_text(path)
        if f"/{SNAPSHOTS}/" in path or _is_one_of(path, self.forbidden):
            raise Refused(f"{path}: {self.root} refused: permission denied", next_step="grant the right")

    def _check_permission(self, name: str, path: str) -> None:
        """Refuse what HDFS refuses an owner who is no superuser: names in a directory without its write bit."""
        if name in _OF_THE_OWNER:
            return
        written = path if name in _OF_THE_INODE else parent(path)
        while written not in self._nodes:
            if (above := parent(written)) == written:
                return  # a path that is none of this file system's
            written = above
        wanted = {written: _WRITE}
        if name == "delete":
            wanted |= dict.fromkeys((one for one in self._tree.below(path) if self._tree.children(one)), _ALL)
        for one, bits in wanted.items():
            status = self._nodes[one].status
            if status.is_directory and status.permission & bits != bits:
                raise Refused(f"{path}: {self.root} refused: permission denied", found=one, next_step="grant the right")

    def _check_room(self, path: str) -> None:
        """Refuse a name that is new where a quota has no room for it."""
        if path in self._nodes:
            return
        for directory, most in self.name_quotas.items():
            if is_below(path, directory) and len(self._tree.below(directory)) >= most:
                raise Refused(f"{path}: {self.root} refused: a quota is used up", next_step="raise it")

    def _check_text(self, path: str) -> None:
        if is_collapsed(path):
            raise Refused(f"{path}: nothing is changed at a path that is another place than it says")

    def _check_readable(self, path: str) -> None:
        if _is_one_of(path, self.unreadable):
            raise Refused(f"{path}: {self.root} refused: permission denied", next_step="grant the right")

    def _check_parent(self, target: str) -> None:
        if parent(target) not in self._nodes:
            raise Missing(f"{parent(target)}: the directory to rename into does not exist")

    def _node(self, path: str) -> Node:
        node = self._tree.find(path)
        if node is None:
            raise Missing(f"{path}: {self.root} does not have this path")
        return node

    def _file(self, path: str) -> Node:
        node = self._node(path)
        if node.status.is_directory:
            raise Missing(f"{path}: {self.root} has a directory there")
        return node


def _is_one_of(path: str, places: set[str]) -> bool:
    return any(path == place or is_below(path, place) for place in places)
