"""The names in a message, and the same message with other names.

A name is replaced where the table of methods says that one stands: a comment, a parameter, a value of a partition, a
column with the same text stay as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct as Packing
from typing import Final, assert_never

from twinhive.wire.message import MessageKind, WireError, WireMessage
from twinhive.wire.renames import Renames
from twinhive.wire.roles import Role
from twinhive.wire.table import METHODS, Struct
from twinhive.wire.walking import FoundText, found_in

_INT: Final = Packing("!i")
NAMES: Final = frozenset(Role) - {Role.LOCATION, Role.VIEW_TEXT}
"""What a client names things by."""


@dataclass(frozen=True, slots=True)
class Name:
    """One name in a message, as the client wrote it; of a table the database beside it, and the catalog beside that."""

    role: Role
    text: str
    database: str | None = None
    catalog: str | None = None


def names_of(message: WireMessage, roles: frozenset[Role] = NAMES) -> tuple[Name, ...]:
    """List the names in a call or a reply, each once. Raises WireError for a method or bytes that are not known."""
    found = found_in(message.raw, message.at, struct_of(message), roles)
    names = (Name(one.role, _text(one.text), _maybe(one.database), _maybe(one.catalog)) for one in found)
    return tuple(dict.fromkeys(names))


def renamed(message: WireMessage, renames: Renames) -> WireMessage:
    """Return the message with other names. Raises WireError."""
    return message if renames.nothing else rewritten(message, renames.change, NAMES)


def rewritten(message: WireMessage, change: Callable[[FoundText], bytes | None], roles: frozenset[Role]) -> WireMessage:
    """Return the message with each text of `roles` replaced by what `change` returns for it; None keeps it."""
    parts, last = [], 0
    for one in found_in(message.raw, message.at, struct_of(message), roles):
        if (new := change(one)) is not None:
            parts += [message.raw[last : one.at], _INT.pack(len(new)), new]
            last = one.at + 4 + len(one.text)
    return message if not last else WireMessage(message.head, b"".join([*parts, message.raw[last:]]), message.at)


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
            return Struct("TApplicationException", ())
        case _:
            assert_never(message.head.kind)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _maybe(value: bytes | None) -> str | None:
    return None if value is None else _text(value)
