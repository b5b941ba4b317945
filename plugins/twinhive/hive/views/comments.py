"""Comments of SQL, and those that do not end at the same place for Hive and for Spark."""

import re
from typing import Final

COMMENT: Final = re.compile(
    r"""(?P<said>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?P<line>--[^\n]*)|/\*(?P<hint>\+)?(?P<inner>.*?)\*/""",
    re.DOTALL,
)
"""A text or a name in quotes, which may hold what looks like a comment (`said`), or a comment; a hint is one."""
_GOES_ON: Final = re.compile(r"\\\r?$|\r.")
"""In a comment of a line: behind a backslash Spark goes on with it, Hive does not; behind a carriage return neither."""


def unclear_comment(text: str) -> str:
    """Say why nobody can tell what is a comment of a text, '' where one can."""
    for found in COMMENT.finditer(text):
        if "/*" in (found["inner"] or ""):
            return "a comment in a comment, which ends sooner for Hive than for Spark"
        if _GOES_ON.search(found["line"] or ""):
            return "a comment that ends elsewhere for Hive than for Spark"
    return ""
