"""Stand in for a file system, without Java and without a network.

It passes the contract suites that the real one passes.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from tests.support.hdfs.fake_attributes import InMemoryAttributes
from tests.support.hdfs.fake_quotas import InMemoryQuotas
from tests.support.hdfs.fake_snapshots import InMemorySnapshots
from tests.support.hdfs.fake_streams import InMemoryStream, comparison_checksum, damaged
from tests.support.hdfs.fake_trash import InMemoryTrash
from tests.support.hdfs.fake_tree import Node
from twinhive.core.model.errors import AlreadyThere, Refused, Unreachable
from twinhive.core.model.files import (
    AS_USUAL,
    ChecksumForm,
    Creation,
    FileStatus,
    Space,
    Usage,
    Written,
    is_below,
    parent,
    short_hash,
)

BLOCK = 128 * 1024 * 1024


class InMemoryFiles(InMemoryAttributes, InMemorySnapshots, InMemoryTrash, InMemoryQuotas):
    """Implement TreeWriter as HDFS behaves; `InMemoryCalls` has the knobs."""

    def close(self) -> None:
        """Hold nothing."""

    def put(
        self,
        path: str,
        content: bytes = b"",
        *,
        block_size: int = BLOCK,
        modified_ms: int | None = None,
        checksum_type: str | None = None,
    ) -> FileStatus:
        """Write a file as the source's own users do, over whatever was there."""
        with self._lock:
            self._check_room(path)
            status = self._tree.new_status(path, len(content), permission=0o644, block_size=block_size)
            status = replace(status, modified_ms=status.modified_ms if modified_ms is None else modified_ms)
            self._tree.add(Node(status, content, checksum_type=checksum_type or self.usual_checksums))
            return status

    def rewrite(self, path: str, content: bytes) -> None:
        """Change a file in its place, as truncate and append do: its directory keeps its time."""
        with self._lock:
            node = self._file(path)
            node.content = content
            node.status = replace(node.status, length=len(content), modified_ms=self._tree.new_time())

    def link(self, path: str) -> FileStatus:
        """Make a symbolic link."""
        with self._lock:
            status = replace(self._tree.new_status(path, permission=0o777), is_link=True)
            self._tree.add(Node(status))
            return status

    def retime(self, path: str) -> None:
        """Give a file or directory a new time."""
        with self._lock:
            self._node(path)
            self._tree.touch(path)

    def pass_time(self, seconds: float) -> None:
        """Let some time pass in which nothing happens."""
        self._tree.passed_ms += int(seconds * 1000)

    def paths(self) -> list[str]:
        """Return the paths of all files, sorted."""
        return sorted(path for path, node in self._nodes.items() if not node.status.is_directory)

    def in_safe_mode(self) -> bool:
        with self._call("in_safe_mode"):
            return self.safe_mode

    def status(self, path: str) -> FileStatus | None:
        with self._call("status"):
            self._check_readable(parent(path))
            node = self._tree.find(path)
            return node.status if node else None

    def list_directories(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        for path in paths:
            with self._call("list_directories"):
                children = self._children(path)
            yield path, children and sorted(children, key=lambda status: status.path)

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        for path in paths:
            with self._call("list_pages"):
                children = self._children(path)
            yield path, children and children[: self.page_size]
            for start in range(self.page_size, len(children or ()), self.page_size):
                with self._call("list_pages"):
                    page = (children or [])[start : start + self.page_size]
                yield path, page

    def usage(self, path: str) -> Usage:
        with self._call("usage"):
            self._node(path)
            below = [self._nodes[name].status for name in self._tree.below(path)]
            files = [status for status in below if not status.is_directory]
            directories = sum(status.is_directory and status.path != path for status in below)
            return Usage(sum(status.length for status in files), len(files), directories)

    def space(self, path: str, within: str) -> Space:
        with self._call("space"):
            found = Space(1 << 40)
            for directory, quota in self.quotas.items():
                if path == directory or is_below(path, directory):
                    is_asked = directory == within or is_below(directory, within)
                    found = quota if is_asked else Space(quota.free_bytes)
            return found

    def checksum(self, path: str, form: ChecksumForm, *, length: int | None = None) -> str | None:
        with self._call("checksum"):
            self._check_readable(path)
            node = self._node(path)
            if not self._has_checksums or node.status.is_directory:
                return None
            content = node.content[:length]
            if form is ChecksumForm.COMPARISON:
                return comparison_checksum(content, node.checksum_type)
            return short_hash(f"{node.checksum_type} {node.status.block_size} {content.hex()}", 56)

    def digest(self, path: str) -> str:
        with self._call("digest"):
            self._check_readable(path)
            return hashlib.sha256(b"".join(self._stream(path, verified=True).pieces(None))).hexdigest()

    def read(self, path: str) -> bytes:
        with self._call("read"):
            return b"".join(self._stream(path, verified=True).pieces(None))

    def open(self, path: str, *, offset: int = 0, verified: bool = True) -> InMemoryStream:
        with self._call("open"):
            stream = self._stream(path, verified=verified)
            if path in self.changes_when_opened:
                self.changes_when_opened.remove(path)
                self.put(path, stream.content + b"!")
            return replace(stream, content=stream.content[offset:])

    def write(self, path: str, content: bytes) -> None:
        with self._change("write", path):
            self.put(path, content)

    def create_from(
        self,
        stream: InMemoryStream,
        path: str,
        *,
        how: Creation = AS_USUAL,
        length: int | None = None,
        meter: Callable[[int], None] | None = None,
    ) -> Written:
        with self._change("create_from", path):
            if path in self._nodes:
                raise AlreadyThere(f"{path}: {self.root} has this path already")
            self.put(path, block_size=how.block_size or BLOCK, checksum_type=how.checksum)
            permission = 0o644 if how.permission is None else how.permission
            self._change_status(path, permission=permission, replication=how.replication or 1)
        written = self._append(stream, path, length, meter)
        checksum_type = how.checksum or self.usual_checksums
        with self._lock:
            number = self._node(path).status.file_id
            if self.corrupt_next_copies:
                self.corrupt_next_copies -= 1
                self._set_content(path, damaged(self._node(path).content))
        return Written(
            len(written), comparison_checksum(written, checksum_type) if self._has_checksums else None, number
        )

    def append_from(self, stream: InMemoryStream, path: str, *, meter: Callable[[int], None] | None = None) -> int:
        with self._change("append_from", path):
            self._file(path)
        return len(self._append(stream, path, None, meter))

    def concatenate(self, path: str, parts: Sequence[str]) -> None:
        with self._change("concatenate", path):
            if not self.can_concatenate:
                raise Refused(f"{path}: {self.root} refused", found="files cannot be put together")
            if any(parent(part) != parent(path) or part == path for part in parts):
                raise Refused(f"{path}: {self.root} refused", found="parts that are not beside it")
            if not parts:
                return
            content = self._file(path).content + b"".join(self._file(part).content for part in parts)
            for part in parts:
                self._tree.remove(part)
            self._set_content(path, content)

    def make_directories(self, path: str) -> None:
        with self._change("make_directories", path):
            self._check_room(path)
            self._tree.make_directories(path)

    def make_private(self, path: str) -> None:
        with self._change("make_private", path):
            is_new = path not in self._nodes
            self._tree.make_directories(path)
            if is_new:
                self._change_status(path, permission=0o700)

    def set_permission(self, path: str, permission: int) -> None:
        with self._change("set_permission", path):
            self._change_status(path, permission=permission)

    def rename(self, source: str, target: str) -> bool:
        with self._change("rename", target):
            self._check_text(source)
            self._check_permission("rename", source)
            if source not in self._nodes or target in self._nodes:
                return False
            self._check_parent(target)
            self._check_room(target)
            self._tree.move(source, target)
            return True

    def replace(self, source: str, target: str) -> None:
        with self._change("replace", target):
            self._check_text(source)
            self._check_permission("replace", source)
            there = self._nodes.get(target)
            if self._node(source).status.is_directory or (there and there.status.is_directory):
                raise Refused(f"{target}: {self.root} refused", found="a directory", expected="files")
            self._check_parent(target)
            if there:
                self._tree.remove(target)
            self._tree.move(source, target)

    def delete_file(self, path: str) -> bool:
        with self._change("delete_file", path):
            if self._tree.below(path)[1:]:
                raise Refused(f"{path}: {self.root} refused", found="a directory with something in it")
            return self._tree.remove(path)

    def delete(self, path: str) -> bool:
        with self._change("delete", path):
            return self._tree.remove(path)

    def _children(self, path: str) -> list[FileStatus] | None:
        self._check_readable(path)
        node = self._tree.find(path)
        if node is not None and not node.status.is_directory:
            raise Refused(f"{path}: cannot be listed", found="a file", expected="a directory")
        return None if node is None else self._tree.children(path)

    def _stream(self, path: str, *, verified: bool) -> InMemoryStream:
        self._check_readable(path)
        content = self._file(path).content
        if verified and path in self.corrupt:
            return InMemoryStream(content, Unreachable(f"{path}: no replica of a block has the right checksum"))
        if not verified and path in self.corrupt | self.corrupt_replicas:
            return InMemoryStream(damaged(content))
        return InMemoryStream(content)

    def _append(
        self, stream: InMemoryStream, path: str, length: int | None, meter: Callable[[int], None] | None
    ) -> bytes:
        """Write piece by piece: what ends the copy leaves what was written so far."""
        written = b""
        for piece in stream.pieces(length):
            if meter:
                meter(len(piece))
            written += piece
            with self._lock:
                self._set_content(path, self._file(path).content + piece)
        return written

    def _set_content(self, path: str, content: bytes) -> None:
        self._node(path).content = content
        self._change_status(path, length=len(content), modified_ms=self._tree.new_time())

    def _change_status(self, path: str, **fields: int) -> None:
        node = self._node(path)
        node.status = replace(node.status, **fields)
