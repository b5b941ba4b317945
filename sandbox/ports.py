"""Give every server its ports out of one block of consecutive ones."""

import hashlib
import itertools
import os
import socket
from dataclasses import dataclass, fields

BLOCK_SIZE = 40
# Below all blocks, and below what the system hands out to clients: 32768 and up.
_SINGLE_PORTS = range(20_000, 21_000)
DEMO_BASE = 21000
HIGHEST_BASE = 32000
_CLUSTER_OFFSETS = {"east": (1, 2, 3, 4, 5, 9), "west": (11, 12, 13, 14, 15, 19), "north": (6, 7, 8, 10, 16, 9)}
"""In the order of `ClusterPorts`; `north` has no metastore of its own."""


@dataclass(frozen=True)
class ClusterPorts:
    """Name the ports of one cluster."""

    namenode: int
    namenode_http: int
    datanode: int
    datanode_ipc: int
    datanode_http: int
    metastore: int


@dataclass(frozen=True)
class YarnPorts:
    """Name the ports of YARN and of MapReduce's history."""

    resourcemanager: int
    scheduler: int
    resource_tracker: int
    resourcemanager_admin: int
    resourcemanager_http: int
    nodemanager: int
    localizer: int
    nodemanager_http: int
    shuffle: int
    history: int
    history_admin: int
    history_http: int


@dataclass(frozen=True)
class PortBlock:
    """Name the ports of one instance."""

    base: int

    @property
    def postgres(self) -> int:
        """Return PostgreSQL's port."""
        return self.base

    def cluster(self, name: str) -> ClusterPorts:
        """Return the ports of the cluster called `name`."""
        return ClusterPorts(*(self.base + offset for offset in _CLUSTER_OFFSETS[name]))

    @property
    def spark_master(self) -> int:
        """Return the port Spark applications connect to."""
        return self.base + 20

    @property
    def spark_master_ui(self) -> int:
        """Return the port of the Spark master's pages."""
        return self.base + 21

    @property
    def spark_worker(self) -> int:
        """Return the Spark worker's port."""
        return self.base + 22

    @property
    def spark_worker_ui(self) -> int:
        """Return the port of the Spark worker's pages."""
        return self.base + 23

    @property
    def airflow(self) -> int:
        """Return the port of Airflow's pages and API."""
        return self.base + 24

    @property
    def yarn(self) -> YarnPorts:
        """Return the ports of YARN."""
        return YarnPorts(*range(self.base + 25, self.base + 25 + len(fields(YarnPorts))))

    @property
    def broker(self) -> int:
        """Return the message broker's port for STOMP."""
        return self.base + 37

    @property
    def all(self) -> range:
        """Return every port of the block, used or not."""
        return range(self.base, self.base + BLOCK_SIZE)


def preferred_base(name: str) -> int:
    """Return where the search for a free block starts, so that instances seldom meet."""
    if name == "demo":
        return DEMO_BASE
    number = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 100
    return DEMO_BASE + BLOCK_SIZE * (1 + number)


def is_free(port: int) -> bool:
    """Tell whether a server could listen on `port` now."""
    with socket.socket() as probe:
        # As servers do: connections that are still closing must not count as use.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Return ports for servers that are started next.

    Not any free ones: those that the system hands out may be taken by a client before the server listens.
    """
    first = os.getpid() * 7 % len(_SINGLE_PORTS)
    searched = (*_SINGLE_PORTS[first:], *_SINGLE_PORTS[:first])
    found = list(itertools.islice(filter(is_free, searched), count))
    if len(found) < count:
        raise OSError(f"no {count} free ports between {_SINGLE_PORTS.start} and {_SINGLE_PORTS.stop}")
    return found


def free_block(first_base: int) -> PortBlock:
    """Return the first block at or after `first_base` whose ports are all free."""
    for base in range(first_base, HIGHEST_BASE, BLOCK_SIZE):
        block = PortBlock(base)
        if all(is_free(port) for port in block.all):
            return block
    raise OSError(f"no {BLOCK_SIZE} consecutive free ports between {first_base} and {HIGHEST_BASE}")


def accepts(port: int) -> bool:
    """Tell whether something accepts connections on `port`."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
