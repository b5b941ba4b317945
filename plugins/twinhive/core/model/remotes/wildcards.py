"""Patterns with wildcards, matched in time that grows with text times pattern, whatever the pattern is."""

from collections.abc import Sequence
from typing import Final

MANY: Final = ("many",)
"""Any text."""
ONE: Final = ("one",)
"""Any character."""
Part = str | tuple[str]


def matches(pattern: str, text: str) -> bool:
    """True for a text that a pattern describes as a whole: `*` is any text, all else stands for itself, of any case."""
    return matched(text.lower(), [MANY if one == "*" else one for one in pattern.lower()])


def hive_pattern(patterns: str, name: str) -> bool:
    """Match a name as Hive 4.1 does in SHOW TABLES and its like.

    `*` is any text, `.` any character, `|` separates alternatives; case does not count, nor do blanks around all of it.
    """
    return any(matched(name.lower(), _parts(one)) for one in patterns.strip().lower().split("|"))


def _parts(pattern: str) -> list[Part]:
    special: dict[str, Part] = {"*": MANY, ".": ONE}
    return [special.get(one, one) for one in pattern.replace(".*", "*")]


def matched(text: str, parts: Sequence[Part]) -> bool:
    """True for a text that is these parts one after the other."""
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
