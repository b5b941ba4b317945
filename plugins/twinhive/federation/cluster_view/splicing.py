"""Parts of a message's bytes replaced, all others left as they are."""

from collections.abc import Iterable, Mapping
from struct import Struct as Packing
from typing import Final

from twinhive.federation.cluster_view.message_locations import MapSpot, TextSpot
from twinhive.hive.wire.method_table import MAP, STRING

_INT: Final = Packing("!i")
_FIELD: Final = Packing("!bh")
_HEAD: Final = _FIELD.size
Splice = tuple[int, int, bytes]
"""Begin, end, and what comes in between instead."""


def spliced(raw: bytes, splices: Iterable[Splice]) -> bytes:
    """Return the bytes with these parts replaced; no two of them overlap."""
    parts, last = [], 0
    for begin, end, new in sorted(splices):
        assert begin >= last, "parts that overlap"
        parts += [raw[last:begin], new]
        last = end
    return b"".join([*parts, raw[last:]])


def other_text(spot: TextSpot, text: str) -> Splice:
    """Put another text in the place of one."""
    return spot.begin, spot.end, _text(text)


def without_field(spot: TextSpot) -> Splice:
    """Take a text away, with the head of its field."""
    return spot.begin - _HEAD, spot.end, b""


def new_text(fields: int, number: int, text: str) -> Splice:
    """Put a text into the struct whose fields begin there."""
    return fields, fields, _FIELD.pack(STRING, number) + _text(text)


def other_map(spot: MapSpot, entries: Mapping[str, str]) -> Splice:
    """Put other entries in the place of a map."""
    return spot.begin, spot.end, _map(entries)


def new_map(fields: int, number: int, entries: Mapping[str, str]) -> Splice:
    """Put a map into the struct whose fields begin there."""
    return fields, fields, _FIELD.pack(MAP, number) + _map(entries)


def _map(entries: Mapping[str, str]) -> bytes:
    body = b"".join(_text(key) + _text(value) for key, value in entries.items())
    return bytes((STRING, STRING)) + _INT.pack(len(entries)) + body


def _text(text: str) -> bytes:
    value = text.encode("utf-8", "surrogateescape")
    return _INT.pack(len(value)) + value
