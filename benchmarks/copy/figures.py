"""Take the three kinds of figures of one copy: calls, processor time, wall time."""

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.copy import cpu
from benchmarks.copy.calls import SIDES, namenode_calls, pending_deletions
from benchmarks.measuring import load_average
from sandbox import Sandbox

_QUIET_SECONDS = 120


@dataclass(frozen=True)
class Figures:
    """What one copy cost: `calls` by side and method, processor seconds, wall seconds, the load average at its end.

    `clients` is whoever copies, `hdfs` the servers of both clusters, `yarn` the servers of the job framework.
    """

    calls: dict[str, Counter[str]]
    clients: float
    hdfs: float
    yarn: float
    wall: float
    load: float


def measure(box: Sandbox, work: Callable[[], object]) -> Figures:
    """Do a piece of work, here or in processes that are waited for, and return what it cost them and the servers."""
    wait_until_quiet(box)
    calls = _calls(box)
    servers = [cpu.server_seconds(box, names) for names in (cpu.HDFS_SERVERS, cpu.YARN_SERVERS)]
    containers, clients = cpu.container_seconds(box), cpu.client_seconds()
    began = time.monotonic()
    work()
    wall, load = time.monotonic() - began, load_average()
    clients = cpu.client_seconds() - clients
    hdfs = cpu.server_seconds(box, cpu.HDFS_SERVERS) - servers[0]
    # The master of a job lingers for some seconds after its client has ended.
    wait_until_quiet(box)
    containers = cpu.container_seconds(box) - containers
    yarn = cpu.server_seconds(box, cpu.YARN_SERVERS) - servers[1]
    later = _calls(box)
    return Figures({side: later[side] - calls[side] for side in SIDES}, clients + containers, hdfs, yarn, wall, load)


def _calls(box: Sandbox) -> dict[str, Counter[str]]:
    return {side: namenode_calls(box, cluster) for side, cluster in SIDES.items()}


def wait_until_quiet(box: Sandbox) -> None:
    """Wait for the end of containers, of deletions on the DataNodes and of writes to the disk."""
    deadline = time.monotonic() + _QUIET_SECONDS
    while cpu.containers(box) or pending_deletions(box):
        if time.monotonic() > deadline:
            raise SystemExit(f"containers or deletions did not end within {_QUIET_SECONDS} s")
        time.sleep(0.5)
    os.sync()
    # As old as the NameNodes' metrics may be.
    time.sleep(0.5)


def middle(runs: Sequence[Figures]) -> Figures:
    """Return the median of each figure; of the calls, those of the run with the median of calls on the target."""
    by_calls = sorted(runs, key=lambda run: run.calls["target"].total())
    return Figures(
        calls=by_calls[len(runs) // 2].calls,
        clients=median(run.clients for run in runs),
        hdfs=median(run.hdfs for run in runs),
        yarn=median(run.yarn for run in runs),
        wall=median(run.wall for run in runs),
        load=median(run.load for run in runs),
    )
