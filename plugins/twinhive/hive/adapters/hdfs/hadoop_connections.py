"""The connections to one file system; what its parts have in common."""

from collections.abc import Mapping
from typing import Any

from twinhive.core.threads.lazy_property import lazy_property
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient

_AS_GIVEN = {"dfs.checksum.combine.mode": "COMPOSITE_CRC", "fs.permissions.umask-mode": "000"}


class HadoopConnections:
    """Keep two clients, as some things are a client's property and not a call's.

    The second one is for comparing checksums, for reads without verification, and for new files whose permission
    is given: its umask takes nothing away, so nothing else may be made with it.
    """

    def __init__(self, root: str, properties: Mapping[str, str], user: str | None = None) -> None:
        self._client = HadoopClient(root, properties, user)
        self._as_given = HadoopClient(root, properties, user, _AS_GIVEN, verifies=False)

    @lazy_property
    def root(self) -> str:
        """Scheme and authority: `hdfs://east`."""
        return self._client.root

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._as_given.close()

    @property
    def _java(self) -> Any:
        return self._client.java

    def _path(self, path: str) -> Any:
        # What lies at the top has `hdfs://east` around it, which Java takes for no path at all.
        return self._client.to_java(f"{path}/" if path == self.root else path)

    def _changed(self, path: str) -> Any:
        return self._client.to_change(path)
