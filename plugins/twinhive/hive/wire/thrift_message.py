"""Messages of strict binary Thrift: their heads, calls and replies as bytes, errors that a method declares.

A message is `0x8001`, a kind, the method's name, a sequence number, and one struct. There is no length.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from struct import Struct as Packing
from typing import Final

from twinhive.hive.wire.method_table import LIST, METHODS, STRING, STRUCT

_INT: Final = Packing("!i")
_FIELD: Final = Packing("!bh")
_HEAD: Final = Packing("!HBBi")
STOP: Final = b"\x00"
MOST_METHOD_BYTES: Final = 256
UNKNOWN_METHOD: Final = 1
INTERNAL_ERROR: Final = 6
"""Reasons of Thrift's own exception. Of the first one clients conclude that the server is older than they are."""
_NOT_DECLARED_BEFORE: Final = (("get_partition_names", 2),)
"""Methods, and the number of their MetaException, which clients of Hive 2 do not know under it."""


class WireError(Exception):
    """Bytes that are no message of this protocol, or more than was allowed; nothing was done with them."""


class MessageKind(IntEnum):
    """Thrift's number of what a message is."""

    CALL = 1
    REPLY = 2
    EXCEPTION = 3
    ONEWAY = 4


class Spoken(Enum):
    """What a client speaks, by its first byte; only the first is served."""

    STRICT_BINARY = "strict binary Thrift"
    FRAMED = "framed Thrift, or binary Thrift without a version"
    COMPACT = "compact Thrift"
    SASL = "SASL (Kerberos or a password)"
    TLS = "TLS"
    HTTP = "HTTP"
    UNKNOWN = "none of the protocols of a metastore"


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before a message's body."""

    kind: MessageKind
    method: str
    sequence: int

    @property
    def encoded(self) -> bytes:
        """The head's bytes."""
        name = self.method.encode()
        return _HEAD.pack(0x8001, 0, self.kind, len(name)) + name + _INT.pack(self.sequence)


@dataclass(frozen=True, slots=True)
class WireMessage:
    """One whole message: its head, its bytes, and where its body begins in them."""

    head: Head
    raw: bytes = field(repr=False)
    at: int

    @property
    def body(self) -> bytes:
        """The struct of arguments or of the result."""
        return self.raw[self.at :]

    def with_body(self, body: bytes) -> "WireMessage":
        """Return a message with the same head and another body."""
        return WireMessage(self.head, self.raw[: self.at] + body, self.at)

    def numbered(self, sequence: int) -> "WireMessage":
        """Return the message with this number."""
        if sequence == self.head.sequence:
            return self
        head = replace(self.head, sequence=sequence)
        return WireMessage(head, b"".join((head.encoded, memoryview(self.raw)[self.at :])), self.at)


def spoken(first: bytes) -> Spoken:
    """Say what a client speaks, from its first byte or more."""
    known = {0x80: Spoken.STRICT_BINARY, 0x00: Spoken.FRAMED, 0x82: Spoken.COMPACT, 0x16: Spoken.TLS}
    if first[0] in known:
        return known[first[0]]
    if 1 <= first[0] <= 5:
        return Spoken.SASL
    return Spoken.HTTP if first[:1].isalpha() and first[:1].isupper() else Spoken.UNKNOWN


def read_head(raw: bytes | bytearray | memoryview) -> tuple[Head, int] | None:
    """Read a head and where the body begins; None while it is not there as a whole. Raises WireError."""
    if len(raw) < _HEAD.size:
        return None
    version, _, kind, length = _HEAD.unpack_from(raw)
    if version != 0x8001 or kind not in MessageKind._value2member_map_:
        raise WireError(f"no head of a message: {bytes(raw[:8]).hex(' ')}")
    if not 0 < length <= MOST_METHOD_BYTES:
        raise WireError(f"a method's name of {length} bytes")
    end = _HEAD.size + length + _INT.size
    if len(raw) < end:
        return None
    try:
        method = bytes(raw[_HEAD.size : _HEAD.size + length]).decode("ascii")
    except UnicodeDecodeError as error:
        raise WireError("a method's name that is not ASCII") from error
    return Head(MessageKind(kind), method, _INT.unpack_from(raw, end - _INT.size)[0]), end


def message_of(raw: bytes) -> WireMessage:
    """Take bytes that are known to be one whole message. Raises WireError."""
    read = read_head(raw)
    if read is None:
        raise WireError(f"{len(raw)} bytes are no message")
    return WireMessage(read[0], raw, read[1])


def call(method: str, sequence: int, body: bytes = STOP) -> WireMessage:
    """Build a call; `body` is the struct of its arguments."""
    kind = MessageKind.ONEWAY if method in METHODS and METHODS[method].oneway else MessageKind.CALL
    return message_with(Head(kind, method, sequence), body)


def reply(method: str, sequence: int, body: bytes = STOP) -> WireMessage:
    """Build a reply; `body` is the struct of its result, by default that of a method that returns nothing."""
    return message_with(Head(MessageKind.REPLY, method, sequence), body)


def text_field(number: int, text: str) -> bytes:
    """Encode one field that is a text."""
    value = text.encode("utf-8", "surrogateescape")
    return _FIELD.pack(STRING, number) + _INT.pack(len(value)) + value


def texts_field(number: int, texts: Iterable[str]) -> bytes:
    """Encode one field that is a list of texts."""
    encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
    count = bytes((STRING,)) + _INT.pack(len(encoded))
    return _FIELD.pack(LIST, number) + count + b"".join(_INT.pack(len(one)) + one for one in encoded)


def struct_field(number: int, body: bytes) -> bytes:
    """Encode one field that is a struct; `body` ends with its stop."""
    return _FIELD.pack(STRUCT, number) + body


def declared_error(method: str, sequence: int, text: str, *preferred: str) -> WireMessage:
    """Build a reply with an exception that the method declares: the first of `preferred`, else MetaException.

    No other one: NoSuchLockException says what is so, and not that nothing is known. A method that declares none of
    these, or is not known, gets a TApplicationException: an exception that is not declared, or was not by the clients
    of an older Hive, reaches them as 'unknown result'.
    """
    numbers = {} if (known := METHODS.get(method)) is None else {kind: one for one, kind in known.exceptions.items()}
    chosen = next((numbers[kind] for kind in (*preferred, "MetaException") if kind in numbers), None)
    if chosen is None or (method, chosen) in _NOT_DECLARED_BEFORE:
        return application_error(method, sequence, text, UNKNOWN_METHOD if known is None else INTERNAL_ERROR)
    return reply(method, sequence, struct_field(chosen, text_field(1, text) + STOP) + STOP)


def application_error(method: str, sequence: int, text: str, reason: int = UNKNOWN_METHOD) -> WireMessage:
    """Build Thrift's own exception, which old and new clients know how to take, whatever the method."""
    body = text_field(1, text) + _FIELD.pack(8, 2) + _INT.pack(reason) + STOP
    return message_with(Head(MessageKind.EXCEPTION, method, sequence), body)


def message_with(head: Head, body: bytes) -> WireMessage:
    """Build a message from its head and its body."""
    encoded = head.encoded
    return WireMessage(head, encoded + body, len(encoded))
