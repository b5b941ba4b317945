"""Say what came of copying files: what was copied, and what failed why."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from twinhive.model.errors import (
    CopyDiffers,
    CopyWasSwept,
    Missing,
    SourceGone,
    SourceMoved,
    TryAgain,
    TwinhiveError,
    Unexplained,
)
from twinhive.transfer.staged.event_source import LostFile

_KEPT = 100


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
    def may_retry(self) -> bool:
        """True when the same copy may succeed later without anybody's help."""
        return self in (
            FailureKind.SWEPT,
            FailureKind.DIFFERS,
            FailureKind.UNREACHABLE,
            FailureKind.UNEXPLAINED,
        )

    @classmethod
    def of(cls, error: TwinhiveError) -> "FailureKind":
        """Return the kind of an error."""
        kinds = {
            SourceMoved: cls.CHANGED,
            SourceGone: cls.GONE,
            Missing: cls.MISSING,
            LostFile: cls.LOST,
            CopyWasSwept: cls.SWEPT,
            CopyDiffers: cls.DIFFERS,
            Unexplained: cls.UNEXPLAINED,
        }
        return kinds.get(type(error), cls.UNREACHABLE if isinstance(error, TryAgain) else cls.REFUSED)


@dataclass(frozen=True)
class CopyFailure:
    """One file that was not copied, why, and whose it is; `event_id` is 0 for a listed file."""

    path: str
    reason: str
    kind: FailureKind
    table: str = ""
    event_id: int = 0


@dataclass(frozen=True)
class CopyOutcome:
    """What came of all items: `files` = copied + skipped + superseded + failures.

    `unverified` were compared by length only; `superseded` ones are not any more what was listed, and may be so.
    """

    files: int = 0
    bytes: int = 0
    copied_files: int = 0
    copied_bytes: int = 0
    skipped_files: int = 0
    superseded_files: int = 0
    unverified: int = 0
    failures: tuple[CopyFailure, ...] = ()
    more_failures: int = 0
    """Failures that were counted and dropped (`thinned`)."""

    @property
    def failure_count(self) -> int:
        """Count all failures."""
        return len(self.failures) + self.more_failures

    def thinned(self) -> "CopyOutcome":
        """Return the same with a bounded number of failures: some of each kind, and every lost table and event."""
        kept: list[CopyFailure] = []
        count: Counter[FailureKind] = Counter()
        lost: set[tuple[str, int]] = set()
        for failure in self.failures:
            is_lost = failure.kind is FailureKind.LOST
            if count[failure.kind] < _KEPT or (is_lost and (failure.table, failure.event_id) not in lost):
                kept.append(failure)
            count[failure.kind] += 1
            if is_lost:
                lost.add((failure.table, failure.event_id))
        return replace(self, failures=tuple(kept), more_failures=self.failure_count - len(kept))

    @classmethod
    def merged(cls, parts: Iterable["CopyOutcome"]) -> "CopyOutcome":
        """Add outcomes up."""
        outcomes = list(parts)
        return cls(
            files=sum(part.files for part in outcomes),
            bytes=sum(part.bytes for part in outcomes),
            copied_files=sum(part.copied_files for part in outcomes),
            copied_bytes=sum(part.copied_bytes for part in outcomes),
            skipped_files=sum(part.skipped_files for part in outcomes),
            superseded_files=sum(part.superseded_files for part in outcomes),
            unverified=sum(part.unverified for part in outcomes),
            failures=tuple(failure for part in outcomes for failure in part.failures),
            more_failures=sum(part.more_failures for part in outcomes),
        )
