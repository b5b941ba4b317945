"""What came of a call: the answer for the client, and how it is counted."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from twinhive.gateway.handing_on import HandOn
from twinhive.gateway.metrics import LOCAL, Ending
from twinhive.ports.byte_links import ByteLink
from twinhive.wire.message import Head, WireError, WireMessage, declared_error
from twinhive.wire.reader import MOST_BUFFERED_BYTES


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

    async def whole(self) -> WireMessage:
        """Return the answer, where it has to be held. One that is too long is given up, and a WireError."""
        if isinstance(self.answer, Pieces):
            await self.answer.release()
            raise WireError(f"the answer to {self.answer.head.method} is too long to be changed here")
        return self.answer


def refusal(request: WireMessage, text: str, owner: str = LOCAL) -> CallOutcome:
    """Refuse a call before anything is sent."""
    return CallOutcome(error_answer(request, text), owner, Ending.REFUSED)


def failure(request: WireMessage, text: str, owner: str = LOCAL) -> CallOutcome:
    """Answer a call that got no answer."""
    return CallOutcome(error_answer(request, text), owner, Ending.FAILED)


def error_answer(request: WireMessage, text: str) -> WireMessage:
    """Build an exception that the client knows how to take."""
    return declared_error(request.head.method, request.head.sequence, text)
