"""Reading messages from a stream, whole or in pieces, in bounded memory and time.

Deadlines are the caller's. Errors are WireError for bytes that are no message or more than the most, and EOFError for a
stream that ends in the middle; after either nothing more can be read from the stream.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Final, Protocol

from twinhive.hive.wire.message_renaming import struct_of
from twinhive.hive.wire.method_table import NO_FIELDS
from twinhive.hive.wire.renamed_chunks import PassedPieces, RenamedPieces, StructChanges
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.scanning import StructScan
from twinhive.hive.wire.thrift_message import Head, Spoken, WireError, WireMessage, read_head, spoken
from twinhive.hive.wire.thrift_skip import Short, end_of

MOST_REQUEST_BYTES: Final = 64 << 20
MOST_BUFFERED_BYTES: Final = 32 << 20
"""A longer answer is handed on in pieces."""
MOST_ANSWER_BYTES: Final = (1 << 31) - 1
_CHUNK: Final = 1 << 18


class ByteStream(Protocol):
    """Where bytes come from."""

    async def read(self, n: int = -1, /) -> bytes:
        """Wait for at most `n` bytes; none at the end."""
        ...


class NotStrictBinary(WireError):
    """The other side speaks something else, which `spoken` names."""

    def __init__(self, found: Spoken) -> None:
        super().__init__(f"the other side speaks {found.value}, and not {Spoken.STRICT_BINARY.value}, unframed")
        self.spoken = found


class MessageReader:
    """Read one message after the other from a stream; what came after a message's end is kept for the next."""

    def __init__(self, stream: ByteStream, most_bytes: int = MOST_REQUEST_BYTES) -> None:
        self._stream = stream
        self._most_bytes = most_bytes
        self._held = b""

    @property
    def held(self) -> bytes:
        """What was received and belongs to no message that was read."""
        return self._held

    def taken(self, data: bytes) -> WireMessage | None:
        """Return the message that is whole with these bytes, None while it is not; what is behind it stays held.

        Raises NotStrictBinary by the first byte, WireError.
        """
        self._held = self._held + data if self._held else data
        if (found := spoken(self._held)) is not Spoken.STRICT_BINARY:
            raise NotStrictBinary(found)
        read = read_head(self._held)
        return None if read is None else self._whole_if_there(*read)

    def released(self) -> bytes:
        """Return what is held and belongs to no message that was read, and hold it no more."""
        held, self._held = self._held, b""
        return held

    def put(self, data: bytes) -> None:
        """Hold bytes that somebody else has taken from the stream: they are read first."""
        self._held += data

    async def begins(self) -> bool:
        """Wait for the next message's first byte, however long; False when the stream has ended before."""
        if not self._held:
            self._held = await self._stream.read(_CHUNK)
        return bool(self._held)

    async def read(self) -> WireMessage | None:
        """Read the next message whole; None when the stream has ended before it began.

        Raises NotStrictBinary by the first byte, WireError, EOFError.
        """
        if (head := await self._head()) is None:
            return None
        message = await self._whole(*head, self._most_bytes, is_request=True)
        assert isinstance(message, WireMessage)  # nothing longer is begun
        return message

    async def read_answer(self, buffered: int = MOST_BUFFERED_BYTES) -> "WireMessage | LongAnswer":
        """Read an answer whole, or only begin to when it has more than `buffered` bytes. Raises WireError, EOFError.

        Of one that is whole the call can still be made elsewhere when it is not what was wanted.
        """
        if (read := await self._head()) is None:
            raise EOFError("the stream ended before the answer")
        return await self._whole(*read, buffered)

    async def _head(self) -> tuple[Head, int] | None:
        if not await self.begins():
            return None
        if (found := spoken(self._held)) is not Spoken.STRICT_BINARY:
            raise NotStrictBinary(found)
        while (read := read_head(self._held)) is None:
            self._held += await self._chunk()
        return read

    def _whole_if_there(self, head: Head, at: int) -> WireMessage | None:
        try:
            end = end_of(self._held, at)
        except Short:
            return None
        raw, self._held = self._held[:end], self._held[end:]
        return WireMessage(head, raw, at)

    async def _whole(
        self, head: Head, at: int, buffered: int, *, is_request: bool = False
    ) -> "WireMessage | LongAnswer":
        if (message := self._whole_if_there(head, at)) is not None:
            return message
        scan = PassedPieces(NO_FIELDS, self._most_bytes)
        scan.is_request = is_request
        encoded, count = self._held[:at], len(self._held) - at
        chunk, self._held = self._held[at:], b""
        while True:
            await _fed(scan, chunk)
            if scan.ended:
                break
            if count > buffered:
                scan.pauses = False
                return LongAnswer(self, head, encoded, scan)
            chunk = await self._chunk()
            count += len(chunk)
        self._held = scan.window
        return WireMessage(head, scan.behind(encoded), at)

    async def _chunk(self) -> bytes:
        if not (chunk := await self._stream.read(_CHUNK)):
            raise EOFError("the stream ended in the middle of a message")
        return chunk


