"""Reading whole messages from a stream, in bounded memory and time."""

import asyncio
from typing import Final

from twinhive.wire.ends import Short, end_of
from twinhive.wire.message import Spoken, WireError, WireMessage, read_head, spoken

MOST_REQUEST_BYTES: Final = 64 << 20
_CHUNK: Final = 1 << 18


class NotStrictBinary(WireError):
    """The client speaks something else, which `spoken` names."""

    def __init__(self, found: Spoken) -> None:
        super().__init__(f"the client speaks {found.value}; served is {Spoken.STRICT_BINARY.value}, not framed")
        self.spoken = found


class MessageReader:
    """Read one message after the other from a stream; what came after a message's end is kept for the next."""

    def __init__(self, stream: asyncio.StreamReader, most_bytes: int = MOST_REQUEST_BYTES) -> None:
        self._stream = stream
        self._most_bytes = most_bytes
        self._held = b""

    async def read(self) -> WireMessage | None:
        """Read the next message whole; None when the stream has ended before it began. The deadline is the caller's.

        Raises NotStrictBinary by the first byte, WireError for bytes that are no message or more than the most, and
        EOFError when the stream ends in the middle.
        """
        if not self._held and not await self._more():
            return None
        if (found := spoken(self._held)) is not Spoken.STRICT_BINARY:
            raise NotStrictBinary(found)
        while (read := read_head(self._held)) is None:
            await self._need_more()
        head, at = read
        while True:
            try:
                end = end_of(self._held, at)
                break
            except Short:
                await self._need_more()
        raw, self._held = self._held[:end], self._held[end:]
        return WireMessage(head, raw, at)

    async def _need_more(self) -> None:
        if len(self._held) >= self._most_bytes:
            raise WireError(f"a message of more than {self._most_bytes} bytes")
        if not await self._more():
            raise EOFError("the stream ended in the middle of a message")

    async def _more(self) -> bool:
        got = await self._stream.read(_CHUNK)
        self._held += got
        return bool(got)
