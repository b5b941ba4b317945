"""Build Hadoop file system clients that share nothing with the rest of the process."""

import threading
from collections.abc import Mapping
from typing import Any

from twinhive.core.model.errors import Refused
from twinhive.core.model.untrusted_paths import is_collapsed
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.hive.adapters.hdfs.hadoop_errors import translated
from twinhive.hive.adapters.jvm.java_vm import detach_at_end_of_thread, java_class

CLIENT_SETTINGS = {
    # Closing a file asks for its last block before the DataNode has reported it, and then sleeps
    # this long (400 ms by default): it decides how fast small files are copied.
    "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "5",
    # It doubles with each of so many tries: a busy DataNode has 20 s to report, by default 12.
    "dfs.client.block.write.locateFollowingBlock.retries": "12",
    # No `.crc` files beside local ones: nobody else expects them, and HDFS has its own checksums.
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
}


class HadoopClient:
    """One connection to one file system as one user; closed by `close`.

    Two of them in one process know nothing of each other: own configuration, own user, no cache.
    """

    def __init__(
        self,
        root: str,
        properties: Mapping[str, str],
        user: str | None,
        extra: Mapping[str, str] | None = None,
        *,
        verifies: bool = True,
    ) -> None:
        self.root = root.rstrip("/") if not root.endswith("://") else root
        self._settings = {**CLIENT_SETTINGS, **properties, **(extra or {})}
        self._user = user
        self._verifies = verifies
        self._opening = threading.Lock()
        self._file_system: Any = None
        self.lists_in_bulk = True
        """Whether one call lists many directories; turned off by the first that is refused as unknown."""

    @property
    def java(self) -> Any:
        """Return Java's FileSystem, opened on first use."""
        if self._file_system is None:
            with self._opening:
                if self._file_system is None:
                    self._file_system = self._open()
        return self._file_system

    @property
    def is_local(self) -> bool:
        """True for this machine's own files."""
        return self.root.startswith("file:")

    @lazy_property
    def is_hdfs(self) -> bool:
        """True when the calls that only HDFS has can be used."""
        return isinstance(self.java, java_class("org.apache.hadoop.hdfs.DistributedFileSystem"))

    def to_java(self, path: str) -> Any:
        """Return Java's Path of a URI; nothing in it is decoded or expanded."""
        detach_at_end_of_thread()
        return java_class("org.apache.hadoop.fs.Path")(path)

    def to_change(self, path: str) -> Any:
        """Return Java's Path of something that is to be changed. Raises Refused where Java would take another one."""
        if is_collapsed(path):
            raise Refused(
                f"{path}: nothing is changed at a path that is another place than it says",
                found="a component '.' or '..'",
                expected="the path itself",
                next_step="find out who named this path: a location, an event or a dump holds it",
            )
        return self.to_java(path)

    def from_java(self, path: Any) -> str:
        """Return the URI of Java's Path, as it was before `to_java`."""
        return f"{self.root}{path.toUri().getPath()}"

    def close(self) -> None:
        """Close the connection; it opens again on the next use."""
        with self._opening:
            file_system, self._file_system = self._file_system, None
        if file_system is not None:
            with translated(self.root, self.root):
                file_system.close()

    def _open(self) -> Any:
        java_file_system = java_class("org.apache.hadoop.fs.FileSystem")
        configuration = java_class("org.apache.hadoop.conf.Configuration")()
        for key, value in self._settings.items():
            configuration.set(key, value)
        with translated(self.root, self.root):
            address = java_class("java.net.URI")(f"{self.root}/")
            user = () if self._user is None else (self._user,)
            file_system = java_file_system.newInstance(address, configuration, *user)
            file_system.setVerifyChecksum(self._verifies)
            return file_system
