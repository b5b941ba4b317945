"""Where a struct ends, found in C: Thrift's own decoder with an empty description skips every field.

What bad bytes can bring about is bounded: Thrift's decoder refuses negative sizes and more than 64 structs and lists
inside each other, every element has at least a byte, and it fails where the bytes end.
"""

from io import BytesIO
from struct import Struct as Packing
from typing import Any, Final

from thrift.protocol import fastbinary
from thrift.protocol.TProtocol import TProtocolException

from twinhive.wire.message import WireError
from twinhive.wire.table import BOOL, BYTE, DOUBLE, I16, I32, I64, LIST, MAP, SET, STRING, STRUCT

_INT: Final = Packing("!i").unpack_from
_FIXED: Final = {BOOL: 1, BYTE: 1, DOUBLE: 8, I16: 2, I32: 4, I64: 8, 16: 16}
MOST_ELEMENTS: Final = 16_000_000


class Short(Exception):
    """The bytes end before the struct does."""


class Feed:
    """What Thrift's C decoder takes for its protocol and its transport at once: bytes in memory, and no more."""

    __slots__ = ("container_length_limit", "cstringio_buf", "string_length_limit", "trans")

    def __init__(self, raw: bytes, at: int = 0) -> None:
        self.cstringio_buf = BytesIO(raw)
        self.cstringio_buf.seek(at)
        self.string_length_limit = self.container_length_limit = MOST_ELEMENTS
        self.trans = self

    def cstringio_refill(self, partial: bytes, wanted: int) -> BytesIO:
        """Say that there is no more."""
        raise Short


class _Nothing:
    thrift_spec: tuple[Any, ...] = ()


_SKIPPING: Final = [_Nothing, ()]


def end_of(raw: bytes, at: int) -> int:
    """Return where the struct that begins at `at` ends. Raises Short while that is missing, or WireError."""
    feed = Feed(raw, at)
    try:
        fastbinary.decode_binary(_Nothing(), feed, _SKIPPING)
    except (OverflowError, TypeError, ValueError, TProtocolException) as error:
        raise WireError(f"no struct of binary Thrift: {error}") from error
    return feed.cstringio_buf.tell()


def end_of_value(raw: bytes, code: int, at: int) -> int:
    """Return where a value of any type ends, which is known to be there. Raises WireError."""
    if code in _FIXED:
        return at + _FIXED[code]
    if code == STRING:
        return at + 4 + int(_INT(raw, at)[0])
    if code == STRUCT:
        return end_of(raw, at)
    if code not in (LIST, SET, MAP):
        raise WireError(f"{code} is no type of Thrift")
    codes = raw[at : at + 2] if code == MAP else raw[at : at + 1]
    at += len(codes)
    count: int = _INT(raw, at)[0]
    at += 4
    if all(one in _FIXED for one in codes):
        return at + count * sum(_FIXED[one] for one in codes)
    for _ in range(count):
        for one in codes:
            at = end_of_value(raw, one, at)
    return at
