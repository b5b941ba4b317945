"""Metastores behind SSH servers: hop by hop, each known by its key. Definitions with the same route share a tunnel."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import asyncssh

from twinhive.core.model.errors import TwinhiveError
from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.federation.connector_api.catalogs import ConnectorPlace
from twinhive.federation.connectors.address_failover import first_of
from twinhive.federation.connectors.connector_context import ConnectorContext
from twinhive.federation.connectors.ssh_route import Hop, Route, route_of
from twinhive.federation.connectors.ssh_stream import TunnelSession
from twinhive.federation.connectors.thrift import MetastoreAddress, metastore_addresses

OPENING_SECONDS: Final = 10.0
_ALIVE_SECONDS: Final = 15
_FAILURES: Final = (OSError, asyncssh.Error, ValueError, TwinhiveError)
"""What asyncssh raises; keys that cannot be read are ValueErrors."""


class SshConnector:
    """Open connections through tunnels. `file_of` returns the path of a file that a definition names.

    connect_seconds   for all metastores behind a tunnel that is open
    """

    def __init__(
        self, file_of: Callable[[str], Path], opening_seconds: float = OPENING_SECONDS, connect_seconds: float = 2.0
    ) -> None:
        self._file_of, self._opening_seconds, self._connect_seconds = file_of, opening_seconds, connect_seconds
        self._tunnels: dict[Route, _Tunnel] = {}

    def place(self, properties: Mapping[str, str]) -> ConnectorPlace:
        """Say which servers, metastores and files a definition names. Raises InvalidSettings."""
        route, metastores = route_of(properties, self._opening_seconds), metastore_addresses(properties)
        there = ",".join(map(str, metastores))
        return ConnectorPlace(
            key=f"{route!r} {there}",
            name=f"{there} through {route}",
            addresses=(*(hop.address for hop in route.hops), *map(str, metastores)),
            files=route.files,
        )

    async def open(self, properties: Mapping[str, str]) -> ByteLink:
        """Open a connection to the first metastore that takes one. Raises ConnectionError, InvalidSettings."""
        route, metastores = route_of(properties, self._opening_seconds), metastore_addresses(properties)
        tunnel = self._tunnels.setdefault(route, _Tunnel(route, self._file_of))
        connection = await tunnel.connection()
        tries = {f"{one} through {route}": partial(_stream, connection, one) for one in metastores}
        return await first_of(tries, self._connect_seconds)

    async def close(self) -> None:
        """Close all tunnels."""
        tunnels, self._tunnels = list(self._tunnels.values()), {}
        for tunnel in tunnels:
            await tunnel.close()


def connector(context: ConnectorContext) -> SshConnector:
    """Make the connector."""
    return SshConnector(context.file_of, connect_seconds=context.connect_seconds)


class _Tunnel:
    """The connections of one route, opened by whoever needs them first, and again when they are lost."""

    def __init__(self, route: Route, file_of: Callable[[str], Path]) -> None:
        self._route, self._file_of = route, file_of
        self._opening: asyncio.Task[asyncssh.SSHClientConnection] | None = None
        self._hops: list[asyncssh.SSHClientConnection] = []

    async def connection(self) -> asyncssh.SSHClientConnection:
        """Return the connection to the last hop. Who stops waiting does not end it for others."""
        if self._opening is None or (self._opening.done() and self._is_lost(self._opening)):
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(_look_at)
        return await asyncio.shield(self._opening)

    async def close(self) -> None:
        """Close all hops, the last first."""
        if self._opening is not None:
            self._opening.cancel()
        self._opening = None
        self._drop()

    def _is_lost(self, opening: "asyncio.Task[asyncssh.SSHClientConnection]") -> bool:
        if opening.cancelled() or opening.exception() is not None:
            return True
        return any(hop.is_closed() for hop in self._hops)

    async def _open(self) -> asyncssh.SSHClientConnection:
        self._drop()
        try:
            async with asyncio.timeout(self._route.seconds):
                for number, hop in enumerate(self._route.hops, start=1):
                    self._hops.append(await self._one(number, hop))
        except TimeoutError as error:
            self._drop()
            seconds = self._route.seconds
            raise ConnectionError(f"no tunnel {self._route} within {seconds:g} s") from error
        except BaseException:
            self._drop()
            raise
        return self._hops[-1]

    async def _one(self, number: int, hop: Hop) -> asyncssh.SSHClientConnection:
        """Connect to one hop, with its own key and nothing else of this machine's user: no agent, no ~/.ssh."""
        try:
            return await asyncssh.connect(
                hop.host,
                hop.port,
                tunnel=self._hops[-1] if self._hops else (),
                config=None,
                username=hop.user,
                client_keys=[asyncssh.read_private_key(self._file_of(hop.key))],
                known_hosts=str(self._file_of(self._route.known_hosts)),
                agent_path=None,
                password=None,
                preferred_auth="publickey",
                keepalive_interval=_ALIVE_SECONDS,
                keepalive_count_max=2,
            )
        except _FAILURES as error:
            count = len(self._route.hops)
            raise ConnectionError(f"no tunnel: hop {number} of {count}, {hop}: {_words(error)}") from error

    def _drop(self) -> None:
        hops, self._hops = self._hops, []
        for hop in reversed(hops):
            hop.abort()


async def _stream(connection: asyncssh.SSHClientConnection, address: MetastoreAddress) -> ByteLink:
    session = TunnelSession()
    factory = cast("Any", lambda: session)
    await connection.create_connection(factory, address.host, address.port)
    return session.link


def _look_at(task: "asyncio.Task[asyncssh.SSHClientConnection]") -> None:
    """Take a failure that nobody waits for any more."""
    with suppress(asyncio.CancelledError):
        task.exception()


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
