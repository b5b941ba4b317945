"""Say in words and tables what a copy is going to do, and what came of it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from twinhive.core.model.human_readable import readable
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.tree.file_actions import Compared
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_outcome import SyncOutcome

_FIRST_PATHS = 3
_PRINTED_FAILURES = 5


@dataclass
class PlanRow:
    """What a plan holds of one kind: how much, and the first paths."""

    what: str
    tally: Tally = field(default_factory=Tally)
    paths: list[str] = field(default_factory=list)

    def add(self, path: str, length: int = 0, *, is_directory: bool = False) -> None:
        """Count one path."""
        self.tally.add(length, is_directory=is_directory)
        if len(self.paths) < _FIRST_PATHS:
            self.paths.append(path)

    def merge(self, other: "PlanRow") -> None:
        """Add what another thread has counted."""
        self.tally += other.tally
        self.paths = [*self.paths, *other.paths][:_FIRST_PATHS]

    def cells(self) -> tuple[str, str, str, str]:
        """Return the row as text: kind, files and directories, bytes, first paths."""
        more = self.tally.files + self.tally.directories - len(self.paths)
        return self.what, _counted(self.tally), readable(self.tally.bytes), _listed(self.paths, more)


def outcome_text(outcome: SyncOutcome) -> str:
    """Return the last lines of a copy's log."""
    return "\n".join(_outcome_lines(outcome))


def compared_by(compared: Counter[Compared]) -> str:
    """Say by what files were found equal."""
    says = {
        Compared.CHECKSUM: "by checksum",
        Compared.TIME: "by length and time, for want of a comparable checksum",
        Compared.LENGTH: "by length alone, for want of a comparable checksum",
        Compared.BEFORE: "earlier",
    }
    found = [f"{compared[kind]:,} {text}" for kind, text in says.items() if compared[kind]]
    return ", ".join(found) or "no file had to be compared"


def _outcome_lines(outcome: SyncOutcome) -> Iterator[str]:
    yield f"copied    {_with_bytes(outcome.copied)}"
    yield f"skipped   {_with_bytes(outcome.skipped)}, equal" + _attributes(outcome)
    yield f"deleted   {_with_bytes(outcome.deleted)}"
    yield f"failed    {_with_bytes(outcome.failed)}"
    if outcome.unreadable != Tally():
        yield f"left out  {_with_bytes(outcome.unreadable)}, which the source does not let us read"
    yield from _vanished(outcome)
    if outcome.excluded:
        yield f"excluded  {outcome.excluded:,} {_word(outcome.excluded, 'path', 'paths')}, by the filters"
    yield f"compared  {compared_by(outcome.compared)}"
    for note in (outcome.not_deleted, outcome.snapshots):
        if note:
            yield note
    yield f"{outcome.seconds:.1f} s"
    for failure in outcome.failures[:_PRINTED_FAILURES]:
        yield f"  {failure.kind}: {failure.path}: {failure.reason}"
    more = sum(outcome.kinds.values()) + outcome.unreadable.files + outcome.unreadable.directories - _PRINTED_FAILURES
    if more > 0:
        yield f"  and {more:,} more"


def _vanished(outcome: SyncOutcome) -> Iterator[str]:
    if outcome.vanished != Tally():
        yield f"vanished  {_with_bytes(outcome.vanished)}, which the source had when it was listed"
    if gone := outcome.kinds[FailureKind.GONE]:
        yield f"vanished  {gone:,} of the failed {_word(gone, 'file', 'files')}: a new run does not find them"


def _attributes(outcome: SyncOutcome) -> str:
    changed = outcome.attributes
    paths = changed.files + changed.directories
    return f"; {paths:,} of them got attributes" if paths else ""


def _with_bytes(tally: Tally) -> str:
    return f"{_counted(tally)}, {readable(tally.bytes)}"


def _counted(tally: Tally) -> str:
    directories = f", {tally.directories:,} {_word(tally.directories, 'directory', 'directories')}"
    return f"{tally.files:,} {_word(tally.files, 'file', 'files')}{directories if tally.directories else ''}"


def _word(number: int, one: str, many: str) -> str:
    return one if number == 1 else many


def _listed(paths: list[str], more: int) -> str:
    return ", ".join([*paths, f"and {more:,} more"] if paths and more > 0 else paths)
