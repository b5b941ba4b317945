"""Check the regular expressions of a scope before anything runs; Hive's error for a wrong one is 40005."""

import re

from twinhive.statements.language.string_literals import lost_backslash, unquoted
from twinhive.statements.language.syntax_errors import Misplaced

# Java reads a class inside a class as a union and && as an intersection; Python warns that it may read them so, too.
_SET_IN_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^]\\[&|~-]|([&|~-])(?!\1))*(?P<set>\[|&&|\|\||~~|--)?", re.DOTALL)
_A_PATTERN = "a regular expression for whole names of tables, in any case"


def pattern_of(literal: str, position: int) -> str:
    """Return the pattern of a text in quotes; `position` is where it stands. Raises Misplaced for one that is wrong."""
    lost = lost_backslash(literal)
    if lost is not None:
        escape = literal[lost : lost + 2]
        raise Misplaced(
            position + lost,
            found=f"{escape} in a pattern: the quotes take this backslash away",
            expected=f"\\{escape} for the regular expression {escape}",
            next_step="write a backslash of a regular expression twice",
        )
    pattern = unquoted(literal, position)
    if not pattern:
        raise Misplaced(
            position,
            found="an empty pattern",
            expected=_A_PATTERN,
            next_step="leave it out; '.*' selects every table, [] none",
        )
    problem = _problem(pattern)
    if problem:
        raise Misplaced(position, found=f"{pattern}: {problem}", expected=_A_PATTERN)
    return pattern


def _problem(pattern: str) -> str | None:
    if found := next(filter(None, (match["set"] for match in _SET_IN_CLASS.finditer(pattern))), None):
        return f"{found} inside a character class does not mean the same to Hive as here"
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return None