async def _fed(scan: StructScan, chunk: bytes) -> None:
    """Read a chunk, and let others go on meanwhile where that takes long."""
    scan.pauses = True
    scan.feed(chunk)
    while scan.is_paused:
        await asyncio.sleep(0)
        scan.feed(b"")


class LongAnswer:
    """An answer that is too long to be held: its head, then pieces. Nothing else can be read before its end."""

    def __init__(self, reader: MessageReader, head: Head, encoded: bytes, begun: PassedPieces) -> None:
        self.head = head
        self._reader, self._encoded, self._begun = reader, encoded, begun

    def numbered(self, sequence: int) -> "LongAnswer":
        """Return the answer with this number."""
        if sequence == self.head.sequence:
            return self
        head = replace(self.head, sequence=sequence)
        return LongAnswer(self._reader, head, head.encoded, self._begun)

    def coming(self, renames: Renames, changes: StructChanges | None = None) -> "ComingAnswer":
        """Return the answer with other names and changed structs, for whoever has the bytes that come."""
        if renames.nothing and not changes:
            return ComingAnswer(self._reader, self._encoded, self._begun, b"")
        message = WireMessage(self.head, self._encoded, len(self._encoded))
        pieces = RenamedPieces(struct_of(message), renames, self._reader._most_bytes, changes)
        return ComingAnswer(self._reader, self._encoded, pieces, self._begun.given_up())

    async def pieces(self, renames: Renames) -> AsyncIterator[bytes]:
        """Yield the answer with other names, as it comes. Raises WireError, EOFError: then it has no proper end."""
        coming = self.coming(renames)
        for piece in coming.first():
            yield piece
        while not coming.ended:
            if piece := coming.after(await self._reader._chunk()):
                yield piece

    async def changed(self, pieces: StructScan, taken: Callable[[], Awaitable[bytes]]) -> AsyncIterator[bytes]:
        """Yield the answer as `taken` returns what was fed to `pieces`. Raises as `pieces`, and what `taken` raises."""
        reader = self._reader
        yield self._encoded
        begun = self._begun.given_up()
        for at in range(0, len(begun), _CHUNK):
            pieces.feed(begun[at : at + _CHUNK])
            yield await taken()
        while not pieces.ended:
            pieces.feed(await reader._chunk())
            if piece := await taken():
                yield piece
        reader._held = pieces.window


class ComingAnswer:
    """A long answer under way: bytes that come become pieces that can be sent on."""

    def __init__(
        self, reader: MessageReader, encoded: bytes, pieces: PassedPieces | RenamedPieces, begun: bytes
    ) -> None:
        self._reader, self._encoded, self._pieces, self._begun = reader, encoded, pieces, begun

    @property
    def ended(self) -> bool:
        """True when all of it has come; what came behind it is held by the reader."""
        return self._pieces.ended

    def first(self) -> Iterator[bytes]:
        """Yield what can be sent on of what has come already, all of it before `after` is called. Raises WireError."""
        yield self._encoded
        yield self._pieces.taken()
        for at in range(0, len(self._begun), _CHUNK):
            yield self.after(self._begun[at : at + _CHUNK])

    def holds(self, data: bytes) -> bool:
        """Take bytes that are worth no look before more have come; False where `after` is to take them."""
        return self._pieces.holds(data)

    def after(self, data: bytes) -> bytes:
        """Return what can be sent on now that these bytes have come. Raises WireError."""
        if self._pieces.feed(data):
            self._reader._held = self._pieces.window
        return self._pieces.taken()
