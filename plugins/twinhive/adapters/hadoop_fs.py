"""Read and write a file system through Hadoop's client."""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from twinhive.adapters import hadoop_listing, hadoop_space
from twinhive.adapters.hadoop_client import HadoopClient
from twinhive.adapters.hadoop_errors import is_missing, translated
from twinhive.adapters.jvm import java_class
from twinhive.domain.errors import Missing, Refused, TwinhiveError
from twinhive.domain.files import ChecksumForm, FileStatus, Space, Usage, base_name, parent

_BUFFER = 64 * 1024
_COPY_BUFFER = 1024 * 1024


class HadoopFiles:
    """Implement FileReader and FileWriter for everything that Hadoop has a client for.

    It may be shared between threads. Files and directories get the permissions that Hadoop's
    umask leaves (`fs.permissions.umask-mask`, 022 unless the properties say otherwise).
    """

    def __init__(self, root: str, properties: Mapping[str, str], user: str | None = None) -> None:
        self._client = HadoopClient(root, properties, user)
        # The form of a checksum is a property of the client, not of the call.
        composite = {"dfs.checksum.combine.mode": "COMPOSITE_CRC"}
        self._comparing_client = HadoopClient(root, properties, user, composite)

    @property
    def root(self) -> str:
        """Scheme and authority: `hdfs://east`."""
        return self._client.root

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._comparing_client.close()

    def in_safe_mode(self) -> bool:
        """True while the file system refuses writes by itself."""
        if not self._client.is_hdfs:
            return False
        with translated(self.root, self.root):
            return bool(self._java.setSafeMode(java_class("org.apache.hadoop.fs.SafeModeAction").GET))

    def status(self, path: str) -> FileStatus | None:
        """Return the status of a path, or None when it does not exist."""
        with translated(self.root, path):
            try:
                found = self._java.getFileStatus(self._path(path))
            except java_class("java.io.FileNotFoundException"):
                return None
            return hadoop_listing.to_status(self._client, path, found)

    def list_directories(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        """Yield the direct children of each directory, sorted, or None for a missing one."""
        return hadoop_listing.list_directories(self._client, paths)

    def usage(self, path: str) -> Usage:
        """Return what is below a path. Raises Missing."""
        with translated(self.root, path):
            summary = self._java.getContentSummary(self._path(path))
            directories, files = int(summary.getDirectoryCount()), int(summary.getFileCount())
            # The directory itself is in Java's count, and is not below itself.
            return Usage(length=int(summary.getLength()), files=files, directories=max(0, directories - 1))

    def space(self, path: str) -> Space:
        """Return free space for writes below a path, counted after replication."""
        with translated(self.root, path):
            return hadoop_space.free_space(self._client, path)

    def checksum(self, path: str, form: ChecksumForm) -> str | None:
        """Return a file's checksum in hex, None where the file system has none. Raises Missing."""
        client = self._comparing_client if form is ChecksumForm.COMPARISON else self._client
        with translated(self.root, path):
            found = client.java.getFileChecksum(self._path(path))
            if found is None:
                client.java.getFileStatus(self._path(path))  # file systems without checksums do not look
                return None
            # Java pads the bytes; Hive writes only so many of them into events and names.
            return bytes(found.getBytes())[: int(found.getLength())].hex()

    def read(self, path: str) -> bytes:
        """Return a whole (small) file. Raises Missing."""
        with translated(self.root, path):
            stream = self._java.open(self._path(path), _BUFFER)
            try:
                return bytes(stream.readAllBytes())
            finally:
                stream.close()

    def open(self, path: str) -> Any:
        """Open a file as a Java stream. Raises Missing."""
        with translated(self.root, path):
            return self._java.open(self._path(path), _BUFFER)

    def attribute(self, path: str, name: str) -> str | None:
        """Return an extended attribute (`user.x`) of a path, or None. Raises Missing."""
        with translated(self.root, path):
            try:
                found = self._java.getXAttrs(self._path(path)).get(name)
            except java_class("java.lang.UnsupportedOperationException"):
                return None
            return None if found is None else bytes(found).decode()

    def write(self, path: str, content: bytes) -> None:
        """Write a (small) file under another name, then put it in place; readers see all or nothing."""
        temporary = f"{parent(path)}/.{base_name(path)}.{uuid.uuid4().hex}"
        try:
            with translated(self.root, path):
                stream = self._create(temporary, 0)
                try:
                    stream.write(content)
                finally:
                    stream.close()
                self._put_in_place(temporary, path)
        except BaseException:
            self._delete_quietly(temporary)
            raise

    def create_from(self, stream: Any, path: str, *, block_size: int = 0) -> int:
        """Write what a Java stream holds into a new file, close both, return the bytes written."""
        with translated(self.root, path):
            try:
                target = self._create(path, block_size)
                try:
                    # A Python int selects the overload that takes a buffer size, not a length.
                    java_class("org.apache.hadoop.io.IOUtils").copyBytes(stream, target, _COPY_BUFFER, False)
                    return int(target.getPos())
                finally:
                    target.close()
            finally:
                stream.close()

    def make_directories(self, path: str) -> None:
        """Make a directory and its parents; one that exists is fine."""
        with translated(self.root, path):
            if not self._java.mkdirs(self._path(path)):
                raise Refused(f"{path}: {self.root} did not make the directory")

    def rename(self, source: str, target: str) -> bool:
        """Rename without overwriting; False when the target exists or the source is gone.

        Raises Missing when the directory to rename into does not exist.
        """
        with translated(self.root, target):
            if self._client.is_hdfs:
                return self._rename_on_hdfs(source, target)
            if not self._exists(source) or self._exists(target):
                return False
            if not self._exists(parent(target)):
                raise _no_parent(source, target)
            return bool(self._java.rename(self._path(source), self._path(target)))

    def delete(self, path: str) -> bool:
        """Delete a file or a whole directory for good; False when there was none."""
        with translated(self.root, path):
            return bool(self._java.delete(self._path(path), True))

    def set_attribute(self, path: str, name: str, value: str) -> None:
        """Set an extended attribute (`user.x`). Raises Missing, and Refused where there are none."""
        with translated(self.root, path):
            self._java.setXAttr(self._path(path), name, value.encode())

    @property
    def _java(self) -> Any:
        return self._client.java

    def _path(self, path: str) -> Any:
        return self._client.to_java(path)

    def _exists(self, path: str) -> bool:
        return bool(self._java.exists(self._path(path)))

    def _create(self, path: str, block_size: int) -> Any:
        java_path = self._path(path)
        replication = self._java.getDefaultReplication(java_path)
        size = block_size or self._java.getDefaultBlockSize(java_path)
        return self._java.create(java_path, False, _BUFFER, replication, size)

    def _rename_on_hdfs(self, source: str, target: str) -> bool:
        # The rename without options would move the source *into* a target that is a directory.
        options = java_class("org.apache.hadoop.fs.Options$Rename")
        try:
            self._java.rename(self._path(source), self._path(target), [options.NONE])
        except java_class("java.io.IOException") as error:
            # HDFS has several exceptions for a target that exists, one of them without a name.
            if self._exists(target) or not self._exists(source):
                return False
            if is_missing(error):
                raise _no_parent(source, target) from None
            raise
        return True

    def _put_in_place(self, temporary: str, path: str) -> None:
        source, target = self._path(temporary), self._path(path)
        if self._client.is_hdfs:
            self._java.rename(source, target, [java_class("org.apache.hadoop.fs.Options$Rename").OVERWRITE])
        elif not self._java.rename(source, target):
            self._java.delete(target, False)
            if not self._java.rename(source, target):
                raise Refused(f"{path}: {self.root} did not put the new file in place")

    def _delete_quietly(self, path: str) -> None:
        with suppress(TwinhiveError):
            self.delete(path)


def _no_parent(source: str, target: str) -> Missing:
    return Missing(
        f"{parent(target)}: the directory to rename into does not exist",
        found=f"renaming {source} to {target}",
        next_step="check that the directory was not dropped meanwhile",
    )
