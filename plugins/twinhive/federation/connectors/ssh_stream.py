"""A connection forwarded by asyncssh as a link of bytes."""

import asyncio
from collections.abc import Iterable
from typing import Any

from twinhive.federation.connector_api.byte_links import ByteLink


class TunnelSession:
    """What asyncssh calls for a forwarded connection, as asyncio calls a protocol; errors become OSErrors."""

    def __init__(self) -> None:
        self.link = ByteLink()
        self.pause_writing, self.resume_writing = self.link.pause_writing, self.link.resume_writing

    def connection_made(self, chan: Any) -> None:
        """Take the channel."""
        self.link.connection_made(_ChannelTransport(chan, asyncio.get_running_loop()))

    def session_started(self) -> None:
        """Nothing was kept back until now."""

    def data_received(self, data: bytes, _: object = None) -> None:
        """Hand bytes on."""
        self.link.data_received(data)

    def eof_received(self) -> bool:
        """Keep writing possible, as a socket does."""
        return self.link.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the link."""
        lost = None if exc is None else ConnectionResetError(f"the tunnel was lost: {exc or type(exc).__name__}")
        self.link.connection_lost(lost)


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

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._channel.set_write_buffer_limits(high, low)

    def is_closing(self) -> bool:
        return bool(self._channel.is_closing())

    def close(self) -> None:
        self._channel.close()

    def abort(self) -> None:
        self._channel.abort()
