"""Keep the snapshots of directories in memory, and say what is different in two of them, as HDFS does."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tests.support.hdfs.fake_tree import Node
from tests.support.worlds.fake_calls import InMemoryCalls
from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.files import ChangeKind, SnapshotChange, base_name, join, parent


class State:
    """What a directory held at one time: nodes by their path relative to it, '' is itself."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = nodes
        self._children: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.paths = {node.status.file_id: path for path, node in nodes.items()}
        for path in nodes:
            if path:
                self._children[parent(path)].add((base_name(path), self.file_id(path)))

    def file_id(self, path: str) -> int:
        """Return the id of what is at a path."""
        return self._nodes[path].status.file_id

    def place(self, file_id: int) -> tuple[int, str]:
        """Return the id of the directory that something is in, and its name there."""
        path = self.paths[file_id]
        return (self.file_id(parent(path)), base_name(path)) if path else (0, "")

    def look(self, file_id: int) -> object:
        """Return what makes something count as modified when it is another: not its time, nor its own name."""
        path = self.paths[file_id]
        node = self._nodes[path]
        status = replace(node.status, path="", modified_ms=0, accessed_ms=0)
        return status, node.attributes, node.acl, self._children.get(path)


def differences(earlier: State, later: State) -> Iterator[SnapshotChange]:
    """Yield the changes; of a whole directory that came or went only itself.

    Paths are those of the earlier state, so also what is below a directory that was renamed meanwhile.
    """
    compared = {file_id for file_id, path in earlier.paths.items() if _is_looked_at(path, earlier, later)}
    for file_id, path in earlier.paths.items():
        if file_id not in compared:
            continue
        if file_id not in later.paths:
            yield SnapshotChange(ChangeKind.DELETED, path)
            continue
        if earlier.place(file_id) != later.place(file_id):
            yield SnapshotChange(ChangeKind.RENAMED, path, later.paths[file_id])
        if earlier.look(file_id) != later.look(file_id):
            yield SnapshotChange(ChangeKind.MODIFIED, path)
    for file_id, path in later.paths.items():
        above, name = later.place(file_id)
        if path and file_id not in compared and above in compared:
            yield SnapshotChange(ChangeKind.CREATED, join(earlier.paths[above], name).lstrip("/"))


def _is_looked_at(path: str, earlier: State, later: State) -> bool:
    """False below a directory that was deleted: HDFS does not go there."""
    while path:
        path = parent(path)
        if earlier.file_id(path) not in later.paths:
            return False
    return True


class InMemorySnapshots(InMemoryCalls):
    """Implement SnapshotWriter."""

    def snapshots(self, path: str) -> list[str] | None:
        with self._call("snapshots"):
            self._node(path)
            held = self._tree.snapshots(path)
            return None if held is None else sorted(held)

    def snapshot_changes(self, path: str, since: str, until: str) -> Iterator[SnapshotChange]:
        with self._call("snapshot_changes"):
            states = [self._state(path, name) for name in (since, until)]
        yield from differences(*states)

    def allow_snapshots(self, path: str) -> None:
        with self._change("allow_snapshots", path):
            self._node(path)
            self._tree.allow_snapshots(path)

    def create_snapshot(self, path: str, name: str) -> None:
        with self._change("create_snapshot", path):
            self._node(path)
            held = self._held(path)
            if name in held:
                raise AlreadyThere(f"{path}: {self.root} has a snapshot {name} already")
            held[name] = self._tree.as_is(path)

    def delete_snapshot(self, path: str, name: str) -> None:
        with self._change("delete_snapshot", path):
            (self._tree.snapshots(path) or {}).pop(name, None)

    def _held(self, path: str) -> dict[str, dict[str, Node]]:
        held = self._tree.snapshots(path)
        if held is None:
            raise Refused(f"{path}: {self.root} refused", found="the directory cannot have snapshots")
        return held

    def _state(self, path: str, name: str) -> State:
        held = self._held(path)
        if name and name not in held:
            raise Missing(f"{path}: {self.root} does not have a snapshot {name}")
        return State(held[name] if name else self._tree.as_is(path))
