"""LIKE in filters of partitions as clients of before write it: `day like "2026.*"`.

Hive 4.1 compares in SQL, takes `.*` for two characters, and returns no partition: rows would be lost without an error.
Each such test becomes one of both ways of writing it, so that every version of the metastore finds what is meant.
"""

import re
from typing import Final

from twinhive.hive.wire.method_table import STRING
from twinhive.hive.wire.thrift_message import MessageKind, WireMessage, message_with, text_field
from twinhive.hive.wire.thrift_skip import end_of_value

_METHODS: Final = frozenset({"get_partitions_by_filter", "get_num_partitions_by_filter", "get_part_specs_by_filter"})
_FILTER: Final = 3
_SKIPPED: Final = r"'(?:[^'\\]|\\(?:.|\Z))*(?:'|\Z)" + "|" + r"\"(?:[^\"\\]|\\(?:.|\Z))*(?:\"|\Z)"
_LITERAL: Final = r"'(?:[^'\\]|\\.)*'" + "|" + r"\"(?:[^\"\\]|\\.)*\""
_TESTED: Final = re.compile(
    rf"(?:{_SKIPPED})|(?<!\w)(?P<key>\w+)\s+like\s+(?P<literal>{_LITERAL})", re.IGNORECASE | re.DOTALL
)
"""A text is passed over, to the end where it has none: time grows with the filter's length, whatever it is."""


def with_sql_wildcards(message: WireMessage) -> WireMessage:
    """Return a call whose filter finds what old clients mean by LIKE; any other call as it is."""
    if message.head.method not in _METHODS or message.head.kind is not MessageKind.CALL or b".*" not in message.raw:
        return message
    raw, at = message.raw, message.at
    while code := raw[at]:
        end = end_of_value(raw, code, at + 3)
        if code == STRING and int.from_bytes(raw[at + 1 : at + 3]) == _FILTER:
            text = raw[at + 7 : end].decode("utf-8", "surrogateescape")
            field = text_field(_FILTER, _TESTED.sub(_both_ways, text))
            return message_with(message.head, raw[message.at : at] + field + raw[end:])
        at = end
    return message


def _both_ways(test: "re.Match[str]") -> str:
    literal = test["literal"]
    if literal is None or ".*" not in literal:
        return test[0]
    return f"({test[0]} or {test['key']} like {literal.replace('.*', '%')})"
