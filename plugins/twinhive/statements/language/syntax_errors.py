"""Point at the place of a statement that is wrong."""

import unicodedata

from twinhive.core.model.errors import InvalidSettings

CORRECT_IT = "correct the statement; docs/repl.md has the grammar, with examples"
_SHOWN_BEFORE, _SHOWN = 60, 100
_MARGIN = "  "


class Misplaced(Exception):
    """Something in a statement that is wrong, and where. It does not leave this package.

    position  characters before it
    """

    def __init__(self, position: int, *, found: str, expected: str, next_step: str = CORRECT_IT) -> None:
        super().__init__(found)
        self.position = position
        self.found = found
        self.expected = expected
        self.next_step = next_step


def pointed_at(text: str, wrong: Misplaced) -> InvalidSettings:
    """Return the error that shows the line and, below it, a caret under the place."""
    begin = text.rfind("\n", 0, wrong.position) + 1
    line = text[begin:].partition("\n")[0]
    number, column = text.count("\n", 0, begin) + 1, wrong.position - begin
    # Of a long line, what is around the place.
    first = max(0, column - _SHOWN_BEFORE)
    before, after = _plain(line[first:column]), _plain(line[column : first + _SHOWN])
    return InvalidSettings(
        f"the statement is wrong in line {number}, column {column + 1}\n"
        f"{_MARGIN}{before}{after}\n{_MARGIN}{' ' * _width(before)}^",
        found=wrong.found,
        expected=wrong.expected,
        next_step=wrong.next_step,
    )


def _plain(text: str) -> str:
    """Return text in which every character that is not shown as one is a blank."""
    return "".join(char if char.isprintable() else " " for char in text)


def _width(text: str) -> int:
    """Return the columns of a terminal that a text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
