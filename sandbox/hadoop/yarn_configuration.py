"""Hold every configuration key of YARN and of MapReduce on it, as pure functions that return dicts.

What waits by default for a large cluster's sake (heartbeats, polling) waits less here: a job that is measured
should not seem slow because it is asked once a second whether it is done.
"""

from collections.abc import Sequence
from pathlib import Path

from sandbox.configuration import LOOPBACK, Properties
from sandbox.ports import YarnPorts

CONTAINERS = 16
CONTAINER_MEGABYTES = 512
_MASTER_MEGABYTES = 1024
_HEAP_SHARE = 0.75
_BEAT_MILLISECONDS = "200"
_SCHEDULER = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler"
# Where finished jobs are recorded. It cannot be this machine's file system unless that is also the jobs' default one.
HISTORY_CLUSTER = "west"
_HISTORY = {
    f"mapreduce.jobhistory.{kind}-dir": f"hdfs://{HISTORY_CLUSTER}/job-history/{kind}"
    for kind in ("intermediate-done", "done")
}
_BOUND = ("yarn.resourcemanager", "yarn.nodemanager", "mapreduce.jobhistory")


def yarn_addresses(ports: YarnPorts) -> Properties:
    """Say where the ResourceManager and the history of jobs answer."""
    chosen = {
        "yarn.resourcemanager.address": ports.resourcemanager,
        "yarn.resourcemanager.scheduler.address": ports.scheduler,
        "yarn.resourcemanager.resource-tracker.address": ports.resource_tracker,
        "yarn.resourcemanager.admin.address": ports.resourcemanager_admin,
        "yarn.resourcemanager.webapp.address": ports.resourcemanager_http,
        "mapreduce.jobhistory.address": ports.history,
        "mapreduce.jobhistory.admin.address": ports.history_admin,
        "mapreduce.jobhistory.webapp.address": ports.history_http,
    }
    return {key: f"{LOOPBACK}:{port}" for key, port in chosen.items()}


def yarn_server(ports: YarnPorts, storage: Path) -> Properties:
    """Configure ResourceManager, NodeManager and the history of jobs; their state lies below `storage`."""
    memory = CONTAINERS * CONTAINER_MEGABYTES + _MASTER_MEGABYTES
    return {
        **yarn_addresses(ports),
        **{f"{server}.bind-host": LOOPBACK for server in _BOUND},
        **_HISTORY,
        "yarn.resourcemanager.hostname": LOOPBACK,
        "yarn.resourcemanager.scheduler.class": _SCHEDULER,
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": _BEAT_MILLISECONDS,
        "yarn.scheduler.minimum-allocation-mb": str(CONTAINER_MEGABYTES // 2),
        "yarn.scheduler.maximum-allocation-mb": str(memory),
        "yarn.nodemanager.hostname": LOOPBACK,
        "yarn.nodemanager.address": f"{LOOPBACK}:{ports.nodemanager}",
        "yarn.nodemanager.localizer.address": f"{LOOPBACK}:{ports.localizer}",
        "yarn.nodemanager.webapp.address": f"{LOOPBACK}:{ports.nodemanager_http}",
        "yarn.nodemanager.local-dirs": str(storage / "local"),
        "yarn.nodemanager.log-dirs": str(storage / "containers"),
        "yarn.nodemanager.log.retain-seconds": "3600",
        # A promise for the scheduler only: nobody holds the containers to it.
        "yarn.nodemanager.resource.memory-mb": str(memory),
        "yarn.nodemanager.resource.cpu-vcores": str(CONTAINERS + 1),
        "yarn.nodemanager.pmem-check-enabled": "false",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.enable": "false",
        # Each container of MapReduce insists on it, though a copy has no reducers that would fetch anything.
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "mapreduce.shuffle.port": str(ports.shuffle),
    }


def mapreduce_client(ports: YarnPorts, classes: str, flags: Sequence[str]) -> Properties:
    """Configure a client that runs jobs on YARN; its containers get Java's `flags` and the class path `classes`."""
    return {
        **yarn_addresses(ports),
        **_HISTORY,
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": classes,
        "yarn.application.classpath": classes,
        "yarn.app.mapreduce.am.resource.mb": str(_MASTER_MEGABYTES),
        "yarn.app.mapreduce.am.command-opts": _java_options(flags, _MASTER_MEGABYTES),
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": _BEAT_MILLISECONDS,
        "mapreduce.map.memory.mb": str(CONTAINER_MEGABYTES),
        "mapreduce.map.java.opts": _java_options(flags, CONTAINER_MEGABYTES),
        "mapreduce.client.progressmonitor.pollinterval": _BEAT_MILLISECONDS,
        "mapreduce.client.completion.pollinterval": _BEAT_MILLISECONDS,
    }


def _java_options(flags: Sequence[str], megabytes: int) -> str:
    return " ".join([*flags, f"-Xmx{int(megabytes * _HEAP_SHARE)}m"])
