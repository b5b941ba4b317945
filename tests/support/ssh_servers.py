"""SSH servers on loopback, in the process of a test: they know one user by one key, and forward connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

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
            "127.0.0.1", 0, server_factory=lambda: _Serving(self), server_host_keys=[self.host_key]
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
