"""The names in a message, and the same message with other names.

A name is replaced where the table of methods says that one stands: a comment, a parameter, a value of a partition, a
column with the same text stay as they are. Of a large message the names are counted first (`decoding`); when the bytes
that a field with that name has occur exactly as often, they are replaced at once, else an exact walk finds each.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from struct import Struct as Packing
from typing import Final, assert_never

from twinhive.hive.wire.decoding import groups_in
from twinhive.hive.wire.field_roles import FoundText
from twinhive.hive.wire.method_table import METHODS, NO_FIELDS, STRING, Struct
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import MessageKind, WireError, WireMessage
from twinhive.hive.wire.walking import found_in

NAMES: Final = frozenset(Role) - {Role.LOCATION, Role.VIEW_TEXT}
"""What a client names things by."""
TextChange = Callable[[FoundText], bytes | None]
"""What a text becomes; None where it stays."""

_INT: Final = Packing("!i")
_FIELD: Final = Packing("!bhi")
_SMALL: Final = 1 << 14
_WALKED: Final = 1 << 16
"""Bytes of a message that is walked though it is not what the server's classes write: those are all decoded in C."""
_PLAIN: Final = re.compile(rb"[\x20-\xff]{1,255}")
"""Names whose field cannot begin in the middle of another one: the bytes before them have a control character first."""


@dataclass(frozen=True, slots=True)
class Name:
    """One name in a message, as the client wrote it; of a table the database beside it, and the catalog beside that."""

    role: Role
    text: str
    database: str | None = None
    catalog: str | None = None


def names_of(message: WireMessage, roles: frozenset[Role] = NAMES) -> tuple[Name, ...]:
    """List the names in a call or a reply, each once. Raises WireError for a method or bytes that are not known."""
    found = _all_found(message, struct_of(message), roles)
    names = (_name(one.field.role, one) for one in found if one.field.role in roles)
    return tuple(dict.fromkeys(names))


def renamed(message: WireMessage, renames: Renames) -> WireMessage:
    """Return the message with other names. Raises WireError."""
    if renames.nothing:
        return message
    return WireMessage(message.head, renamed_struct(message.raw, message.at, struct_of(message), renames), message.at)


def renamed_struct(raw: bytes, at: int, struct: Struct, renames: Renames) -> bytes:
    """Return bytes with other names in the struct that begins at `at`. Raises WireError."""
    if len(raw) > _SMALL and (groups := groups_in(raw, at, struct, NAMES)) is not None:
        new = replaced(raw[at:], groups, renames.change)
        if new is not None:
            return raw[:at] + new
    return _spliced(raw, found_in(raw, at, struct, NAMES), renames.change)


def rewritten(message: WireMessage, change: TextChange, roles: frozenset[Role]) -> WireMessage:
    """Return the message with texts of `roles` replaced one by one. Raises WireError."""
    found = found_in(message.raw, message.at, struct_of(message), roles)
    return WireMessage(message.head, _spliced(message.raw, found, change), message.at)


def struct_of(message: WireMessage) -> Struct:
    """Return what the table says of a message's body. Raises WireError for a method that it does not have."""
    method = METHODS.get(message.head.method)
    if method is None:
        raise WireError(f"{message.head.method} is no method of this table")
    match message.head.kind:
        case MessageKind.CALL | MessageKind.ONEWAY:
            return method.asked
        case MessageKind.REPLY:
            return method.returned
        case MessageKind.EXCEPTION:
            return NO_FIELDS
        case _:
            assert_never(message.head.kind)


def _all_found(message: WireMessage, struct: Struct, roles: frozenset[Role]) -> Iterable[FoundText]:
    if len(message.raw) > _SMALL and (groups := groups_in(message.raw, message.at, struct, roles)) is not None:
        return (one for found, _ in groups for one in found)
    if len(message.raw) > _WALKED:
        raise WireError("a large message that is not what the server's classes write")
    return found_in(message.raw, message.at, struct, roles)


def _spliced(raw: bytes, found: Iterable[FoundText], change: TextChange) -> bytes:
    parts, last = [], 0
    for one in found:
        if (new := change(one)) is not None:
            parts += [raw[last : one.at], _INT.pack(len(new)), new]
            last = one.at + 4 + len(one.text)
    return b"".join([*parts, raw[last:]]) if last else raw


def replaced(body: bytes, groups: Iterable[tuple[list[FoundText], int]], change: TextChange) -> bytes | None:
    """Replace whole fields at once; None where counts do not prove that exactly the names are meant."""
    counts: Counter[tuple[int, bytes]] = Counter()
    changes: dict[tuple[int, bytes], set[bytes | None]] = defaultdict(set)
    for found, count in groups:
        for one in found:
            new, key = change(one), (one.field.number, one.text)
            if one.field.kind.code == STRING:
                counts[key] += count
                changes[key].add(new)
            elif new is not None:
                return None
    for (number, text), becomes in changes.items():
        if becomes == {None}:
            continue
        old_field = _FIELD.pack(STRING, number, len(text)) + text
        if len(becomes) > 1 or not _PLAIN.fullmatch(text) or body.count(old_field) != counts[number, text]:
            return None
        (name,) = (one for one in becomes if one is not None)
        body = body.replace(old_field, _FIELD.pack(STRING, number, len(name)) + name)
    return body


def _name(role: Role, one: FoundText) -> Name:
    return Name(role, _text(one.text), _maybe(one.database), _maybe(one.catalog))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _maybe(value: bytes | None) -> str | None:
    return None if value is None else _text(value)
