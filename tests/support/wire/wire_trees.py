"""Structs of binary Thrift as trees: any fields of any type, also such as no bindings know; encoded by the format."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.support.wire.wire_messages import TEXTS
from twinhive.hive.wire.method_table import (
    BOOL,
    BYTE,
    DOUBLE,
    I16,
    I32,
    I64,
    LIST,
    MAP,
    SET,
    STRING,
    STRUCT,
    STRUCTS,
    Field,
    Kind,
    Struct,
)

_FIXED = {BOOL: "!b", BYTE: "!b", DOUBLE: "!d", I16: "!h", I32: "!i", I64: "!q"}
_PLAIN = (*_FIXED, STRING)


@dataclass
class Leaf:
    """A text or a number; `field` is what the table knows of the field that it is in."""

    code: int
    value: Any
    field: Field | None = None


@dataclass
class Box:
    """A container. `codes` are those of its elements, or of keys and values."""

    code: int
    codes: tuple[int, ...]
    items: list["Tree"]


@dataclass
class Branch:
    """A struct: its fields by number, in the order in which they are written."""

    fields: list[tuple[int, "Tree"]]
    code: int = STRUCT


Tree = Leaf | Box | Branch


def encoded_tree(tree: Tree) -> bytes:
    match tree:
        case Leaf(code, value):
            return struct.pack("!i", len(value)) + value if code == STRING else struct.pack(_FIXED[code], value)
        case Box(_, codes, items):
            head = bytes(codes) + struct.pack("!i", len(items) // len(codes))
            return head + b"".join(map(encoded_tree, items))
        case Branch(fields):
            parts = (struct.pack("!bh", one.code, number) + encoded_tree(one) for number, one in fields)
            return b"".join(parts) + b"\0"


def random_tree(random: Random, known: Struct | None, depth: int = 6) -> Branch:
    """Make a struct with most of the fields that the table knows, and others of any type between them."""
    fields: list[tuple[int, Tree]] = []
    for field in known.fields if known is not None else ():
        if depth and random.random() < 0.85:
            fields.append((field.number, _known(random, field.kind, field, depth - 1)))
    numbers = {field.number for field in known.fields} if known is not None else set()
    for _ in range(random.choice((0, 0, 1, 3))):
        number = random.choice((1, 2, 3, 4, 11, 12, 99, 0x0B00, 30_000))
        if number not in numbers:
            numbers.add(number)
            fields.append((number, _any(random, depth - 1)))
    random.shuffle(fields)
    return Branch(fields)


def leaves_of(tree: Tree) -> Iterator[Leaf]:
    """Yield the texts that the table gives a role."""
    match tree:
        case Leaf(field=field) if field is not None and field.role is not None:
            yield tree
        case Box(items=items):
            for one in items:
                yield from leaves_of(one)
        case _:
            return


def _known(random: Random, kind: Kind, field: Field, depth: int) -> Tree:
    if random.random() < 0.02 and (other := _any(random, depth)).code != kind.code:
        return other  # not the type that the table says: nobody reads it
    if kind.code == STRUCT:
        return random_tree(random, STRUCTS.get(kind.struct), depth)
    if kind.code in _PLAIN:
        return _leaf(random, kind.code, field)
    if random.random() < 0.05 and (other := _of_code(random, kind.code, 3)).codes != _codes(kind):
        return other  # elements of another type
    items = []
    for _ in range(random.choice((0, 1, 2, 7))):
        items += [_element(random, part, field if part is kind.parts[-1] else None, depth) for part in kind.parts]
    return Box(kind.code, _codes(kind), items)


def _element(random: Random, kind: Kind, field: Field | None, depth: int) -> Tree:
    if kind.code == STRUCT:
        return random_tree(random, STRUCTS.get(kind.struct) if field is not None else None, depth)
    if kind.code in _PLAIN:
        return _leaf(random, kind.code, field)
    return Box(kind.code, _codes(kind), [])


def _codes(kind: Kind) -> tuple[int, ...]:
    return tuple(part.code for part in kind.parts)


def _any(random: Random, depth: int) -> Tree:
    code = random.choice((*_PLAIN, STRING, STRING, *((STRUCT, LIST, SET, MAP) if depth > 0 else ())))
    return _of_code(random, code, depth)


def _of_code(random: Random, code: int, depth: int) -> Tree:
    if code in _PLAIN:
        return _leaf(random, code, None)
    if code == STRUCT:
        return random_tree(random, None, depth - 1)
    inner = _PLAIN if depth < 2 else (*_PLAIN, STRUCT, LIST)
    codes = tuple(random.choice(inner) for _ in range(2 if code == MAP else 1))
    count = random.choice((0, 1, 3))
    return Box(code, codes, [_of_code(random, one, depth - 1) for _ in range(count) for one in codes])


def _leaf(random: Random, code: int, field: Field | None) -> Leaf:
    if code == STRING:
        trap = b"\x0b\0\2\0\0\0\4shop"  # what a field with a name looks like
        return Leaf(
            code, random.choice((*(text.encode() for text in TEXTS), trap if field is None else b"shop")), field
        )
    if code == DOUBLE:
        return Leaf(code, random.random())
    return Leaf(code, random.choice((0, 1, 11)))
