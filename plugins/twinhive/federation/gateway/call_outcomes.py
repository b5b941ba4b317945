"""What came of a call: the answer for the client, and how it is counted."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from struct import Struct as Packing
from typing import Final

from twinhive.core.model.remotes.definitions import Definition
from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.federation.gateway.gateway_metrics import LOCAL, Ending
from twinhive.federation.gateway.streamed_answers import HandOn
from twinhive.federation.gateway.struct_edits import text_at, with_value
from twinhive.hive.wire.method_table import STRUCT
from twinhive.hive.wire.stream_reader import MOST_BUFFERED_BYTES
from twinhive.hive.wire.thrift_message import Head, MessageKind, WireError, WireMessage, declared_error

_NUMBER: Final = Packing("!h")
_TEXT: Final = 1
"""The field of an exception's text, in all that the metastore and Thrift have."""


@dataclass(frozen=True)
class Pieces:
    """An answer that is handed on as it comes; `release` is called after its end.

    Who gives it is not made to wait for a slow client until as much waits here as of an answer that is held.
    """

    head: Head
    some: HandOn
    seconds: float
    """For the client to take what it is full of."""
    release: Callable[[], Awaitable[object]]

    async def written_to(self, client: ByteLink) -> None:
        """Hand it on. Raises NoAnswerError, TimeoutError and OSError in the middle: then the client is hung up on."""
        client.hold_unsent(MOST_BUFFERED_BYTES)
        try:
            while not await self.some(client):
                async with asyncio.timeout(self.seconds):
                    await client.flush()
        finally:
            await self.release()
            client.hold_unsent()
        await client.flush()


@dataclass(frozen=True)
class CallOutcome:
    """An answer, who gave it, and how the call ended."""

    answer: WireMessage | Pieces
    owner: str = LOCAL
    ending: Ending = Ending.ANSWERED
    hangs_up: bool = False
    """The client is hung up on instead: no exception that it knows says that there is no answer."""

    async def whole(self) -> WireMessage:
        """Return the answer, where it has to be held. One that is too long is given up, and a WireError."""
        if isinstance(self.answer, Pieces):
            await self.answer.release()
            raise WireError(f"the answer to {self.answer.head.method} is too long to be changed here")
        return self.answer


def refusal(request: WireMessage, text: str, owner: str = LOCAL, error: str = "") -> CallOutcome:
    """Refuse a call before anything is sent; by the exception `error` where its method declares that."""
    return CallOutcome(error_answer(request, text, error), owner, Ending.REFUSED)


def failure(request: WireMessage, text: str, owner: str = LOCAL) -> CallOutcome:
    """Answer a call that got no answer."""
    return CallOutcome(error_answer(request, text), owner, Ending.FAILED)


def error_answer(request: WireMessage, text: str, error: str = "") -> WireMessage:
    """Build an exception that the client knows how to take."""
    return declared_error(request.head.method, request.head.sequence, text, error)


def with_its_words_told(answer: WireMessage, definition: Definition, remote: str) -> WireMessage:
    """Return an error of a remote with what its names mean before its text; whatever has no such text as it is.

    Names are not exchanged in a text: it is for people, a name may be part of another word there, and a database may
    be called as a word is. `remote` is the address, for people.
    """
    path = _text_of_an_error(answer)
    if path is None or (text := text_at(answer, path)) is None or str(definition.local) == str(definition.remote):
        return answer
    told = f"remote {definition.local} is {definition.remote} at {remote}, which says under its own names: {text}"
    return with_value(answer, path, told)


def _text_of_an_error(answer: WireMessage) -> tuple[int, ...] | None:
    """Return where the text stands, without looking through an answer that is none."""
    if answer.head.kind is MessageKind.EXCEPTION:
        return (_TEXT,)
    raw, at = answer.raw, answer.at
    if raw[at] != STRUCT or (number := _NUMBER.unpack_from(raw, at + 1)[0]) == 0:
        return None
    return (number, _TEXT)
