"""Why a file is not copied, what cures it, and the exit code that says so: for copies of listed files and of trees."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, StrEnum

from twinhive.core.model.errors import (
    CopyDiffers,
    CopyWasSwept,
    LostFile,
    Missing,
    SourceGone,
    SourceMoved,
    TryAgain,
    TwinhiveError,
    Unexplained,
)
from twinhive.core.model.exit_codes import ExitCode


class Cure(Enum):
    """What makes a copy succeed that has failed."""

    REPEAT = "the same copy, later"
    LIST = "a new listing of the source: a tree is listed by each run, a batch by the next round or by a person's clear"
    PERSON = "a person"


class FailureKind(StrEnum):
    """Why a file was not copied."""

    CHANGED = "changed"
    """The source is not the file that was listed: a new listing is needed."""
    GONE = "gone"
    """The source does not have the file any more that was listed."""
    MISSING = "missing"
    """The source is gone."""
    SWEPT = "swept"
    """The source is there; the copy, or the directory for it, is gone from staging: another run has cleaned up."""
    LOST = "lost"
    """No place holds the content that an event named: a person's turn, or quarantine of the table."""
    REFUSED = "refused"
    """A server refused for good: permission, quota, something in the way."""
    DIFFERS = "differs"
    """The copy was not equal to its source, twice."""
    UNREACHABLE = "unreachable"
    """A server did not answer, or is in safe mode."""
    UNEXPLAINED = "unexplained"
    """A server gave an answer that nobody knows."""

    @property
    def cure(self) -> Cure:
        """What makes the copy of such a file succeed."""
        return _CURES[self]

    @property
    def may_retry(self) -> bool:
        """True when the same copy may succeed later without anybody's help."""
        return self.cure is Cure.REPEAT

    @classmethod
    def of(cls, error: TwinhiveError) -> "FailureKind":
        """Return the kind of an error."""
        return _KINDS.get(type(error), cls.UNREACHABLE if isinstance(error, TryAgain) else cls.REFUSED)


_CURES = {
    FailureKind.CHANGED: Cure.LIST,
    FailureKind.GONE: Cure.LIST,
    FailureKind.MISSING: Cure.LIST,
    FailureKind.SWEPT: Cure.REPEAT,
    FailureKind.LOST: Cure.PERSON,
    FailureKind.REFUSED: Cure.PERSON,
    FailureKind.DIFFERS: Cure.REPEAT,
    FailureKind.UNREACHABLE: Cure.REPEAT,
    FailureKind.UNEXPLAINED: Cure.REPEAT,
}
_KINDS = {
    SourceMoved: FailureKind.CHANGED,
    SourceGone: FailureKind.GONE,
    Missing: FailureKind.MISSING,
    LostFile: FailureKind.LOST,
    CopyWasSwept: FailureKind.SWEPT,
    CopyDiffers: FailureKind.DIFFERS,
    Unexplained: FailureKind.UNEXPLAINED,
}


@dataclass(frozen=True)
class CopyFailure:
    """One file that was not copied, why, and whose it is; `event_id` is 0 for a listed file."""

    path: str
    reason: str
    kind: FailureKind
    table: str = ""
    event_id: int = 0

    @classmethod
    def of(cls, path: str, error: TwinhiveError, table: str = "", event_id: int = 0) -> "CopyFailure":
        """Return the failure that an error means."""
        return cls(path, str(error), FailureKind.of(error), table, event_id)


def exit_code(kinds: Collection[FailureKind], *, lists_again: bool) -> ExitCode:
    """Return what failures mean: a person's turn comes before a repetition's.

    `lists_again` is true for a copy that lists its source anew when it is run again.
    """
    if not kinds:
        return ExitCode.DONE
    cures = {Cure.REPEAT, Cure.LIST} if lists_again else {Cure.REPEAT}
    return ExitCode.TRY_AGAIN if {kind.cure for kind in kinds} <= cures else ExitCode.ACT_NOW
