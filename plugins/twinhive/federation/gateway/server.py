"""Listen for clients, and stop without cutting an answer off."""

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Protocol

from twinhive.federation.connector_api.byte_links import ByteLink

_LOG = logging.getLogger(__name__)
BACKLOG = 1_024
_LOOK_SECONDS = 0.1
STOP_SECONDS = 10.0
"""Calls that are under way when the gateway is stopped may end."""


class ClientSession(Protocol):
    """One client's connection."""

    is_idle: bool
    """No request is being answered."""
    on_end: Callable[[], None]
    """Is called once the connection has ended."""

    def begin(self) -> None:
        """Answer requests from now on."""
        ...

    def end(self) -> None:
        """Hang up, whatever is under way."""
        ...


MakeSession = Callable[[ByteLink], ClientSession]


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Bind a listening socket; `shared` with the other workers of one gateway. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


class Server:
    """The connections of one process."""

    def __init__(self, make_session: MakeSession, on_count: Callable[[int], None] = lambda count: None) -> None:
        self._make_session, self._on_count = make_session, on_count
        self._sessions: set[ClientSession] = set()

    async def run(self, listener: socket.socket, stop: asyncio.Event) -> None:
        """Serve until `stop` is set; then take no more clients, and let calls under way end for some seconds."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Client(self._begin), sock=listener)
        try:
            await stop.wait()
        finally:
            server.close()
            await self._end_sessions()

    def _begin(self, link: ByteLink) -> None:
        sock = link.info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # a client's machine may vanish
        session = self._make_session(link)
        self._sessions.add(session)
        session.on_end = lambda: self._forget(session)
        self._on_count(len(self._sessions))
        session.begin()

    def _forget(self, session: ClientSession) -> None:
        self._sessions.discard(session)
        self._on_count(len(self._sessions))

    async def _end_sessions(self) -> None:
        """Hang up on each client when nothing of it is under way, on the others when the time is over."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + STOP_SECONDS
        while self._end_idle() and loop.time() < ends:
            await asyncio.sleep(_LOOK_SECONDS)
        if left := list(self._sessions):
            _LOG.warning("stopped with calls under way", extra={"calls": len(left)})
            for session in left:
                session.end()
        await asyncio.sleep(0)

    def _end_idle(self) -> bool:
        """Return whether some are left."""
        for session in [one for one in self._sessions if one.is_idle]:
            session.end()
        return bool(self._sessions)


class _Client(ByteLink):
    """A client's connection, which is served once it is made."""

    def __init__(self, begin: Callable[[ByteLink], None]) -> None:
        super().__init__()
        self._begin = begin

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport, and serve."""
        super().connection_made(transport)
        self._begin(self)
