"""Read and write a file system through Hadoop's client."""

import uuid
from collections.abc import Sequence
from contextlib import suppress

from twinhive.core.model.errors import Missing, Refused, TwinhiveError
from twinhive.core.model.file_names import LONGEST, shortened
from twinhive.core.model.files import AS_USUAL, Attributes, Creation, Written, base_name, parent
from twinhive.hive.adapters.hdfs import hadoop_streams, hadoop_trash
from twinhive.hive.adapters.hdfs.hadoop_attributes import HadoopAttributes
from twinhive.hive.adapters.hdfs.hadoop_errors import is_missing, translated
from twinhive.hive.adapters.hdfs.hadoop_quotas import HadoopQuotas
from twinhive.hive.adapters.hdfs.hadoop_reader import HadoopReader
from twinhive.hive.adapters.hdfs.hadoop_snapshots import HadoopSnapshots
from twinhive.hive.adapters.hdfs.hadoop_streams import CountBytes, OpenFile
from twinhive.hive.adapters.jvm.java_vm import java_class

_PRIVATE = 0o700


class HadoopFiles(HadoopReader, HadoopAttributes, HadoopSnapshots, HadoopQuotas):
    """Implement TreeWriter for everything that Hadoop has a client for.

    It may be shared between threads. Files and directories get the permissions that Hadoop's
    umask leaves (`fs.permissions.umask-mode`, 022 unless the properties say otherwise), unless one is given.
    """

    def write(self, path: str, content: bytes) -> None:
        """Write a (small) file under another name, then put it in place; readers see all or nothing."""
        random = uuid.uuid4().hex
        temporary = f"{parent(path)}/.{shortened(base_name(path), LONGEST - len(random) - 2)}.{random}"
        try:
            with translated(self.root, path):
                stream = hadoop_streams.create(self._client, temporary, AS_USUAL)
                try:
                    stream.write(content)
                finally:
                    stream.close()
            self.replace(temporary, path)
        except BaseException:
            self._delete_quietly(temporary)
            raise

    def create_from(
        self,
        stream: OpenFile,
        path: str,
        *,
        how: Creation = AS_USUAL,
        length: int | None = None,
        meter: CountBytes | None = None,
    ) -> Written:
        """Write what a file holds, or its next `length` bytes, into a new file; close both."""
        client = self._client if how.permission is None else self._as_given
        checksum = hadoop_streams.new_checksum(client, how)
        with translated(self.root, path):
            try:
                target = hadoop_streams.create(client, path, how)
                file_id = hadoop_streams.file_id(client, target)
                try:
                    written = hadoop_streams.pump(stream, target, checksum, length, meter)
                finally:
                    target.close()
            finally:
                stream.close()
        return Written(written, None if checksum is None else f"{checksum.getValue():08x}", file_id)

    def append_from(self, stream: OpenFile, path: str, *, meter: CountBytes | None = None) -> int:
        """Write what a file holds behind the end of another, close both, return the bytes. Raises Missing."""
        with translated(self.root, path):
            try:
                target = self._java.append(self._changed(path))
                try:
                    return hadoop_streams.pump(stream, target, None, None, meter)
                finally:
                    target.close()
            finally:
                stream.close()

    def concatenate(self, path: str, parts: Sequence[str]) -> None:
        """Move the bytes of `parts` behind the end of a file of the same directory. Raises Missing, Refused."""
        if not self._client.is_hdfs:
            # RawLocalFileSystem has the call, but loses the bytes of the file that it appends to.
            raise Refused(
                f"{path}: {self.root} cannot put files together",
                found=self.root,
                expected="a file on HDFS",
                next_step="copy its files in one piece (twinhive copy: a larger --split-above)",
            )
        with translated(self.root, path):
            if parts:
                self._java.concat(self._changed(path), [self._changed(part) for part in parts])

    def make_directories(self, path: str) -> None:
        """Make a directory and its parents; one that exists is fine."""
        with translated(self.root, path):
            if not self._java.mkdirs(self._path(path) if path == self.root else self._changed(path)):
                raise _refused(f"{path}: {self.root} did not make the directory", "a directory that can be made")

    def make_private(self, path: str) -> None:
        """Make a directory that nobody but its owner may look into, its parents as usual; one that exists stays."""
        java_path = self._changed(path)
        self.make_directories(parent(path))
        with translated(self.root, path):
            if not self._exists(path):
                permission = java_class("org.apache.hadoop.fs.permission.FsPermission").createImmutable(_PRIVATE)
                if not self._java.mkdirs(java_path, permission):
                    raise _refused(f"{path}: {self.root} did not make the directory", "a directory that can be made")

    def rename(self, source: str, target: str) -> bool:
        """Rename without overwriting; False when the target exists or the source is gone.

        Raises Missing when the directory to rename into does not exist.
        """
        with translated(self.root, target):
            if self._client.is_hdfs:
                return self._rename_on_hdfs(source, target)
            java_source, java_target = self._changed(source), self._changed(target)
            if not self._exists(source) or self._exists(target):
                return False
            if not self._exists(parent(target)):
                raise _no_parent(source, target)
            return bool(self._java.rename(java_source, java_target))

    def replace(self, source: str, target: str) -> None:
        """Rename a file over another; on HDFS in one step. Raises Missing, Refused (a directory)."""
        with translated(self.root, target):
            if self._client.is_hdfs:
                self._replace_on_hdfs(source, target)
                return
            java_source, java_target = self._changed(source), self._changed(target)
            there = self.status(target)
            if there is not None and there.is_directory:
                raise _directory_there(target)
            self._java.getFileStatus(java_source)
            if not self._java.rename(java_source, java_target):
                self._java.delete(java_target, False)
                if not self._java.rename(java_source, java_target):
                    raise _refused(
                        f"{target}: {self.root} did not put the new file in place", "a file that can be renamed"
                    )

    def delete_file(self, path: str) -> bool:
        """Delete a file, or a directory with nothing in it; False when there was none. Raises Refused."""
        with translated(self.root, path):
            try:
                return bool(self._java.delete(self._changed(path), False))
            except java_class("java.io.IOException"):
                # File systems have several exceptions for it, one of them without a name.
                if (there := self.status(path)) is not None and there.is_directory:
                    said = f"{path}: {self.root} did not delete a directory with something in it"
                    raise _refused(said, "an empty directory") from None
                raise

    def delete(self, path: str) -> bool:
        """Delete a file or a whole directory for good; False when there was none."""
        with translated(self.root, path):
            return bool(self._java.delete(self._changed(path), True))

    def to_trash(self, path: str) -> bool:
        """Move a file or a whole directory to the user's trash; False without a trash, or when nothing is there."""
        return hadoop_trash.to_trash(self._client, path)

    def set_permission(self, path: str, permission: int) -> None:
        """Give a path another mode. Raises Missing, Refused."""
        self.set_attributes(path, Attributes(permission=permission))

    def set_attribute(self, path: str, name: str, value: str) -> None:
        """Set an extended attribute (`user.x`). Raises Missing, and Refused where there are none."""
        with translated(self.root, path):
            self._java.setXAttr(self._changed(path), name, value.encode())

    def _exists(self, path: str) -> bool:
        return bool(self._java.exists(self._path(path)))

    def _rename_on_hdfs(self, source: str, target: str) -> bool:
        # The rename without options would move the source *into* a target that is a directory.
        options = java_class("org.apache.hadoop.fs.Options$Rename")
        try:
            self._java.rename(self._changed(source), self._changed(target), [options.NONE])
        except java_class("java.io.IOException") as error:
            # HDFS has several exceptions for a target that exists, one of them without a name.
            if self._exists(target) or not self._exists(source):
                return False
            if is_missing(error):
                raise _no_parent(source, target) from None
            raise
        return True

    def _replace_on_hdfs(self, source: str, target: str) -> None:
        options = java_class("org.apache.hadoop.fs.Options$Rename")
        try:
            self._java.rename(self._changed(source), self._changed(target), [options.OVERWRITE])
        except java_class("java.io.IOException"):
            # HDFS says all that is wrong by one exception.
            there = self.status(target)
            if there is not None and there.is_directory:
                raise _directory_there(target) from None
            raise

    def _delete_quietly(self, path: str) -> None:
        with suppress(TwinhiveError):
            self.delete(path)


def _no_parent(source: str, target: str) -> Missing:
    return Missing(
        f"{parent(target)}: the directory to rename into does not exist",
        found=f"renaming {source} to {target}",
        expected="a directory that stays while files are renamed into it",
        next_step="check that the directory was not dropped meanwhile",
    )


def _directory_there(path: str) -> Refused:
    return Refused(
        f"{path}: a directory is there, which no file replaces",
        found="a directory",
        expected="a file, or nothing",
        next_step="move the directory away, then run again",
    )


def _refused(what: str, expected: str) -> Refused:
    """Return the error of a call to which the file system only says no."""
    next_step = "look what lies there, and what may be done there: hdfs dfs -ls -d; then run again"
    return Refused(what, found="false, without a reason", expected=expected, next_step=next_step)
