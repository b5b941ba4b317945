"""Patterns of LIKE: as SQL has it, and as clients of the metastore write it."""

from twinhive.core.model.remotes.wildcards import MANY, ONE, Part, matched


def like(text: str, pattern: str) -> bool:
    """Match SQL's LIKE: `%` and `_`."""
    special: dict[str, Part] = {"%": MANY, "_": ONE}
    return matched(text, [special.get(one, one) for one in pattern])


def java_like(text: str, pattern: str) -> bool:
    """Match what clients send as LIKE about tables: `.*` is any text and `.` any character."""
    parts: list[Part] = []
    for number, piece in enumerate(pattern.split(".*")):
        parts += [MANY] if number else []
        parts += [ONE if one == "." else one for one in piece]
    return matched(text, parts)
