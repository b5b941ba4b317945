"""The names in a large struct, in C: Thrift's decoder fills objects that know the fields with names, and skips others.

A description is made for each struct and set of roles. Objects of one struct are taken together: of 30,000 partitions
of a table there is one group of names, 30,000 times.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from itertools import chain
from operator import attrgetter
from typing import Any, Final

from thrift.protocol import fastbinary

from twinhive.hive.wire.field_roles import FoundText, looked_into, relate
from twinhive.hive.wire.method_table import LIST, SET, STRING, STRUCT, STRUCTS, Field, Struct
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import WireError
from twinhive.hive.wire.thrift_skip import BAD_BYTES, Feed, Short, StructRun

Groups = Iterator[tuple[list[FoundText], int]]
"""Names of one struct, and how often the same ones occur together."""

_PIECE: Final = 1 << 20
_MOST_BLOCKS: Final = 3_000_000


def groups_in(raw: bytes, at: int, struct: Struct, roles: frozenset[Role]) -> Groups | None:
    """Return the names in a struct, without positions; None for one that only an exact walk can read.

    Raises WireError when names take more memory than those of any real message.
    """
    shape = _shape_of(struct, roles)
    if not shape.whole:
        return None
    try:
        decoded = fastbinary.decode_binary(shape.kind(), _BoundedFeed(raw, at), shape.arguments)
    except (*BAD_BYTES, Short):
        return None
    return _groups(shape, [decoded])


class NamedRun:
    """Structs that follow each other, and the names in them, with one decoding for both."""

    def __init__(self, struct: Struct, roles: frozenset[Role]) -> None:
        self._shape = _shape_of(struct, roles)
        kind, spec = self._shape.arguments
        self._run = StructRun(kind, spec)
        self._take = self._shape.take if self._shape.texts else None
        self._last: tuple[tuple[bytes | None, ...], list[FoundText]] = (), []

    def passed(self, raw: bytes, at: int, most: int) -> tuple[int, int]:
        """Return how many structs are whole, and where they end, as `StructRun.passed`."""
        return self._run.passed(raw, at, most)

    def groups(self, count: int) -> Groups:
        """Return the names in the first structs that were passed."""
        objects, shape = self._run.objects[:count], self._shape
        if self._take is None or shape.lists or len(alike := set(map(self._take, objects))) != 1:
            yield from _groups(shape, objects)
            return
        (texts,) = alike
        if texts != self._last[0]:
            self._last = texts, _texts_found(shape, texts)
        yield self._last[1], count
        yield from _below(shape, objects)


@cache
def can_be_run(struct: Struct, roles: frozenset[Role]) -> bool:
    """True for a struct whose names `NamedRun` finds."""
    shape = _shape_of(struct, roles)
    return shape.whole and bool(shape.texts or shape.lists or shape.below)


class _BoundedFeed(Feed):
    """Hand bytes on in pieces, and look between two of them at the memory that the objects take."""

    __slots__ = ("_at", "_most", "_raw")

    def __init__(self, raw: bytes, at: int) -> None:
        small = len(raw) <= _PIECE
        super().__init__(raw if small else raw[at : at + _PIECE], at if small else 0)
        self._raw = raw
        self._at = len(raw) if small else at + _PIECE
        self._most = 0 if small else sys.getallocatedblocks() + _MOST_BLOCKS

    def cstringio_refill(self, partial: bytes, wanted: int) -> BytesIO:
        """Return the next piece with what is left of the last one before it."""
        if self._at >= len(self._raw):
            raise Short
        if sys.getallocatedblocks() > self._most:
            raise WireError("a message with more names than any real one has")
        end = self._at + max(_PIECE, wanted)
        self.cstringio_buf = BytesIO(partial + self._raw[self._at : end])
        self._at = end
        return self.cstringio_buf


@dataclass(eq=False)
class _Shape:
    """What Thrift's decoder is told of a struct, and how to read what it made."""

    kind: type
    arguments: list[Any]
    whole: bool = True
    """All ways to names can be described: none goes through a map, or a list in a list."""
    texts: list[Field] = field(default_factory=list)
    lists: list[Field] = field(default_factory=list)
    below: list[tuple[str, bool, "_Shape"]] = field(default_factory=list)
    """Attribute, whether it is a list, and the shape of what it holds."""

    @property
    def take(self) -> Callable[[Any], tuple[bytes | None, ...]]:
        """Return what takes the texts from an object."""
        names = [_attribute(one) for one in self.texts]
        if len(names) == 1:
            single = attrgetter(names[0])
            return lambda one: (single(one),)
        return attrgetter(*names)


@cache
def _shape_of(struct: Struct, roles: frozenset[Role]) -> _Shape:
    return _built(struct, roles, {})


def _built(struct: Struct, roles: frozenset[Role], known: dict[str, _Shape]) -> _Shape:
    """Build the shape of a struct; `known` are those that are being built, for structs that hold their own kind."""
    fields = looked_into(struct, roles)
    kind = type(struct.name, (), {_attribute(one): None for one in fields.values()})
    shape = known[struct.name] = _Shape(kind, [kind, ()])
    row: list[tuple[Any, ...] | None] = [None] * (1 + max(fields, default=0))
    for one in fields.values():
        row[one.number] = (one.number, one.kind.code, _attribute(one), _typed(shape, one, roles, known), None)
    shape.arguments[1] = tuple(row)
    return shape


def _typed(shape: _Shape, one: Field, roles: frozenset[Role], known: dict[str, _Shape]) -> Any:
    """Return what the decoder is told of a field's type, and note in the shape how to read it."""
    element = one.kind.parts[0] if one.kind.code in (LIST, SET) else one.kind
    if element.code == STRING:
        (shape.texts if element is one.kind else shape.lists).append(one)
        return "BINARY" if element is one.kind else (STRING, "BINARY", False)
    if element.code != STRUCT:
        shape.whole = False
        return None
    inner = known.get(element.struct) or _built(STRUCTS[element.struct], roles, known)
    shape.below.append((_attribute(one), element is not one.kind, inner))
    shape.whole = shape.whole and inner.whole
    return inner.arguments if element is one.kind else (STRUCT, inner.arguments, False)


def _groups(shape: _Shape, objects: Sequence[Any]) -> Groups:
    if shape.lists:
        for one in objects:
            yield _related([*_texts(shape, one), *_listed(shape, one)]), 1
    elif shape.texts:
        for texts, count in Counter(map(shape.take, objects)).items():
            yield _texts_found(shape, texts), count
    yield from _below(shape, objects)


def _texts_found(shape: _Shape, texts: Sequence[bytes | None]) -> list[FoundText]:
    pairs = zip(shape.texts, texts, strict=True)
    return _related([FoundText(one, 0, text) for one, text in pairs if text is not None])


def _below(shape: _Shape, objects: Sequence[Any]) -> Groups:
    for attribute, many, inner in shape.below:
        values = [value for value in map(attrgetter(attribute), objects) if value is not None]
        if values:
            yield from _groups(inner, list(chain.from_iterable(values)) if many else values)


def _texts(shape: _Shape, one: Any) -> Iterator[FoundText]:
    values = ((known, getattr(one, _attribute(known))) for known in shape.texts)
    return (FoundText(known, 0, text) for known, text in values if text is not None)


def _listed(shape: _Shape, one: Any) -> Iterator[FoundText]:
    return (FoundText(known, 0, text) for known in shape.lists for text in getattr(one, _attribute(known)) or ())


def _related(own: list[FoundText]) -> list[FoundText]:
    relate(own)
    return own


def _attribute(one: Field) -> str:
    return f"f{one.number}"
