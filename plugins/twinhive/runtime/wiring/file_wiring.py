"""Keep one client for each file system of a process, and build who hands out its leases."""

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.ports import LeaseKeeper
from twinhive.hive.adapters.file_clients import FileClient, open_files
from twinhive.hive.adapters.hdfs.hdfs_lease import HdfsLease
from twinhive.hive.adapters.local.local_lease import LocalLease

_files: dict[str, FileClient] = {}


def files(endpoint: FileSystemEndpoint) -> FileClient:
    """Return the client of a file system, one for each endpoint in a process."""
    key = repr((endpoint.root, sorted(endpoint.properties.items()), endpoint.user))
    if key not in _files:
        _files[key] = open_files(endpoint)
    return _files[key]


def lease_keeper(endpoint: FileSystemEndpoint, settle_seconds: float) -> LeaseKeeper:
    """Return who hands out the right to write to a place of a file system.

    `settle_seconds` is how long a call of a holder who was overtaken may still take effect.
    """
    if endpoint.root.startswith("file:"):
        return LocalLease()
    return HdfsLease(endpoint.root, endpoint.properties, endpoint.user, settle_seconds=settle_seconds)
