"""Pretend to write a file system: what is written is kept in memory, and later reads find it.

A step that is run with it decides as it always does, also by what it has just written itself, and changes nothing.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import FileStatus, is_below
from twinhive.core.ports import FileReader, TreeReader

_READING = frozenset(name for name in dir(TreeReader) if not name.startswith("_"))


class PretendedFiles:
    """Implement FileWriter for small files over a file system that is only read.

    deleted   the directories and files, there in truth, that would be gone
    """

    def __init__(self, files: FileReader) -> None:
        self._files = files
        self._written: dict[str, bytes] = {}
        self._moved: dict[str, str] = {}
        """Where a path of now was in truth, for what was renamed."""
        self._attributes: dict[tuple[str, str], str] = {}
        self._gone: set[str] = set()
        self.deleted: list[str] = []

    def __getattr__(self, name: str) -> Any:
        """Pass on what only reads. What would write, and is not below, is a mistake of ours."""
        if name not in _READING:
            raise NotImplementedError(f"a rehearsal cannot pretend {name}")
        return getattr(self._files, name)

    def status(self, path: str) -> FileStatus | None:
        """Return the status of a path as it would be."""
        if path in self._written:
            return FileStatus(path, len(self._written[path]), 0)
        if any(is_below(written, path) for written in self._written):
            return FileStatus(path, 0, 0, is_directory=True)
        true = self._in_truth(path)
        return None if true is None else self._files.status(true)

    def read(self, path: str) -> bytes:
        """Return a file as it would be. Raises Missing."""
        if path in self._written:
            return self._written[path]
        true = self._in_truth(path)
        if true is None:
            raise Missing(f"{path} does not exist")
        return self._files.read(true)

    def list_directories(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        """Yield the children of directories as they would be."""
        if not (self._written or self._gone or self._moved):
            yield from self._files.list_directories(paths)
            return
        for path in paths:
            yield path, self._children(path)

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        """Yield the children of directories as they are: what is copied is never pretended."""
        return self._files.list_pages(paths)

    def write(self, path: str, content: bytes) -> None:
        """Remember a file."""
        self._written[path] = content

    def make_directories(self, path: str) -> None:
        """Do nothing: nobody asks for an empty directory again."""

    def make_private(self, path: str) -> None:
        """Do nothing: nobody asks for an empty directory again."""

    def set_permission(self, path: str, permission: int) -> None:
        """Do nothing: nobody asks what may be written."""

    def set_attribute(self, path: str, name: str, value: str) -> None:
        """Remember it, until the path gets another name."""
        self._attributes[path, name] = value

    def attribute(self, path: str, name: str) -> str | None:
        """Return an attribute as it would be, None also for what is only pretended."""
        if (path, name) in self._attributes:
            return self._attributes[path, name]
        true = self._in_truth(path)
        if true is None or self._files.status(true) is None:
            return None
        return self._files.attribute(true, name)

    def delete_snapshot(self, path: str, name: str) -> None:
        """Do nothing: it goes with its directory."""

    def rename(self, source: str, target: str) -> bool:
        """Let a path be found under another name; False when that is taken, or there is nothing."""
        if self.status(target) is not None or self.status(source) is None:
            return False
        for path in self._below(source):
            self._written[target + path.removeprefix(source)] = self._written.pop(path)
        true = self._in_truth(source)
        if true is not None and self._files.status(true) is not None:
            self._moved[target] = true
        self._gone.add(source)
        self._gone.discard(target)
        return True

    def delete(self, path: str) -> bool:
        """Let a path be gone; False when there was none."""
        if self.status(path) is None:
            return False
        for written in self._below(path):
            del self._written[written]
        true = self._in_truth(path)
        if true is not None and self._files.status(true) is not None:
            self.deleted.append(true)
        self._gone.add(path)
        return True

    def delete_file(self, path: str) -> bool:
        """Let a file be gone; False when there was none."""
        return self.delete(path)

    def to_trash(self, path: str) -> bool:
        """Let a path be gone, as if a trash were kept; False when there was none."""
        return self.delete(path)

    def _below(self, path: str) -> list[str]:
        return [written for written in self._written if written == path or is_below(written, path)]

    def _in_truth(self, path: str) -> str | None:
        """Return where a path is in truth; None for one that would be gone."""
        above = path
        while "/" in above:
            if above in self._moved:
                return self._moved[above] + path.removeprefix(above)
            if above in self._gone:
                return None
            above = above.rpartition("/")[0]
        return path

    def _children(self, directory: str) -> list[FileStatus] | None:
        true = self._in_truth(directory)
        there = None if true is None else next(iter(self._files.list_directories([true])))[1]
        found = {}
        for child in there or ():
            path = directory + child.path.removeprefix(true or "")
            if self._in_truth(path) is not None:
                found[path] = (
                    child
                    if path == child.path
                    else FileStatus(path, child.length, child.modified_ms, is_directory=child.is_directory)
                )
        for path in (*self._written, *self._moved):
            if is_below(path, directory):
                name = path.removeprefix(directory).lstrip("/").partition("/")[0]
                child_path = f"{directory.rstrip('/')}/{name}"
                status = self.status(child_path)
                if status is not None:
                    found.setdefault(child_path, status)
        if there is None and not found:
            return None
        return [found[path] for path in sorted(found)]
