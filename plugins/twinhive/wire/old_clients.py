"""Calls that Hive 4.1 has removed and that clients of before still send: as the calls that took their place, in bytes.

Of a call the arguments become the one struct of the new request, whose first fields have the same numbers; of the
answer the one field that the new answer wraps is taken out. Exceptions have the same numbers in both.
"""

from dataclasses import dataclass
from typing import Final

from twinhive.wire.ends import end_of_value
from twinhive.wire.message import STOP, WireMessage, call, reply, struct_field
from twinhive.wire.table import STRUCT

_WRAPPED: Final = {"get_table": "get_table_req", "get_table_objects_by_name": "get_table_objects_by_name_req"}
OLD_METHODS: Final = frozenset(_WRAPPED)
"""Methods that the table does not have and that are served all the same."""


@dataclass(frozen=True, slots=True)
class OldCall:
    """A call of an old client, and the call to make instead."""

    asked: WireMessage
    instead: WireMessage

    def answer(self, received: WireMessage) -> WireMessage:
        """Return the answer to the old call from that to the new one. Raises WireError."""
        head, raw = self.asked.head, received.raw
        if raw[received.at : received.at + 3] != bytes((STRUCT, 0, 0)):
            return reply(head.method, head.sequence, received.body)
        at = received.at + 3
        while code := raw[at]:
            end = end_of_value(raw, code, at + 3)
            if raw[at + 1 : at + 3] == b"\0\1":
                return reply(head.method, head.sequence, bytes((code, 0, 0)) + raw[at + 3 : end] + STOP)
            at = end
        return reply(head.method, head.sequence)


def old_call(message: WireMessage) -> OldCall | None:
    """Return what to call instead of a method that was removed; None for every other method."""
    if (method := _WRAPPED.get(message.head.method)) is None:
        return None
    return OldCall(message, call(method, message.head.sequence, struct_field(1, message.body) + STOP))
