"""Read a file system through Hadoop's client."""

from collections.abc import Iterable, Iterator

from twinhive.core.model.files import ChecksumForm, FileStatus, Space, Usage
from twinhive.hive.adapters.hdfs import hadoop_listing, hadoop_space
from twinhive.hive.adapters.hdfs.hadoop_connections import HadoopConnections
from twinhive.hive.adapters.hdfs.hadoop_errors import translated
from twinhive.hive.adapters.hdfs.hadoop_statuses import to_status
from twinhive.hive.adapters.hdfs.hadoop_streams import OpenFile, digest_of
from twinhive.hive.adapters.jvm.java_vm import java_class


class HadoopReader(HadoopConnections):
    """Implement FileReader for everything that Hadoop has a client for."""

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
            return to_status(self._client, path, found)

    def list_directories(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        """Yield the direct children of each directory, sorted, or None for a missing one."""
        return hadoop_listing.list_directories(self._client, paths)

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus] | None]]:
        """Yield the children of each directory piece by piece, in the order of `name_order`; None for a missing one.

        What cannot be listed raises when it is its turn: all pages of the directories before it have been yielded.
        """
        return hadoop_listing.list_pages(self._client, paths)

    def usage(self, path: str) -> Usage:
        """Return what is below a path. Raises Missing."""
        with translated(self.root, path):
            summary = self._java.getContentSummary(self._path(path))
            directories, files = int(summary.getDirectoryCount()), int(summary.getFileCount())
            # The directory itself is in Java's count, and is not below itself.
            return Usage(length=int(summary.getLength()), files=files, directories=max(0, directories - 1))

    def space(self, path: str, within: str) -> Space:
        """Return free space for writes below a path, counted after replication, and the quotas from `within` on."""
        with translated(self.root, path):
            return hadoop_space.free_space(self._client, path, within)

    def checksum(self, path: str, form: ChecksumForm, *, length: int | None = None) -> str | None:
        """Return the checksum in hex of a file or of its first bytes, None where there is none. Raises Missing."""
        java = (self._as_given if form is ChecksumForm.COMPARISON else self._client).java
        with translated(self.root, path):
            found = java.getFileChecksum(self._path(path), *(() if length is None else (length,)))
            if found is None:
                java.getFileStatus(self._path(path))  # file systems without checksums do not look
                return None
            # Java pads the bytes; Hive writes only so many of them into events and names.
            return bytes(found.getBytes())[: int(found.getLength())].hex()

    def digest(self, path: str) -> str:
        """Return the SHA-256 in hex of a file, whose bytes are read for it. Raises Missing."""
        return digest_of(self.open(path))

    def read(self, path: str) -> bytes:
        """Return a whole (small) file. Raises Missing."""
        stream = self.open(path)
        with translated(self.root, path):
            try:
                return bytes(stream.java.readAllBytes())
            finally:
                stream.close()

    def open(self, path: str, *, offset: int = 0, verified: bool = True) -> OpenFile:
        """Open a file. Raises Missing."""
        return OpenFile.of(self._client if verified else self._as_given, path, offset)

    def attribute(self, path: str, name: str) -> str | None:
        """Return an extended attribute (`user.x`) of a path, or None. Raises Missing."""
        with translated(self.root, path):
            try:
                found = self._java.getXAttrs(self._path(path)).get(name)
            except java_class("java.lang.UnsupportedOperationException"):
                return None
            return None if found is None else bytes(found).decode()
