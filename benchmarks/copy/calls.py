"""Count what a NameNode was asked, by its own metrics."""

from collections import Counter
from typing import Any

import httpx

from sandbox import Sandbox
from sandbox.configuration import LOOPBACK
from sandbox.plain_http import NO_TLS

SIDES = {"source": "east", "target": "west"}
BY_DATANODES = frozenset(
    (
        *("SendHeartbeat", "SendLifeline", "BlockReport", "BlockReceivedAndDeleted", "CacheReport"),
        *("RegisterDatanode", "VersionRequest", "ErrorReport", "ReportBadBlocks", "CommitBlockSynchronization"),
    )
)
"""What the DataNode asks for by itself; left out, as it depends on time and not on who copies."""
# The same calls once more, summed up over callers or told by how they were queued.
_REPEATED = ("Overall", "Deferred", "(external)")
_ENDING = "NumOps"


def namenode_calls(box: Sandbox, cluster: str) -> Counter[str]:
    """Return how often each method was called since the NameNode started, without those of the DataNode.

    A call that was refused counts under the name of its exception.
    """
    ports = box.servers[f"{cluster}-namenode"].ports
    found = namenode_bean(box, cluster, f"RpcDetailedActivityForPort{ports['rpc']}")
    return counted(found)


def counted(bean: dict[str, Any]) -> Counter[str]:
    """Pick the counters of methods out of a NameNode's metrics."""
    names = {key.removesuffix(_ENDING): int(value) for key, value in bean.items() if key.endswith(_ENDING)}
    return Counter(
        {name: n for name, n in names.items() if not name.startswith(_REPEATED) and name not in BY_DATANODES}
    )


def pending_deletions(box: Sandbox) -> int:
    """Return how many blocks of deleted files the DataNodes still have to remove."""
    beans = [namenode_bean(box, cluster, "FSNamesystem") for cluster in SIDES.values()]
    return sum(int(bean["PendingDeletionBlocks"]) for bean in beans)


def namenode_bean(box: Sandbox, cluster: str, name: str) -> dict[str, Any]:
    """Return what a NameNode tells about itself under a name."""
    port = box.servers[f"{cluster}-namenode"].ports["http"]
    query = {"qry": f"Hadoop:service=NameNode,name={name}"}
    answer = httpx.get(f"http://{LOOPBACK}:{port}/jmx", params=query, timeout=30, verify=NO_TLS).raise_for_status()
    bean: dict[str, Any] = answer.json()["beans"][0]
    return bean
