"""What came of a copy, and of the actions that one process of it carried out."""

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from twinhive.core.model.exit_codes import ExitCode
from twinhive.transfer.engine.failure_kind import CopyFailure, FailureKind, exit_code
from twinhive.transfer.tree.failures import Failures
from twinhive.transfer.tree.file_actions import Compared, Done, Result
from twinhive.transfer.tree.tally import Tally


@dataclass
class ExecOutcome:
    """What came of the actions of a plan, or of some of them; it can be pickled and merged.

    copied      files that were copied, whole or their new bytes; directories that were made
    skipped     files that were found equal when their contents were compared
    attributes  files and directories whose contents were equal, but not what is preserved besides
    compared    by what how many files were found equal to their originals
    verified    digests (`verified.pair_digest`) of the files that are known to be equal now
    """

    copied: Tally = field(default_factory=Tally)
    skipped: Tally = field(default_factory=Tally)
    attributes: Tally = field(default_factory=Tally)
    compared: Counter[Compared] = field(default_factory=Counter)
    failures: Failures = field(default_factory=Failures)
    verified: "array[int]" = field(default_factory=lambda: array("Q"))

    def count(self, done: Done) -> None:
        """Count a file's action."""
        tally = {Result.COPIED: self.copied, Result.SKIPPED: self.skipped, Result.ATTRIBUTES: self.attributes}
        tally[done.result].add(done.length)
        self.compared[done.compared] += 1
        if done.digest:
            self.verified.append(done.digest)

    def merge(self, other: "ExecOutcome") -> None:
        """Add what another thread, or another task, has done."""
        self.copied += other.copied
        self.skipped += other.skipped
        self.attributes += other.attributes
        self.compared.update(other.compared)
        self.failures.merge(other.failures)
        self.verified.extend(other.verified)

    @classmethod
    def merged(cls, parts: Iterable["ExecOutcome"]) -> "ExecOutcome":
        """Return the sum of outcomes."""
        total = cls()
        for part in parts:
            total.merge(part)
        return total


@dataclass
class SyncOutcome:
    """What came of a whole copy. Every path that the source had is in one of the counters; bytes are those of files.

    copied       copied files, whole or their new bytes; new directories
    skipped      what was found equal, whether it had to be compared now or not
    attributes   how many of the equal ones have got other attributes
    deleted      what was taken away at the target, with all below it
    failed       what could not be done; `unreadable` is what was left out because the source does not let us read it
    vanished     what a busy source did not have any more when it was to be copied: it was found, and is no failure
    excluded     paths that the filters leave out
    compared     by what how many files were found equal to their originals in this run
    not_deleted  why nothing was deleted although it was asked for, '' otherwise
    snapshots    what came of the request to copy with snapshots, '' without it
    """

    copied: Tally = field(default_factory=Tally)
    skipped: Tally = field(default_factory=Tally)
    attributes: Tally = field(default_factory=Tally)
    deleted: Tally = field(default_factory=Tally)
    failed: Tally = field(default_factory=Tally)
    unreadable: Tally = field(default_factory=Tally)
    vanished: Tally = field(default_factory=Tally)
    excluded: int = 0
    compared: Counter[Compared] = field(default_factory=Counter)
    failures: list[CopyFailure] = field(default_factory=list)
    kinds: Counter[FailureKind] = field(default_factory=Counter)
    not_deleted: str = ""
    snapshots: str = ""
    seconds: float = 0.0

    def followed_by(self, later: "SyncOutcome") -> "SyncOutcome":
        """Return what this copy and a later one of the same trees have done together; the later one knows the rest."""
        return replace(
            later,
            copied=self.copied.plus(later.copied),
            deleted=self.deleted.plus(later.deleted),
            attributes=self.attributes.plus(later.attributes),
            compared=self.compared + later.compared,
            seconds=self.seconds + later.seconds,
        )

    @property
    def exit_code(self) -> ExitCode:
        """Say what the failures mean; what was to be left out when it is unreadable is none."""
        return exit_code(self.kinds.keys(), lists_again=True)
