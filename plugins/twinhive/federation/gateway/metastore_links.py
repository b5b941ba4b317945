"""A connection to one metastore, opened when it is first needed, which gets the client's session before any call."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from twinhive.federation.connector_api.byte_links import ByteLink, Take
from twinhive.federation.gateway.loop_detection import is_refusal
from twinhive.federation.gateway.streamed_answers import PassingOn, PieceSink
from twinhive.federation.gateway.struct_edits import error_text
from twinhive.hive.wire.call_numbers import CallNumbers
from twinhive.hive.wire.renamed_chunks import StructChanges
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.stream_reader import MOST_ANSWER_BYTES, MOST_BUFFERED_BYTES, LongAnswer, MessageReader
from twinhive.hive.wire.thrift_message import Head, MessageKind, WireError, WireMessage

OpenLink = Callable[[], Awaitable[ByteLink]]
"""Connect to one of a metastore's addresses. Raises OSError."""


EARLY_BYTES: Final = 1 << 16
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
    """One connection, of one client; used for one call at a time.

    numbers   those of a connection's calls, after its greeting
    """

    def __init__(
        self, open_: OpenLink, limits: LinkLimits, greeting: Greeting, numbers: Callable[[], CallNumbers] = CallNumbers
    ) -> None:
        self._open, self._limits, self._greeting, self._new_numbers = open_, limits, greeting, numbers
        self._bytes: ByteLink | None = None
        self._reader: MessageReader
        self._numbers: CallNumbers
        self._is_second_try = False

    async def call(self, message: WireMessage, *, repeatable: bool) -> WireMessage | LongAnswer:
        """Return the answer; a long one has to be handed on to its end (`handing_on`) before the next call.

        Raises NoAnswerError; a call that may be repeated is tried on a second connection. Nothing is repeated after a
        deadline: who has not answered in time is not asked more.
        """
        is_old = self._bytes is not None
        repeatable, self._is_second_try = repeatable and not self._is_second_try, False
        try:
            return await self._once(message)
        except NoAnswerError as error:
            if isinstance(error.__cause__, TimeoutError) or (error.was_sent and not repeatable):
                raise
            if not is_old and not error.was_sent:
                raise  # all addresses have just been tried
        return await self._once(message)

    def handing_on(self, answer: LongAnswer, renames: Renames, changes: StructChanges | None = None) -> "HandingOn":
        """Return what hands a long answer on with other names and changed structs, as it comes."""
        assert self._bytes is not None  # the answer comes from it
        return HandingOn(self, PassingOn(self._bytes, answer.coming(renames, changes), self._limits.call))

    async def followed(self, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of a long answer of this connection. Raises NoAnswerError where it breaks off or stops."""
        has_ended = False
        try:
            with self.breaking_off():
                while (piece := await self._next(pieces)) is not None:
                    yield piece
            has_ended = True
        finally:
            if not has_ended:
                self.drop()

    @contextmanager
    def breaking_off(self) -> Iterator[None]:
        """Raise NoAnswerError for what ends an answer in the middle."""
        try:
            yield
        except TimeoutError as error:
            text = f"nothing more of an answer within {self._limits.call:g} s"
            raise NoAnswerError(text, was_sent=True) from error
        except (OSError, EOFError, WireError) as error:
            raise NoAnswerError(_words(error), was_sent=True) from error

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        async with asyncio.timeout(self._limits.call):
            return await anext(pieces, None)

    @property
    def is_ready(self) -> bool:
        """Say whether there is a connection on which a call can be sent at once."""
        link = self._bytes
        return link is not None and not link.has_ended and not link.is_full and not self._holds_more(link)

    def number_of(self, sequence: int) -> int:
        """Return the number to `send` a call as, on a connection that is ready, whose client has given it this one."""
        return self._numbers.of(sequence)

    def send(self, raw: bytes, taker: Take) -> None:
        """Send a call on a connection that is ready; what comes back goes to `taker` until `rest`, `done` or `drop`."""
        assert self._bytes is not None
        self._bytes.taker = taker
        self._bytes.write(raw)

    def done(self) -> None:
        """Take note that an answer was taken to its end."""
        if self._bytes is not None:
            self._bytes.taker = None

    async def rest(self, begun: bytes, message: WireMessage) -> WireMessage | LongAnswer:
        """Return the answer to a read that began with these bytes, as `call` does. Raises NoAnswerError."""
        reader, sent_as = self._reader, self._numbers.last
        reader.put(begun)
        try:
            return await self._guarded(lambda: self._answer(reader, message.head, sent_as))
        except NoAnswerError as error:
            if isinstance(error.__cause__, TimeoutError):
                raise
        return await self._once(message)

    def lost(self) -> None:
        """Take note that a sent call was lost with its connection: made again it is not repeated once more."""
        self.drop()
        self._is_second_try = True

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        link, self._bytes = self._bytes, None
        if link is not None:
            link.close()

    async def _once(self, message: WireMessage) -> WireMessage | LongAnswer:
        try:
            reader, link = await self._opened()
        except TimeoutError as error:
            raise self._lost(f"no connection within {self._limits.connect:g} s", False) from error
        except (OSError, EOFError, WireError) as error:
            raise self._lost(_words(error), False) from error
        return await self._guarded(lambda: self._exchange(reader, link, message))

    async def _guarded(self, answer: Callable[[], Awaitable[WireMessage | LongAnswer]]) -> WireMessage | LongAnswer:
        try:
            async with asyncio.timeout(self._limits.call):
                return await answer()
        except TimeoutError as error:
            raise self._lost(self.no_answer, True) from error
        except (OSError, EOFError, WireError) as error:
            raise self._lost(_words(error), True) from error
        except asyncio.CancelledError:
            self.drop()  # its answer may still come, and is not the next call's
            raise

    @property
    def seconds(self) -> float:
        """The deadline of a call."""
        return self._limits.call

    @property
    def no_answer(self) -> str:
        """Words for a deadline that has passed."""
        return f"no answer within {self._limits.call:g} s"

    def _lost(self, text: str, was_sent: bool) -> NoAnswerError:
        self.drop()
        return NoAnswerError(text, was_sent=was_sent)

    async def _opened(self) -> tuple[MessageReader, ByteLink]:
        if self._bytes is not None and (self._bytes.has_ended or self._holds_more(self._bytes)):
            self.drop()  # it was closed, or has said something, while nothing was asked: a new one loses nothing
        if self._bytes is None:
            async with asyncio.timeout(self._limits.connect):
                self._bytes = await self._open()
                self._reader, self._numbers = MessageReader(self._bytes, MOST_ANSWER_BYTES), CallNumbers()
                await self._greet(self._reader, self._bytes)
                self._numbers = self._new_numbers()
        return self._reader, self._bytes

    async def _greet(self, reader: MessageReader, link: ByteLink) -> None:
        try:
            for message in self._greeting():
                answer = await self._exchange(reader, link, message)
                if isinstance(answer, LongAnswer):
                    raise WireError(f"more than {MOST_BUFFERED_BYTES} bytes of an answer to {message.head.method}")
                text = error_text(answer)
                if text is not None and is_refusal(answer, text):
                    raise RefusedGreetingError(text)
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Hang up at once: nothing that still comes is anybody's answer."""
        link, self._bytes = self._bytes, None
        if link is not None:
            link.abort()

    async def _exchange(self, reader: MessageReader, link: ByteLink, message: WireMessage) -> WireMessage | LongAnswer:
        sent_as = self._numbers.of(message.head.sequence)
        link.write(message.numbered(sent_as).raw)
        await link.flush()
        return await self._answer(reader, message.head, sent_as)

    async def _answer(self, reader: MessageReader, asked: Head, sent_as: int) -> WireMessage | LongAnswer:
        answer = await reader.read_answer(self._limits.held(asked.method))
        head = answer.head
        if head.kind not in (MessageKind.REPLY, MessageKind.EXCEPTION):
            raise WireError(f"a {head.kind.name}, where an answer was expected")
        if head.method != asked.method:
            raise WireError(f"an answer to {head.method}, where {asked.method} was asked")
        if head.sequence != sent_as:
            raise WireError(f"an answer to call {head.sequence}, where call {sent_as} was made")
        return answer.numbered(asked.sequence)

    def _holds_more(self, link: ByteLink) -> bool:
        """True where something has come behind the last answer: it is nobody's, and not the next call's above all."""
        return bool(self._reader.held) or link.is_held


class HandingOn:
    """A long answer of one connection, which is dropped unless the answer was handed on to its end."""

    def __init__(self, link: Link, passing: PassingOn) -> None:
        self._link, self._passing = link, passing
        self._has_ended = False

    async def some(self, sink: PieceSink) -> bool:
        """Hand on, as `HandOn`. Raises NoAnswerError."""
        with self._link.breaking_off():
            self._has_ended = await self._passing.some(sink)
        return self._has_ended

    async def close(self) -> None:
        """Take note that nobody asks for more of it."""
        if not self._has_ended:
            self._link.drop()


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
