"""Take the processor time of servers, of clients, and of the containers that a NodeManager starts.

The kernel adds a process's time to its parent's account when the parent waits for it. A client is waited for by this
process, a container by the shell that started it, and this by the NodeManager. So a NodeManager's account of ended
children, plus those that live, is all that containers ever used; only a container that is killed with its shell could
be missing, and a job that ends well kills none.
"""

import os
import resource
from pathlib import Path

from sandbox import Sandbox
from sandbox.hadoop.yarn import JOB_HISTORY, NODE_MANAGER, RESOURCE_MANAGER
from sandbox.running import processes

HDFS_SERVERS = tuple(f"{cluster}-{role}" for cluster in ("east", "west") for role in ("namenode", "datanode"))
YARN_SERVERS = (RESOURCE_MANAGER, NODE_MANAGER, JOB_HISTORY)
_TICKS = os.sysconf("SC_CLK_TCK")
_OWN, _OF_CHILDREN = slice(11, 13), slice(13, 15)


def server_seconds(box: Sandbox, names: tuple[str, ...]) -> float:
    """Return the processor seconds, user and system, that servers used by themselves since they started."""
    return sum(_seconds(pid, _OWN) for name in names if (pid := _pid(box, name)))


def container_seconds(box: Sandbox) -> float:
    """Return the processor seconds of all containers, ended or living."""
    if (pid := _pid(box, NODE_MANAGER)) is None:
        return 0.0
    living = sum(_seconds(entry.pid, _OWN) + _seconds(entry.pid, _OF_CHILDREN) for entry in containers(box))
    return _seconds(pid, _OF_CHILDREN) + living


def containers(box: Sandbox) -> list[processes.ProcessEntry]:
    """List the living processes of containers."""
    pid = _pid(box, NODE_MANAGER)
    return [entry for entry in processes.members(box.layout.pid_file(NODE_MANAGER)) if entry.pid != pid]


def client_seconds() -> float:
    """Return the processor seconds of this process and of all that it started and waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _pid(box: Sandbox, name: str) -> int | None:
    record = processes.read_record(box.layout.pid_file(name))
    return record.pid if record else None


def _seconds(pid: int, which: slice) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(field) for field in fields[which]) / _TICKS
