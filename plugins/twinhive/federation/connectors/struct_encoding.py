"""Structs of binary Thrift from values and back, without any description of them.

Requests say of each field which type it has; answers are written field by field, as `responder` knows them.
"""

from collections.abc import Iterable, Mapping
from struct import Struct as Packing
from struct import error as PackingError
from typing import Any, Final

from twinhive.hive.wire.method_table import BOOL, BYTE, DOUBLE, I16, I32, I64, LIST, MAP, SET, STRING, STRUCT
from twinhive.hive.wire.thrift_message import STOP, WireError, struct_field, text_field

_HEAD: Final = Packing("!bh")
_INT: Final = Packing("!i")
_FIXED: Final = {
    BOOL: Packing("!?"),
    BYTE: Packing("!b"),
    I16: Packing("!h"),
    I32: _INT,
    I64: Packing("!q"),
    DOUBLE: Packing("!d"),
}
_MOST_DEPTH: Final = 32
_MOST_VALUES: Final = 500_000


def fields_of(raw: bytes, at: int = 0) -> dict[int, Any]:
    """Read a struct: texts as bytes, structs as mappings of their fields' numbers. Raises WireError."""
    try:
        return _Reading(raw).struct(at, 0)[0]
    except (IndexError, PackingError) as error:
        raise WireError("a request ends in the middle") from error


def text(number: int, value: str | None) -> bytes:
    """Write a text; None writes nothing."""
    return b"" if value is None else text_field(number, value)


def number_of_32_bits(number: int, value: int) -> bytes:
    """Write an i32."""
    return _HEAD.pack(I32, number) + _INT.pack(max(-(1 << 31), min(value, (1 << 31) - 1)))


def number_of_64_bits(number: int, value: int) -> bytes:
    """Write an i64."""
    return _HEAD.pack(I64, number) + _FIXED[I64].pack(value)


def truth(number: int, value: bool) -> bytes:
    """Write a bool."""
    return _HEAD.pack(BOOL, number) + _FIXED[BOOL].pack(value)


def struct(number: int, body: bytes) -> bytes:
    """Write a struct whose body ends with its stop."""
    return struct_field(number, body)


def texts(number: int, values: Iterable[str]) -> bytes:
    """Write a list of texts."""
    return _sequence(number, STRING, [_text(value) for value in values])


def structs(number: int, bodies: Iterable[bytes]) -> bytes:
    """Write a list of structs."""
    return _sequence(number, STRUCT, list(bodies))


def mapping(number: int, values: Mapping[str, str]) -> bytes:
    """Write a map of texts."""
    pairs = b"".join(_text(key) + _text(value) for key, value in values.items())
    return _HEAD.pack(MAP, number) + bytes((STRING, STRING)) + _INT.pack(len(values)) + pairs


def empty_mapping(number: int, value_code: int) -> bytes:
    """Write a map of texts to something, with nothing in it."""
    return _HEAD.pack(MAP, number) + bytes((STRING, value_code)) + _INT.pack(0)


def ended(*fields: bytes) -> bytes:
    """Join fields and end the struct."""
    return b"".join(fields) + STOP


def _text(value: str) -> bytes:
    encoded = value.encode("utf-8", "surrogateescape")
    return _INT.pack(len(encoded)) + encoded


def _sequence(number: int, code: int, encoded: list[bytes]) -> bytes:
    return _HEAD.pack(LIST, number) + bytes((code,)) + _INT.pack(len(encoded)) + b"".join(encoded)


class _Reading:
    def __init__(self, raw: bytes) -> None:
        self._raw, self._values = raw, 0

    def struct(self, at: int, depth: int) -> tuple[dict[int, Any], int]:
        fields: dict[int, Any] = {}
        while code := self._raw[at]:
            number = _HEAD.unpack_from(self._raw, at)[1]
            fields[number], at = self._value(code, at + _HEAD.size, depth + 1)
        return fields, at + 1

    def _value(self, code: int, at: int, depth: int) -> tuple[Any, int]:
        self._values += 1
        if depth > _MOST_DEPTH or self._values > _MOST_VALUES:
            raise WireError("a request with too many values, or too many inside each other")
        if code in _FIXED:
            packing = _FIXED[code]
            return packing.unpack_from(self._raw, at)[0], at + packing.size
        if code == STRING:
            return self._string(at)
        if code == STRUCT:
            return self.struct(at, depth)
        if code in (LIST, SET):
            return self._list(at, depth)
        if code == MAP:
            return self._map(at, depth)
        raise WireError(f"{code} is no type of Thrift")

    def _string(self, at: int) -> tuple[bytes, int]:
        end = at + 4 + self._size(at)
        if end > len(self._raw):
            raise IndexError
        return self._raw[at + 4 : end], end

    def _size(self, at: int) -> int:
        size: int = _INT.unpack_from(self._raw, at)[0]
        if not 0 <= size <= len(self._raw):  # each element has at least a byte
            raise WireError(f"a size of {size} in {len(self._raw)} bytes")
        return size

    def _list(self, at: int, depth: int) -> tuple[list[Any], int]:
        code, count = self._raw[at], self._size(at + 1)
        at += 5
        values = []
        for _ in range(count):
            value, at = self._value(code, at, depth + 1)
            values.append(value)
        return values, at

    def _map(self, at: int, depth: int) -> tuple[list[tuple[Any, Any]], int]:
        key_code, value_code, count = self._raw[at], self._raw[at + 1], self._size(at + 2)
        at += 6
        pairs = []
        for _ in range(count):
            key, at = self._value(key_code, at, depth + 1)
            value, at = self._value(value_code, at, depth + 1)
            pairs.append((key, value))
        return pairs, at
