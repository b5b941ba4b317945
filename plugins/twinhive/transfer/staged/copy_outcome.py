"""What came of copying files: what was copied, and what failed why."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from twinhive.transfer.engine.failure_kind import CopyFailure, FailureKind

_KEPT = 100


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
    more_lost: int = 0
    """How many of these are files that are lost."""

    @property
    def failure_count(self) -> int:
        """Count all failures."""
        return len(self.failures) + self.more_failures

    @property
    def lost_files(self) -> int:
        """Count the failures that are files that are lost."""
        return sum(failure.kind is FailureKind.LOST for failure in self.failures) + self.more_lost

    @property
    def kinds(self) -> frozenset[FailureKind]:
        """Why files were not copied."""
        return frozenset(failure.kind for failure in self.failures)

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
        more_lost = self.more_lost + count[FailureKind.LOST] - sum(one.kind is FailureKind.LOST for one in kept)
        return replace(self, failures=tuple(kept), more_failures=self.failure_count - len(kept), more_lost=more_lost)

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
            more_lost=sum(part.more_lost for part in outcomes),
        )
