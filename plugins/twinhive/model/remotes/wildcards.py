"""Patterns in which `*` stands for any characters, and nothing else for anything but itself; of any case."""

import re


def matches(pattern: str, text: str) -> bool:
    """True for a text that one pattern describes as a whole."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.IGNORECASE | re.DOTALL) is not None


def matches_any(patterns: str, text: str) -> bool:
    """The same for Hive's patterns of names: several, joined by `|`."""
    return any(matches(pattern.strip(), text) for pattern in patterns.split("|"))
