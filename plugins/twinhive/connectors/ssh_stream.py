"""A connection forwarded by asyncssh as a pair of asyncio's streams."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from twinhive.ports.catalogs import ByteLink

_HELD_BYTES: Final = 1 << 18


class TunnelSession:
    """What asyncssh calls for a forwarded connection, as asyncio calls a stream's protocol; errors become OSErrors."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._reader = asyncio.StreamReader(limit=_HELD_BYTES, loop=self._loop)
        self._protocol = asyncio.StreamReaderProtocol(self._reader, loop=self._loop)
        self._transport: _ChannelTransport | None = None
        self.pause_writing, self.resume_writing = self._protocol.pause_writing, self._protocol.resume_writing

    @property
    def link(self) -> ByteLink:
        """The streams, once the connection is made."""
        assert self._transport is not None
        return self._reader, asyncio.StreamWriter(self._transport, self._protocol, self._reader, self._loop)

    def connection_made(self, chan: Any) -> None:
        """Take the channel."""
        self._transport = _ChannelTransport(chan, self._loop)
        self._protocol.connection_made(self._transport)

    def session_started(self) -> None:
        """Nothing was kept back until now."""

    def data_received(self, data: bytes, _: object = None) -> None:
        """Hand bytes to the reader."""
        self._protocol.data_received(data)

    def eof_received(self) -> bool:
        """Keep writing possible, as a socket does."""
        self._protocol.eof_received()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """End the streams."""
        lost = None if exc is None else ConnectionResetError(f"the tunnel was lost: {exc or type(exc).__name__}")
        self._protocol.connection_lost(lost)


class _ChannelTransport(asyncio.Transport):
    """A channel of asyncssh where asyncio expects a transport of its own."""

    def __init__(self, channel: Any, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._channel, self._loop = channel, loop

    def resume_reading(self) -> None:
        """Go on later: a channel delivers at once what it holds, before the reader is waiting for it."""
        self._loop.call_soon(self._channel.resume_reading)

    def pause_reading(self) -> None:
        self._channel.pause_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._channel.get_extra_info(name, default)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._channel.write(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self._channel.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self._channel.write_eof()

    def is_closing(self) -> bool:
        return bool(self._channel.is_closing())

    def close(self) -> None:
        self._channel.close()

    def abort(self) -> None:
        self._channel.abort()
