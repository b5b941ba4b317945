"""Bytes to and from one peer over one connection: what is there already costs no task, no future, and no copy."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final, cast

HELD_BYTES: Final = 1 << 20
"""What is read ahead at most."""
Take = Callable[[bytes], None]
"""Takes bytes as they come; empty ones are the end."""


class ByteLink(asyncio.Protocol):
    """One connection, read by whoever waits in `read`, or by `taker` as bytes come in.

    It is the protocol of an asyncio transport: `loop.create_connection(ByteLink, host, port)` makes one.
    """

    def __init__(self) -> None:
        self.taker: Take | None = None
        """Gets what comes instead of `read`. Whoever sets it looks at `held` and `has_ended` first."""
        self.on_lost: Callable[[], None] | None = None
        """Called when the connection is lost in both directions, whoever reads."""
        self._transport: asyncio.Transport | None = None
        self._held: deque[bytes] = deque()
        self._held_bytes = 0
        self._has_ended = self._is_lost = self._is_full = self._is_paused = False
        self._error: BaseException | None = None
        self._reading: asyncio.Future[None] | None = None
        self._flushing: list[asyncio.Future[None]] = []

    @property
    def has_ended(self) -> bool:
        """True when nothing more can come; what is held can still be read."""
        return self._has_ended

    @property
    def error(self) -> BaseException | None:
        """What ended the connection, if it was an error."""
        return self._error

    @property
    def is_full(self) -> bool:
        """True while the peer takes less than was written: `flush` waits for it."""
        return self._is_full

    @property
    def is_held(self) -> bool:
        """True while something came that was not read."""
        return bool(self._held)

    def info(self, name: str) -> Any:
        """Return what asyncio's transport knows: `peername`, `socket`."""
        return None if self._transport is None else self._transport.get_extra_info(name)

    def held(self) -> bytes:
        """Return all that came and was not read, without waiting."""
        data = self._held.popleft() if len(self._held) == 1 else b"".join(self._held)
        self._held.clear()
        self._given(len(data))
        return data

    async def read(self, most: int = -1) -> bytes:
        """Wait for bytes and return them as they came; none at the end. Raises what ended the connection."""
        while not self._held:
            if self._error is not None:
                raise self._error
            if self._has_ended:
                return b""
            self._reading = asyncio.get_running_loop().create_future()
            try:
                await self._reading
            finally:
                self._reading = None
        data = self._held.popleft() if len(self._held) == 1 else b"".join(self._held)
        self._held.clear()
        if 0 < most < len(data):
            self._held.append(data[most:])
            data = data[:most]
        self._given(len(data))
        return data

    def write(self, data: bytes) -> None:
        """Send bytes, now or when the peer takes them."""
        if self._transport is not None and not self._is_lost:
            self._transport.write(data)

    async def flush(self) -> None:
        """Wait until the peer has taken most of what was written; any number may wait.

        Raises OSError for a connection that is lost.
        """
        if self._is_lost:
            raise _lost(self._error)
        if not self._is_full:
            return
        waiting = asyncio.get_running_loop().create_future()
        self._flushing.append(waiting)
        try:
            await waiting
        finally:
            self._flushing.remove(waiting)

    def hold_unsent(self, most: int | None = None) -> None:
        """Say how many bytes may wait for the peer before `flush` waits; None for the usual number."""
        if self._transport is not None and not self._is_lost:
            self._transport.set_write_buffer_limits(high=most)

    def close(self) -> None:
        """Hang up when what was written is sent."""
        self.taker = None
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Hang up at once."""
        self.taker = None
        if self._transport is not None:
            self._transport.abort()

    def end(self, error: BaseException | None = None) -> None:
        """Take note that nothing more comes, and why."""
        self._has_ended = True
        self._error = self._error or error
        _wake(self._reading)
        if self.taker is not None:
            self.taker(b"")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand bytes on, or hold them."""
        if self.taker is not None:
            self.taker(data)
            return
        self._held.append(data)
        self._held_bytes += len(data)
        _wake(self._reading)
        if self._held_bytes > HELD_BYTES and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """Note the end; what is asked can still be answered."""
        self.end()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end in both directions."""
        self._is_lost, self._is_full = True, False
        for waiting in self._flushing:
            if not waiting.done():
                waiting.set_exception(_lost(exc))
        self.end(exc)
        if self.on_lost is not None:
            self.on_lost()

    def pause_writing(self) -> None:
        """Note that the peer is slow."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Note that it is not any more."""
        self._is_full = False
        for waiting in self._flushing:
            _wake(waiting)

    def _given(self, count: int) -> None:
        self._held_bytes -= count
        if self._is_paused and self._held_bytes <= HELD_BYTES // 2 and self._transport is not None:
            self._is_paused = False
            if not self._is_lost:
                self._transport.resume_reading()


async def connected(host: str, port: int) -> ByteLink:
    """Connect by TCP. Raises OSError."""
    _, link = await asyncio.get_running_loop().create_connection(ByteLink, host, port)
    return link


def _wake(waiting: "asyncio.Future[None] | None") -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)


def _lost(error: BaseException | None) -> OSError:
    return error if isinstance(error, OSError) else ConnectionResetError("the connection is lost")
