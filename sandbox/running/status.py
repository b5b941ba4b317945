"""Report what every server of an instance is doing."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.layout import Layout
from sandbox.running import processes
from sandbox.server import Server


@dataclass(frozen=True)
class ServerStatus:
    """Be one line of the status table."""

    server: str
    state: str
    """`ready`, `not answering`, `died` (it was not stopped by us) or `stopped`."""
    pid: int | None
    ports: dict[str, int]
    memory_megabytes: int
    uptime_seconds: int
    log: str


def server_status(server: Server, layout: Layout) -> ServerStatus:
    """Look at one server."""
    pid_file = layout.pid_file(server.name)
    record = processes.read_record(pid_file)
    log = layout.log_file(server.name)
    return ServerStatus(
        server=server.name,
        state=_state(server, layout),
        pid=record.pid if record else None,
        ports=dict(server.ports),
        memory_megabytes=round(processes.memory_megabytes(pid_file)) if record else 0,
        uptime_seconds=round(time.time() - record.started_at) if record else 0,
        log=str(log if log.exists() else layout.output_file(server.name)),
    )


def _state(server: Server, layout: Layout) -> str:
    pid_file = layout.pid_file(server.name)
    if processes.read_record(pid_file):
        return "ready" if server.is_ready() else "not answering"
    return "died" if pid_file.exists() else "stopped"


def all_statuses(servers: Mapping[str, Server], layout: Layout) -> list[ServerStatus]:
    """Look at all servers."""
    return [server_status(server, layout) for server in servers.values()]
