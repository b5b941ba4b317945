"""A connection to one metastore, opened when it is first needed, which gets the client's session before any call."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final

from twinhive.gateway.bodies import error_text
from twinhive.gateway.chain import is_refusal
from twinhive.gateway.server import close_quietly
from twinhive.wire.message import WireError, WireMessage
from twinhive.wire.reader import MOST_ANSWER_BYTES, MOST_BUFFERED_BYTES, LongAnswer, MessageReader
from twinhive.wire.renames import Renames

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Open = Callable[[], Awaitable[Streams]]
"""Connect to one of a metastore's addresses. Raises OSError."""


EARLY_BYTES: Final = 1 << 18
"""A longer list of partitions is handed on while it comes: nothing but names is changed in it."""
Greeting = Callable[[], Iterable[WireMessage]]
"""What a metastore is told on a new connection before the first call."""


class NoAnswerError(Exception):
    """A call got no answer; `was_sent` says that it may have happened."""

    def __init__(self, text: str, *, was_sent: bool) -> None:
        super().__init__(text)
        self.text, self.was_sent = text, was_sent


@dataclass(frozen=True)
class LinkLimits:
    """Seconds for connecting and for one call; bytes of an answer that are held before it is handed on.

    early     the same of a list of partitions
    """

    connect: float
    call: float
    buffered: int = MOST_BUFFERED_BYTES
    early: int = EARLY_BYTES

    def held(self, method: str) -> int:
        """Return how many bytes of an answer to a method are held."""
        return min(self.buffered, self.early) if method.startswith("get_partition") else self.buffered


class RefusedGreetingError(Exception):
    """A metastore has refused what every connection begins with; its own words."""


class Link:
    """One connection, of one client; used for one call at a time."""

    def __init__(self, open_: Open, limits: LinkLimits, greeting: Greeting) -> None:
        self._open, self._limits, self._greeting = open_, limits, greeting
        self._connection: tuple[MessageReader, asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, message: WireMessage, *, repeatable: bool) -> WireMessage | LongAnswer:
        """Return the answer; of a long one `pieces` has to be read to its end before the next call.

        Raises NoAnswerError; a call that may be repeated is tried on a second connection. Nothing is repeated after a
        deadline: who has not answered in time is not asked more.
        """
        is_old = self._connection is not None
        try:
            return await self._once(message)
        except NoAnswerError as error:
            if isinstance(error.__cause__, TimeoutError) or (error.was_sent and not repeatable):
                raise
            if not is_old and not error.was_sent:
                raise  # all addresses have just been tried
        return await self._once(message)

    def pieces(self, answer: LongAnswer, renames: Renames) -> AsyncGenerator[bytes, None]:
        """Yield a long answer with other names, as it comes. Raises NoAnswerError where it breaks off."""
        return self.followed(answer.pieces(renames))

    async def followed(self, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of a long answer of this connection. Raises NoAnswerError where it breaks off or stops."""
        has_ended = False
        try:
            while (piece := await self._next(pieces)) is not None:
                yield piece
            has_ended = True
        except TimeoutError as error:
            text = f"nothing more of an answer within {self._limits.call:g} s"
            raise NoAnswerError(text, was_sent=True) from error
        except (OSError, EOFError, WireError) as error:
            raise NoAnswerError(str(error) or type(error).__name__, was_sent=True) from error
        finally:
            if not has_ended:
                self._drop()

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        async with asyncio.timeout(self._limits.call):
            return await anext(pieces, None)

    async def close(self) -> None:
        """Close the connection; the next call opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await close_quietly(connection[2])

    async def _once(self, message: WireMessage) -> WireMessage | LongAnswer:
        was_sent = False
        try:
            reader, writer = await self._opened()
            was_sent = True
            async with asyncio.timeout(self._limits.call):
                return await self._exchange(reader, writer, message)
        except TimeoutError as error:
            seconds = self._limits.call if was_sent else self._limits.connect
            raise self._lost(
                f"{'no answer' if was_sent else 'no connection'} within {seconds:g} s", was_sent
            ) from error
        except (OSError, EOFError, WireError) as error:
            raise self._lost(str(error) or type(error).__name__, was_sent) from error
        except asyncio.CancelledError:
            self._drop()  # its answer may still come, and is not the next call's
            raise

    def _lost(self, text: str, was_sent: bool) -> NoAnswerError:
        self._drop()
        return NoAnswerError(text, was_sent=was_sent)

    async def _opened(self) -> tuple[MessageReader, asyncio.StreamWriter]:
        if self._connection is not None and self._connection[1].at_eof():
            await self.close()  # it was closed while nothing was asked: a new one loses nothing
        if self._connection is None:
            async with asyncio.timeout(self._limits.connect):
                stream, writer = await self._open()
                self._connection = (MessageReader(stream, MOST_ANSWER_BYTES), stream, writer)
                await self._greet(self._connection[0], writer)
        reader, _, writer = self._connection
        return reader, writer

    async def _greet(self, reader: MessageReader, writer: asyncio.StreamWriter) -> None:
        try:
            for message in self._greeting():
                answer = await self._exchange(reader, writer, message)
                if isinstance(answer, LongAnswer):
                    raise WireError(f"more than {MOST_BUFFERED_BYTES} bytes of an answer to {message.head.method}")
                text = error_text(answer)
                if text is not None and is_refusal(answer, text):
                    raise RefusedGreetingError(text)
        except BaseException:
            self._drop()
            raise

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection[2].transport.abort()

    async def _exchange(
        self, reader: MessageReader, writer: asyncio.StreamWriter, message: WireMessage
    ) -> WireMessage | LongAnswer:
        writer.write(message.raw)
        await writer.drain()
        answer = await reader.read_answer(self._limits.held(message.head.method))
        if answer.head.method != message.head.method:
            raise WireError(f"an answer to {answer.head.method}, where {message.head.method} was asked")
        return answer
