"""Where a server is and who we are there."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FileSystemEndpoint:
    """A file system: scheme and authority, Hadoop properties, and the user we are there."""

    root: str
    properties: Mapping[str, str]
    user: str | None


@dataclass(frozen=True)
class MetastoreEndpoint:
    """A metastore: its addresses, seconds to wait for one call, the user we are there; if known, its cluster and the
    file system of that.
    """

    addresses: tuple[tuple[str, int], ...]
    timeout_seconds: int
    user: str | None
    cluster: str = ""
    file_system: str = ""
