"""Cut a text into its statements."""

import re
from dataclasses import dataclass

_PIECE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|[^;]", re.DOTALL)
_COMMENT = re.compile(r"--[^\n]*")


@dataclass(frozen=True)
class Cut:
    """A statement, and where it stands in its text."""

    begin: int
    end: int
    text: str

    @property
    def bare(self) -> str:
        """The statement without comments. One in quotes is taken for one, too: look at first words only."""
        return _COMMENT.sub("", self.text).strip()


def cut(script: str) -> list[Cut]:
    """Cut at the semicolons outside of quotes and comments; what holds comments only is left out."""
    parts, last, at = [], 0, 0
    while at < len(script):
        if script[at] == ";":
            parts.append((last, at))
            last = at = at + 1
            continue
        piece = _PIECE.match(script, at)
        at = piece.end() if piece else at + 1
    parts.append((last, len(script)))
    cuts = (Cut(begin, end, script[begin:end].strip()) for begin, end in parts)
    return [one for one in cuts if one.bare]
