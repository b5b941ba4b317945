"""SSH servers on loopback, in the process of a test: they know one user by one key, and forward connections."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncssh


@dataclass
class SshServer:
    """A server with a user of its own; `forwarded` are the places that it has been asked to connect to."""

    user: str
    directory: Path

    def __post_init__(self) -> None:
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.user_key = asyncssh.generate_private_key("ssh-ed25519")
        self.user_key.write_private_key(self.directory / f"{self.user}.pem")
        self.forwarded: list[tuple[str, int]] = []
        self.connections: list[asyncssh.SSHServerConnection] = []
        self.port = 0

    async def start(self) -> None:
        self.acceptor = await asyncssh.listen(
            "127.0.0.1", self.port, server_factory=lambda: _Serving(self), server_host_keys=[self.host_key]
        )
        self.port = self.acceptor.get_port()

    def die(self) -> None:
        """Break all connections off; new ones are taken."""
        for connection in self.connections:
            connection.abort()
        self.connections.clear()

    async def stop(self) -> None:
        self.die()
        self.acceptor.close()
        await self.acceptor.wait_closed()

    @property
    def known(self) -> str:
        """Its line in a file of known hosts."""
        return f"[127.0.0.1]:{self.port} {self.host_key.export_public_key().decode().strip()}\n"

    @property
    def hop(self) -> str:
        """Its place in a route."""
        return f"{self.user}@127.0.0.1:{self.port}"


class _Serving(asyncssh.SSHServer):
    def __init__(self, server: SshServer) -> None:
        self._server = server

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._server.connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == self._server.user and key == self._server.user_key.convert_to_public()

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        self._server.forwarded.append((dest_host, dest_port))
        return True


@asynccontextmanager
async def ssh_servers(directory: Path, *users: str) -> AsyncIterator[list[SshServer]]:
    """Start a server for each user, and write their keys into `known_hosts`."""
    servers = [SshServer(user, directory) for user in users]
    for server in servers:
        await server.start()
    (directory / "known_hosts").write_text("".join(server.known for server in servers))
    try:
        yield servers
    finally:
        for server in servers:
            await server.stop()


@asynccontextmanager
async def echo_server() -> AsyncIterator[int]:
    """Send back what comes, on a port of loopback."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@dataclass
class RunningSsh:
    """SSH servers in a thread of their own; each may be lost and come back at its port."""

    servers: list[SshServer]
    loop: asyncio.AbstractEventLoop

    def lose(self) -> None:
        """Break all connections off, and take no new ones."""
        for server in self.servers:
            self._wait(server.stop())

    def come_back(self) -> None:
        """Listen again, at the same ports and with the same keys."""
        for server in self.servers:
            self._wait(server.start())

    def _wait(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self.loop).result(20)


@contextmanager
def running_ssh(directory: Path, *users: str) -> Iterator[RunningSsh]:
    """Serve beside a test that has no event loop; keys and `known_hosts` are in the directory."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    running = RunningSsh([SshServer(user, directory) for user in users], loop)
    running.come_back()
    (directory / "known_hosts").write_text("".join(server.known for server in running.servers))
    try:
        yield running
    finally:
        running.lose()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
