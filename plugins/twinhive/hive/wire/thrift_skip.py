"""Where values end, found in C: Thrift's own decoder with an empty description skips every field.

What bad bytes can bring about is bounded: Thrift's decoder refuses negative sizes and more than 64 structs and lists
inside each other, every element has at least a byte, and it fails where the bytes end.
"""

from collections.abc import Generator
from io import BytesIO
from struct import Struct as Packing
from typing import Any, Final

from thrift.protocol import fastbinary
from thrift.protocol.TProtocol import TProtocolException

from twinhive.hive.wire.method_table import BOOL, BYTE, DOUBLE, I16, I32, I64, LIST, MAP, SET, STRING, STRUCT
from twinhive.hive.wire.thrift_message import WireError

FIXED: Final = {BOOL: 1, BYTE: 1, DOUBLE: 8, I16: 2, I32: 4, I64: 8, 16: 16}
"""Bytes of the types that have always as many; 16 is a UUID."""
BAD_BYTES: Final = (OverflowError, TypeError, ValueError, TProtocolException)
"""What Thrift's decoder raises."""
_INT: Final = Packing("!i").unpack_from
_LIST_OF_STRUCTS: Final = Packing("!bhbi").pack
_MOST_ELEMENTS: Final = (1 << 31) - 1
_STRUCTS: Final = bytes((STRUCT,))
_RUN: Final = 256
"""More structs than so many are passed over in one go."""


class Short(Exception):
    """The bytes end before the value does."""


class Feed:
    """What Thrift's C decoder takes for its protocol and its transport at once: bytes in memory, and no more."""

    __slots__ = ("container_length_limit", "cstringio_buf", "string_length_limit")

    def __init__(self, raw: bytes, at: int = 0) -> None:
        self.cstringio_buf = BytesIO(raw)
        self.cstringio_buf.seek(at)
        self.string_length_limit = self.container_length_limit = _MOST_ELEMENTS

    @property
    def trans(self) -> "Feed":
        """Itself; as an attribute it would be garbage that only the collector finds, and hold the bytes until then."""
        return self

    def cstringio_refill(self, partial: bytes, wanted: int) -> BytesIO:
        """Say that there is no more."""
        raise Short


class _Nothing:
    thrift_spec: tuple[Any, ...] = ()


_NOTHING: Final = _Nothing()
_SKIPPING: Final = [_Nothing, ()]


def end_of(raw: bytes, at: int) -> int:
    """Return where the struct that begins at `at` ends. Raises Short while that is missing, or WireError."""
    feed = Feed(raw, at)
    try:
        fastbinary.decode_binary(_NOTHING, feed, _SKIPPING)
    except BAD_BYTES as error:
        raise WireError(f"no struct of binary Thrift: {error}") from error
    return feed.cstringio_buf.tell()


def end_of_value(raw: bytes, code: int, at: int) -> int:
    """Return where a value of any type ends, which is known to be there. Raises WireError."""
    if code in FIXED:
        return at + FIXED[code]
    if code == STRING:
        return at + 4 + int(_INT(raw, at)[0])
    if code == STRUCT:
        return end_of(raw, at)
    if code not in (LIST, SET, MAP):
        raise WireError(f"{code} is no type of Thrift")
    return _end_of_container(raw, raw[at : at + 2] if code == MAP else raw[at : at + 1], at)


def _end_of_container(raw: bytes, codes: bytes, at: int) -> int:
    at += len(codes)
    count: int = _INT(raw, at)[0]
    at += 4
    if all(one in FIXED for one in codes):
        return at + count * sum(FIXED[one] for one in codes)
    if codes == _STRUCTS and count > _RUN:
        passed, end = StructRun().passed(raw, at, count)
        if passed < count:
            raise WireError("a list that ends in the middle")
        return end
    for _ in range(count):
        for one in codes:
            at = end_of_value(raw, one, at)
    return at


class _Enough(Exception):
    """As many structs were passed over as were asked for."""


class StructRun:
    """Structs that follow each other, as those of a list do: how many of them are there as a whole.

    The decoder is told of a list. It makes an object where each struct begins: there the one before it has ended.
    """

    def __init__(self, kind: type = _Nothing, spec: tuple[Any, ...] = ()) -> None:
        self._begins: list[int] = []
        self.objects: list[Any] = []
        """Those of the last run, made of `kind` and filled as `spec` says; one more than there are whole structs."""
        self._kind = kind if spec else None
        self._element = type("_Element", (), {})
        self._described = [_Nothing, (None, (1, LIST, "structs", (STRUCT, [self._element, spec], False), None))]
        self._prepare()

    def passed(self, raw: bytes, at: int, most: int) -> tuple[int, int]:
        """Return how many structs from `at` on are whole, at most so many, and where they end. Raises WireError."""
        if at >= len(raw):
            return 0, at
        self._feed, self._most = _RunFeed(raw, at, most), most
        self._begins.clear()
        self.objects.clear()
        try:
            fastbinary.decode_binary(_Nothing(), self._feed, self._described)
        except (Short, _Enough) as ended:
            if isinstance(ended, _Enough):
                self._prepare()
            count = len(self._begins) - 1
            return count, self._begins[-1] if count else at  # of the first it is not told where it stands
        except BAD_BYTES as error:
            raise WireError(f"no struct of binary Thrift: {error}") from error
        raise WireError("a list that is longer than it says")

    def _prepare(self) -> None:
        making = self._made()
        next(making)
        type.__setattr__(self._element, "__new__", staticmethod(making.send))

    def _made(self) -> Generator[Any, type, None]:
        """Yield an object for each struct: to go on with a generator takes less than to call a function."""
        kind, begins, objects = self._kind, self._begins, self.objects
        one: Any = _NOTHING
        yield
        while True:
            begins.append(self._feed.cstringio_buf.tell())
            if len(begins) > self._most:
                raise _Enough
            if kind is not None:
                one = kind()
                objects.append(one)
            yield one


class _RunFeed(Feed):
    """The head of a list that we say is there, then the structs."""

    __slots__ = ("_structs",)

    def __init__(self, raw: bytes, at: int, most: int) -> None:
        super().__init__(_LIST_OF_STRUCTS(LIST, 1, STRUCT, min(most + 1, _MOST_ELEMENTS)))
        self._structs: BytesIO | None = BytesIO(raw)
        self._structs.seek(at)

    def cstringio_refill(self, partial: bytes, wanted: int) -> BytesIO:
        """Go on to the structs once."""
        if self._structs is None:
            raise Short
        self.cstringio_buf, self._structs = self._structs, None
        return self.cstringio_buf
