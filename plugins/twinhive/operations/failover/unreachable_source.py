"""Know what an operation has left undone because a cluster that may be gone for good does not answer."""

from dataclasses import dataclass

from twinhive.core.model.errors import SafeMode, Unreachable

SILENT = (Unreachable, SafeMode)
"""What a cluster says that cannot be asked now, and maybe never again."""


@dataclass(frozen=True)
class Left:
    """What was done, in words.

    is_all       False where a silent source was to be asked
    keeps_note   a fence may stand, and its note says what was there before
    """

    lines: tuple[str, ...] = ()
    is_all: bool = True
    keeps_note: bool = False

    def and_then(self, other: "Left") -> "Left":
        """Return both together."""
        return Left(self.lines + other.lines, self.is_all and other.is_all, self.keeps_note or other.keeps_note)
