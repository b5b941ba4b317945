"""A large answer as a cluster sees it, in pieces as it comes in: never held as a whole.

Whole tables and partitions are collected until some megabytes wait, and are judged together. One that is larger than
that breaks the answer off.
"""

from collections.abc import Callable, Sequence
from typing import Final

from twinhive.federation.cluster_view.message_locations import (
    OWN_STRUCTS,
    PLACES,
    ObjectKind,
    PlacedObject,
    TextSpot,
    objects_of_run,
)
from twinhive.hive.wire.method_table import Field, Kind, Struct
from twinhive.hive.wire.scanning import StructScan
from twinhive.hive.wire.thrift_message import WireError

JUDGED_AT_ONCE: Final = 4 << 20
"""Bytes, of the answer."""
_LARGE: Final = 1 << 14

Show = Callable[[bytes, Sequence[PlacedObject]], bytes]
"""Return bytes in which these objects are as a cluster sees them."""


class ShownPieces(StructScan):
    """Change the struct of an answer while it is fed; `taken` returns what can be sent on."""

    def __init__(self, struct: Struct, show: Show, most_bytes: int, judged_at_once: int = JUDGED_AT_ONCE) -> None:
        super().__init__(struct, PLACES, most_bytes)
        self._show, self._at_once = show, judged_at_once
        self._held: list[tuple[bytes, list[PlacedObject]]] = []
        self._held_bytes = 0
        self._copied = 0

    def taken(self) -> bytes:
        """Return what is ready, once enough waits or nothing more comes. It asks servers. Raises WireError."""
        if not self.ended and self._held_bytes < self._at_once:
            return b""
        held, self._held, self._held_bytes = self._held, [], 0
        raw = b"".join(part for part, _ in held)
        objects, at = [], 0
        for part, found in held:
            objects += [one.moved(at) for one in found]
            at += len(part)
        return self._show(raw, objects)

    def most_whole(self, kind: Kind) -> int:
        """Wait for the whole of what has a place of its own."""
        return JUDGED_AT_ONCE if kind.struct in OWN_STRUCTS else _LARGE

    def text(self, field: Field, at: int, end: int) -> None:
        """Take a place that belongs to no object."""
        if field.role not in PLACES:
            return
        self._copy(at)
        raw = self.window[at:end]
        text = raw[4:].decode("utf-8", "surrogateescape")
        self._put(raw, [PlacedObject(ObjectKind.OTHER, 0, others=[TextSpot(0, len(raw), text)])])
        self._copied = end

    def structs(self, struct: Struct, at: int, end: int, count: int) -> None:
        """Take a run of whole structs."""
        self._copy(at)
        raw = self.window[at:end]
        self._put(raw, objects_of_run(raw, 0, struct, count))
        self._copied = end

    def entered(self) -> None:
        """Refuse an object that is too large to be taken whole. Raises WireError."""
        struct = self._levels[-1].struct
        if struct is not None and struct.name in OWN_STRUCTS:
            raise WireError(f"an object of more than {JUDGED_AT_ONCE} bytes")

    def read_to(self, at: int) -> None:
        """Take what was not taken yet before the window moves."""
        self._copy(at)
        self._copied = 0

    def _copy(self, at: int) -> None:
        if at > self._copied:
            self._put(self.window[self._copied : at], [])
        self._copied = at

    def _put(self, raw: bytes, found: list[PlacedObject]) -> None:
        self._held.append((raw, found))
        self._held_bytes += len(raw)
