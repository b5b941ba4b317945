"""Show texts that come from outside: a terminal or a log is not to obey what a name holds."""

import re

_OBEYED = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but tab and end of line, marks that turn the order of letters round, and halves of pairs."""


def printable(text: str) -> str:
    r"""Return a text with such characters written out (`\x1b`)."""
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


def printable_json(text: str) -> str:
    r"""Return a JSON document with such characters written as JSON does (`\u009b`): it means the same."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
