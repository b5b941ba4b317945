r"""Read texts in quotes, with Hive's backslash escapes (`BaseSemanticAnalyzer.unescapeSQLString`).

\\ \' \"           the character itself
\0 \b \n \r \t \Z  control characters; \Z is U+001A
\001 .. \177       a character by three octal digits
\u00e9             a character by four hexadecimal digits; two of them for one above U+FFFF
\% \_              both characters, backslash included
\x                 any other character: without the backslash
"""

import re
from collections.abc import Mapping

from twinhive.statements.language.syntax_errors import Misplaced

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([01][0-7]{2})|(.))", re.DOTALL)
_SPECIAL: Mapping[str, str] = {
    **{"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"},
    **{"%": "\\%", "_": "\\_"},
}
# What a regular expression can hold: a backslash that is one, a quote, or a character by its number.
_KEPT = "\\'\"%_"


def unquoted(literal: str, position: int) -> str:
    r"""Return what a text in quotes says; `position` is where it stands. Raises Misplaced for a wrong `\u`."""
    escapes = list(_ESCAPE.finditer(literal, 1, len(literal) - 1))
    for escape in escapes:
        if escape[3] == "u":
            raise Misplaced(
                position + escape.start(), found=r"\u without a number", expected=r"four hexadecimal digits after \u"
            )
    said = _ESCAPE.sub(_meaning, literal[1:-1])
    try:
        return said.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise Misplaced(
            position,
            found="half of a character above U+FFFF (a surrogate)",
            expected=r"both halves, one after the other, or the character itself",
        ) from None


def lost_backslash(literal: str) -> int | None:
    r"""Return where a backslash stands that Hive takes away or turns into a control character: `\d` becomes `d`."""
    for escape in _ESCAPE.finditer(literal, 1, len(literal) - 1):
        if escape[3] and escape[3] not in _KEPT:
            return escape.start()
    return None


def _meaning(escape: re.Match[str]) -> str:
    hexadecimal, octal, char = escape.groups()
    if char is None:
        return chr(int(hexadecimal, 16) if hexadecimal else int(octal, 8))
    return _SPECIAL.get(char, char)
