"""Find out how much may still be written below a path."""

from collections.abc import Iterator
from typing import Any

from twinhive.core.model.files import Space, is_below, parent
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.jvm.java_vm import java_class

# HDFS gives its root a quota of names that is the largest number there is.
_NO_LIMIT = 2**62


def free_space(client: HadoopClient, path: str, within: str) -> Space:
    """Return free bytes, counted after replication, and the tightest quota on the way up to `within`.

    The NameNode tells of a directory with a quota at once, and counts all that is below one without.
    """
    ancestors = list(_existing_ancestors(client, path))
    asked = [ancestor for ancestor in ancestors if ancestor == within or is_below(ancestor, within)]
    nearest = client.to_java(ancestors[0])
    copies = max(1, int(client.java.getDefaultReplication(nearest)))
    quotas = [usage for usage in (_quota(client, ancestor) for ancestor in asked) if usage is not None]
    names = [
        int(usage.getQuota()) - int(usage.getFileAndDirectoryCount()) for usage in quotas if _limits(usage.getQuota())
    ]
    raw = [
        int(usage.getSpaceQuota()) - int(usage.getSpaceConsumed()) for usage in quotas if _limits(usage.getSpaceQuota())
    ]
    return Space(
        free_bytes=int(client.java.getStatus(nearest).getRemaining()) // copies,
        quota_bytes_left=max(0, min(raw)) // copies if raw else None,
        quota_names_left=max(0, min(names)) if names else None,
    )


def _limits(quota: Any) -> bool:
    return 0 <= int(quota) < _NO_LIMIT


def _existing_ancestors(client: HadoopClient, path: str) -> Iterator[str]:
    """Yield the path itself and what is above it, up to the root, leaving out what does not exist."""
    top = f"{client.root}/"
    current = path.rstrip("/")
    while len(current) > len(client.root):
        if client.java.exists(client.to_java(current)):
            yield current
        current = parent(current)
    yield top


def _quota(client: HadoopClient, path: str) -> Any:
    if not client.is_hdfs:
        return None
    try:
        return client.java.getQuotaUsage(client.to_java(path))
    except java_class("org.apache.hadoop.security.AccessControlException"):
        return None  # not ours to read: a quota there shows itself when it is hit
