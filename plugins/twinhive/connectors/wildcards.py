"""Patterns with wildcards, matched in time that grows with text times pattern, whatever the pattern is."""

from collections.abc import Sequence
from typing import Final

MANY: Final = ("many",)
ONE: Final = ("one",)
_Part = str | tuple[str]


def like(text: str, pattern: str) -> bool:
    """Match SQL's LIKE: `%` and `_`."""
    special: dict[str, _Part] = {"%": MANY, "_": ONE}
    return _match(text, [special.get(one, one) for one in pattern])


def hive_pattern(text: str, pattern: str) -> bool:
    """Match a pattern of SHOW TABLES: `*` (or `.*`) is any text, `|` separates alternatives, case does not count."""
    return any(_match(text.lower(), _starred(one.strip().lower())) for one in pattern.split("|"))


def java_like(text: str, pattern: str) -> bool:
    """Match what clients send as LIKE about tables: `.*` is any text and `.` any character."""
    parts: list[_Part] = []
    for number, piece in enumerate(pattern.split(".*")):
        parts += [MANY] if number else []
        parts += [ONE if one == "." else one for one in piece]
    return _match(text, parts)


def _starred(pattern: str) -> list[_Part]:
    return [MANY if one == "*" else one for one in pattern.replace(".*", "*")]


def _match(text: str, parts: Sequence[_Part]) -> bool:
    at = part = 0
    star, resumed = -1, 0
    while at < len(text):
        if part < len(parts) and parts[part] == MANY:
            star, resumed, part = part, at, part + 1
        elif part < len(parts) and parts[part] in (ONE, text[at]):
            at, part = at + 1, part + 1
        elif star >= 0:
            resumed += 1
            at, part = resumed, star + 1
        else:
            return False
    return all(one == MANY for one in parts[part:])
