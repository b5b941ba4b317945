"""Read and set quotas of names, and see who has files open: what it takes to keep writers out of a directory."""

from itertools import islice

from twinhive.core.model.errors import Refused
from twinhive.hive.adapters.hdfs.hadoop_connections import HadoopConnections
from twinhive.hive.adapters.hdfs.hadoop_errors import translated
from twinhive.hive.adapters.jvm.java_vm import java_class

_NONE = -1
_AS_IT_IS = 2**63 - 1
_NO_LIMIT = 2**62


class HadoopQuotas(HadoopConnections):
    """Implement NameQuotas for HDFS; other file systems have no quotas and refuse."""

    def name_quota(self, path: str) -> int | None:
        """Return how many names a directory may hold, itself included; None without a quota. Raises Missing."""
        with translated(self.root, path):
            if not self._client.is_hdfs:
                self._java.getFileStatus(self._path(path))
                return None
            found = int(self._java.getQuotaUsage(self._path(path)).getQuota())
            return found if 0 <= found < _NO_LIMIT else None

    def set_name_quota(self, path: str, names: int | None) -> None:
        """Set the quota of names, or take it away; that of bytes stays. Raises Missing, Refused (not the superuser)."""
        if not self._client.is_hdfs:
            raise Refused(
                f"{path}: {self.root} has no quotas",
                found=self.root,
                expected="a directory on HDFS",
                next_step="take quota out of failover.fence in the policy file, and keep writers away otherwise",
            )
        with translated(self.root, path):
            self._java.setQuota(self._changed(path), _NONE if names is None else names, _AS_IT_IS)

    def open_files(self, path: str, most: int) -> list[str]:
        """Return files at or below a path that somebody is writing, at most so many. Raises Refused."""
        if not self._client.is_hdfs:
            return []
        with translated(self.root, path):
            kinds = java_class("org.apache.hadoop.hdfs.protocol.OpenFilesIterator$OpenFilesType")
            wanted = java_class("java.util.EnumSet").of(kinds.ALL_OPEN_FILES)
            where = str(self._path(path).toUri().getPath())
            found = self._java.listOpenFiles(wanted, where)

            def paths() -> "list[str]":
                said = iter(lambda: str(found.next().getFilePath()) if found.hasNext() else None, None)
                # HDFS compares the beginnings of names: /a/b finds what lies in /a/bc too.
                return list(islice((one for one in said if one and f"{one}/".startswith(f"{where}/")), most))

            return [f"{self.root}{one}" for one in paths()]
