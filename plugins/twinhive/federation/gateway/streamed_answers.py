"""A long answer is handed on while it comes: each piece by a callback, without a task, a future or a timer for it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Final, Protocol

from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.hive.wire.stream_reader import ComingAnswer

_LOOKS: Final = 4
"""In the seconds of a deadline: it is told at most a fourth of them late."""
_HELD_SECONDS: Final = 0.002
"""Java sends eight kilobytes at a time: so long some of them are held, to be looked at together."""


class PieceSink(Protocol):
    """Who takes the pieces."""

    @property
    def is_full(self) -> bool:
        """True while it should be given no more."""
        ...

    def write(self, data: bytes) -> None:
        """Take a piece."""
        ...


class HandOn(Protocol):
    """Hand pieces on until the answer has ended (True), or the sink is full (False): then it is called again."""

    async def __call__(self, sink: PieceSink) -> bool:
        """Hand on. Raises NoAnswerError where the answer breaks off or stops."""
        ...


class PassingOn:
    """One answer from one connection; between two calls of `some` what comes is held by the connection."""

    def __init__(self, link: ByteLink, coming: ComingAnswer, seconds: float) -> None:
        self._link, self._coming, self._tick = link, coming, seconds / _LOOKS
        self._first: Iterator[bytes] = coming.first()
        self._sink: PieceSink
        self._stopped: asyncio.Future[None]
        self._timer: asyncio.TimerHandle
        self._holding: asyncio.TimerHandle | None = None
        self._looks = 0
        """Since something came."""

    async def some(self, sink: PieceSink) -> bool:
        """Hand on, as `HandOn`.

        Raises WireError and EOFError where the answer breaks off, TimeoutError where nothing comes for `seconds`, and
        what ended the connection.
        """
        for piece in self._first:
            sink.write(piece)
            if sink.is_full:
                return False
        if not self._coming.ended:
            await self._rest(sink)
        return self._coming.ended

    async def _rest(self, sink: PieceSink) -> None:
        link, self._sink, self._looks = self._link, sink, 0
        loop = asyncio.get_running_loop()
        self._stopped = loop.create_future()
        self._timer = loop.call_later(self._tick, self._look)
        try:
            link.taker = self._take
            if link.is_held:
                self._take(link.held())
            if link.has_ended and not self._stopped.done():
                self._take(b"")
            await self._stopped
        finally:
            link.taker = None
            self._timer.cancel()
            if self._holding is not None:
                self._holding.cancel()

    def _take(self, data: bytes) -> None:
        if data and self._coming.holds(data):
            if self._holding is None:
                self._holding = asyncio.get_running_loop().call_later(_HELD_SECONDS, self._hand_on)
            return
        self._hand_on(data)
        if not data:
            error = self._link.error
            ended = EOFError("the stream ended in the middle of a message")
            self._stop(error if isinstance(error, Exception) else ended)

    def _hand_on(self, data: bytes = b"") -> None:
        if self._holding is not None:
            self._holding.cancel()
            self._holding = None
        try:
            if piece := self._coming.after(data):
                self._sink.write(piece)
        except Exception as error:
            self._stop(error)
            return
        self._looks = 0
        if self._coming.ended or self._sink.is_full:
            self._stop()

    def _look(self) -> None:
        """Give up where nothing has come for so long; one timer for all pieces."""
        if self._stopped.done():
            return
        if self._looks == _LOOKS:
            self._stop(TimeoutError())
            return
        self._looks += 1
        self._timer = asyncio.get_running_loop().call_later(self._tick, self._look)

    def _stop(self, error: Exception | None = None) -> None:
        """Take no more: what comes now is held."""
        self._link.taker = None
        if self._stopped.done():
            return
        if error is None:
            self._stopped.set_result(None)
        else:
            self._stopped.set_exception(error)


async def some_of(pieces: AsyncIterator[bytes], sink: PieceSink) -> bool:
    """Hand on what has to be waited for piece by piece, as `HandOn`."""
    async for piece in pieces:
        sink.write(piece)
        if sink.is_full:
            return False
    return True
