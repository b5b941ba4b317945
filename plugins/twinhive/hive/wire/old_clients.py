"""Calls that Hive 4.1 has removed and that clients of before still send: as the calls that took their place, in bytes.

Of a call the arguments become the one struct of the new request, whose first fields have the same numbers; of the
answer the one field that the new answer wraps is taken out. Indexes went with Hive 3: a table that is there has none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import Struct as Packing
from typing import Final

from twinhive.hive.wire.method_table import LIST, METHODS, STRING, STRUCT
from twinhive.hive.wire.name_forms import DatabaseText
from twinhive.hive.wire.thrift_message import (
    INTERNAL_ERROR,
    STOP,
    Head,
    MessageKind,
    WireMessage,
    application_error,
    call,
    message_with,
    reply,
    struct_field,
    text_field,
)
from twinhive.hive.wire.thrift_skip import end_of_value

_CATALOG: Final = 4
"""Number of the catalog in the requests for tables."""
_LIST: Final = Packing("!bhbi").pack
_TEXT_BEGINS: Final = 7
"""Behind the type, the number and the length of a field."""


@dataclass(frozen=True)
class _Replacement:
    """The new method, and what becomes of its answer.

    always      what is returned instead of what the new method returns
    exceptions  numbers of the exceptions that the old method declares, where they are others
    declares    whether it declares any for all clients: else Thrift's own exception has the text
    """

    method: str
    always: bytes | None = None
    exceptions: Mapping[str, int] = field(default_factory=dict)
    declares: bool = True


_REPLACED: Final = {
    "get_table": _Replacement("get_table_req"),
    "get_table_objects_by_name": _Replacement("get_table_objects_by_name_req", declares=False),
    "create_dataconnector": _Replacement("create_dataconnector_req"),
    "alter_dataconnector": _Replacement("alter_dataconnector_req"),
    "drop_dataconnector": _Replacement("drop_dataconnector_req"),
    "get_indexes": _Replacement(
        "get_table_req", _LIST(LIST, 0, STRUCT, 0), {"NoSuchObjectException": 1, "MetaException": 2}
    ),
    "get_index_names": _Replacement("get_table_req", _LIST(LIST, 0, STRING, 0), {"MetaException": 1}),
}
OLD_METHODS: Final = frozenset(_REPLACED)
"""Methods that the table does not have and that are served all the same."""


@dataclass(frozen=True, slots=True)
class OldCall:
    """A call of an old client, and the call to make instead."""

    asked: WireMessage
    instead: WireMessage

    def answer(self, received: WireMessage) -> WireMessage:
        """Return the answer to the old call from that to the new one. Raises WireError."""
        method, sequence, raw = self.asked.head.method, self.asked.head.sequence, received.raw
        if received.head.kind is not MessageKind.REPLY:
            return message_with(Head(received.head.kind, method, sequence), received.body)
        how, at = _REPLACED[method], received.at
        if raw[at] != STRUCT:
            return reply(method, sequence, received.body)
        number = int.from_bytes(raw[at + 1 : at + 3])
        if number == 0:
            only = _only_field(raw, at + 3) if how.always is None else how.always
            return reply(method, sequence, only + STOP)
        kind = METHODS[how.method].exceptions.get(number, "")
        if not how.declares:
            text = _only_field(raw, at + 3)[_TEXT_BEGINS:].decode("utf-8", "surrogateescape")
            return application_error(method, sequence, f"{kind}: {text}", INTERNAL_ERROR)
        declared = how.exceptions.get(kind, how.exceptions.get("MetaException", number))
        return reply(method, sequence, struct_field(declared, raw[at + 3 :]))


def old_call(message: WireMessage) -> OldCall | None:
    """Return what to call instead of a method that was removed; None for every other method."""
    if (how := _REPLACED.get(message.head.method)) is None:
        return None
    body = _with_catalog(message.body)
    return OldCall(message, call(how.method, message.head.sequence, struct_field(1, body) + STOP))


def _with_catalog(body: bytes) -> bytes:
    """Put the catalog of a database (`@hive#sales`) where the new requests have it: they take the name as it stands."""
    if body[:3] != bytes((STRING, 0, 1)):
        return body
    end = end_of_value(body, STRING, 3)
    form = DatabaseText.parse(body[7:end].decode("utf-8", "surrogateescape"))
    if not form.catalog or not form.database:
        return body
    return text_field(1, form.database) + body[end : -len(STOP)] + text_field(_CATALOG, form.catalog) + STOP


def _only_field(raw: bytes, at: int) -> bytes:
    """Return field 1 of the struct that begins at `at` as field 0; nothing when it is not set."""
    while code := raw[at]:
        end = end_of_value(raw, code, at + 3)
        if raw[at + 1 : at + 3] == b"\0\1":
            return bytes((code, 0, 0)) + raw[at + 3 : end]
        at = end
    return b""
