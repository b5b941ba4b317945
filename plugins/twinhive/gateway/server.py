"""Listen for clients, one task a connection, and stop without cutting an answer off."""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

_LOG = logging.getLogger(__name__)
BACKLOG = 1_024
STREAM_BYTES = 1 << 20
"""What is read ahead of a connection at most."""
_LOOK_SECONDS = 0.1
STOP_SECONDS = 10.0
"""Calls that are under way when the gateway is stopped may end."""


class ClientSession(Protocol):
    """One client's connection."""

    is_idle: bool
    """No request is being answered."""

    async def serve(self) -> None:
        """Answer requests until the client hangs up; raises OSError when it has, in the middle."""
        ...


MakeSession = Callable[[asyncio.StreamReader, asyncio.StreamWriter], ClientSession]


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
        self._sessions: dict[asyncio.Task[None], ClientSession] = {}

    async def run(self, listener: socket.socket, stop: asyncio.Event) -> None:
        """Serve until `stop` is set; then take no more clients, and let calls under way end for some seconds."""
        server = await asyncio.start_server(self._serve, sock=listener, limit=STREAM_BYTES)
        try:
            await stop.wait()
        finally:
            server.close()
            await self._end_sessions()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if (sock := writer.get_extra_info("socket")) is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # a client's machine may vanish
        session = self._make_session(reader, writer)
        self._sessions[task] = session
        self._on_count(len(self._sessions))
        try:
            await session.serve()
        except OSError:
            pass  # the client has gone
        except asyncio.CancelledError:
            if asyncio.current_task() not in self._sessions:
                raise
        except Exception:
            _LOG.exception("a connection has failed, and is closed")
        finally:
            del self._sessions[task]
            self._on_count(len(self._sessions))
            writer.close()

    async def _end_sessions(self) -> None:
        """Hang up on each client when nothing of it is under way, on the others when the time is over."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + STOP_SECONDS
        while self._sessions and loop.time() < ends:
            for task, session in self._sessions.items():
                if session.is_idle:
                    task.cancel()
            await asyncio.wait(self._sessions.keys(), timeout=_LOOK_SECONDS)
        if left := list(self._sessions):
            _LOG.warning("stopped with calls under way", extra={"calls": len(left)})
            for task in left:
                task.cancel()
            await asyncio.wait(left)


async def close_quietly(writer: asyncio.StreamWriter) -> None:
    """Close a connection whatever state it is in."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
