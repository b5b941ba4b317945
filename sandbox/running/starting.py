"""Start servers, wait until they work, and say what is wrong when they do not."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.layout import Layout
from sandbox.running import processes
from sandbox.server import Server

_TAIL_LINES = 20
_log = logging.getLogger(__name__)


def start_server(
    server: Server,
    layout: Layout,
    overrides: Mapping[str, str] | None = None,
    environment: Mapping[str, str | None] | None = None,
) -> None:
    """Start a server unless it runs, and wait until it is ready."""
    pid_file = layout.pid_file(server.name)
    if processes.read_record(pid_file) is None:
        # A server that was killed from outside may have left children.
        processes.kill(pid_file)
        server.prepare(overrides or {})
        launch = server.launch()
        variables = {**launch.environment, **(environment or {})}
        launch = replace(launch, environment={name: text for name, text in variables.items() if text is not None})
        processes.spawn(launch, pid_file, layout.output_file(server.name))
        began = time.monotonic()
        _wait_until_ready(server, layout)
        _log.info("%s ready after %.1f s", server.name, time.monotonic() - began)
    elif overrides or environment:
        raise SandboxError(f"{server.name} runs already, with other settings: stop it first")
    else:
        _wait_until_ready(server, layout)
    server.settle()


def _wait_until_ready(server: Server, layout: Layout) -> None:
    deadline = time.monotonic() + server.start_seconds
    while not server.is_ready():
        if processes.read_record(layout.pid_file(server.name)) is None:
            raise SandboxError(f"{server.name} ended while starting\n{last_lines(server.name, layout)}")
        if time.monotonic() > deadline:
            waited = f"{server.name} was not ready after {server.start_seconds:.0f} s"
            raise SandboxError(f"{waited}\n{last_lines(server.name, layout)}")
        time.sleep(0.15)


def last_lines(name: str, layout: Layout) -> str:
    """Return the ends of a server's log files, with their paths."""
    parts = []
    for path in (layout.log_file(name), layout.output_file(name)):
        if lines := _tail(path):
            parts.append("\n".join([f"--- {path}", *lines]))
    return "\n".join(parts)


def _tail(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 20_000))
            return file.read().decode(errors="replace").splitlines()[-_TAIL_LINES:]
    except FileNotFoundError:
        return []


def with_dependencies(names: Iterable[str], servers: Mapping[str, Server]) -> list[str]:
    """Add what the named servers need, everything after what it depends on."""
    ordered: list[str] = []

    def add(name: str) -> None:
        if name in ordered:
            return
        for needed in servers[name].depends_on:
            add(needed)
        ordered.append(name)

    for name in names:
        add(name)
    return ordered


def run_in_order(names: list[str], servers: Mapping[str, Server], action: Callable[[Server], None]) -> None:
    """Apply `action` to all servers at once, to each as soon as those it depends on are done."""
    futures: dict[str, Future[None]] = {}

    def after_dependencies(server: Server) -> None:
        for needed in (*server.depends_on, *server.after):
            if needed in futures:
                futures[needed].result()
        action(server)

    with ThreadPoolExecutor(max_workers=len(names)) as pool:
        for name in names:
            futures[name] = pool.submit(after_dependencies, servers[name])
    # In starting order, so that the first error is a cause and not a consequence.
    for name in names:
        futures[name].result()
