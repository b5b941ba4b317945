"""Copy files into staging: verified, shareable between attempts, never half visible.

A copy is written under a name of its own, compared with its source and only then renamed to the
name that says what it is. So whatever has that name and the right length was verified before, by
whichever attempt, and is not copied again. Names of event content hold the file's checksum: there the
name alone says it.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from twinhive.core.model.errors import CopyWasSwept, Missing, SourceMoved, TwinhiveError
from twinhive.core.model.files import parent
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.ports import FileReader, FileWriter
from twinhive.transfer.engine.copy_engine import CopyEngine
from twinhive.transfer.engine.copy_retries import Patience, twice
from twinhive.transfer.engine.failure_kind import CopyFailure, FailureKind
from twinhive.transfer.engine.file_parts import SPLIT_ABOVE
from twinhive.transfer.engine.progress import CopyProgress
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.event_source import EventCopier
from twinhive.transfer.staged.listed_source import ListedCopier
from twinhive.transfer.staged.ownership import Ownership
from twinhive.transfer.staged.staged_files import CopyItem
from twinhive.transfer.staged.stager import Stager


def copy_items(
    items: Iterable[CopyItem],
    source: FileReader,
    target: FileWriter,
    staging: str,
    threads: int,
    on_progress: Callable[[str], None] = lambda line: None,
    *,
    superseded_ok: bool = False,
    looks: bool = True,
    bytes_per_second: float | None = None,
    split_above: int = SPLIT_ABOVE,
    ownership: Ownership | None = None,
) -> CopyOutcome:
    """Copy every item into staging unless it is there, largest first; failures are part of the outcome.

    All threads together hold to `bytes_per_second`; a file above `split_above` bytes is copied in parts.
    With `superseded_ok` a listed file that is gone or changed is counted and is no failure: for the
    early rounds of consolidating, where events that are still to be folded in explain it.

    Of an event its directory in staging is listed. Listed files of all tables share directories there: of each of them
    it is asked whether it is staged, unless `looks` is False (`first_try`). With `ownership` copies get the source's.
    """
    ordered = sorted(items, key=lambda item: (-item.length, item.path))
    try:
        staged = _staged_of_events(ordered, target, staging)
    except TwinhiveError as error:
        return CopyOutcome.merged(_failed(item, error) for item in ordered)
    progress = CopyProgress(len(ordered), sum(item.length for item in ordered), on_progress)
    skipped, waiting = [], []
    for item in ordered:
        path = item.staged_path(staging)
        if path in staged:
            skipped.append(_skipped(staged[path]))
            progress.skipped(item.length)
        else:
            staged[path] = item.length  # a file that is listed twice is copied once
            waiting.append(item)
    engine = CopyEngine(source, target, threads, progress.moved, bytes_per_second, split_above)
    stager = Stager(target, engine.transfer, engine.parts, staging, ownership)
    copier = _Copier(source, target, stager, staging, engine.patience, progress, superseded_ok, looks)
    # One small file is copied right here.
    is_small = len(waiting) < 2 and all(item.length <= split_above for item in waiting)
    copied = chain.from_iterable(engine.run(waiting, copier.work, right_here=is_small))
    return CopyOutcome.merged([*skipped, *copied])


def _staged_of_events(items: Iterable[CopyItem], target: FileWriter, staging: str) -> dict[str, int]:
    """Return the lengths of those copies of event content that are in staging."""
    wanted = {item.staged_path(staging) for item in items if item.is_event_content}
    directories = sorted({parent(path) for path in wanted})
    return {
        status.path: status.length
        for _, page in target.list_pages(directories)
        for status in page or ()
        if status.path in wanted and not status.is_directory
    }


class _Copier:
    """Copy items one by one, in several threads."""

    def __init__(
        self,
        source: FileReader,
        target: FileWriter,
        stager: Stager,
        staging: str,
        patience: Patience,
        progress: CopyProgress,
        superseded_ok: bool,
        looks: bool,
    ) -> None:
        self._target = target
        self._staging = staging
        self._listed = ListedCopier(source, stager, staging)
        self._events = EventCopier(source, stager, staging)
        self._patience = patience
        self._progress = progress
        self._superseded_ok = superseded_ok
        self._looks = looks

    def work(self, items: Iterator[CopyItem]) -> list[CopyOutcome]:
        """Copy all items; a failed one does not keep the others from being tried."""
        outcomes = []
        for item in items:
            outcome = self._copy(item)
            outcomes.append(outcome)
            (self._progress.skipped if outcome.skipped_files else self._progress.done)(item.length)
        return outcomes

    def _copy(self, item: CopyItem) -> CopyOutcome:
        try:
            return self._patience.run(lambda: twice(lambda: self._tried(item)))
        except TwinhiveError as error:
            if self._superseded_ok and self._is_superseded(item, error):
                return CopyOutcome(files=1, bytes=item.length, superseded_files=1)
            return _failed(item, error)

    def _tried(self, item: CopyItem) -> CopyOutcome:
        try:
            return self._copy_once(item)
        except TwinhiveError as error:
            raise self._explained(item, error) from error

    def _copy_once(self, item: CopyItem) -> CopyOutcome:
        if self._looks and not item.is_event_content and self._is_staged(item):
            return _skipped(item.length)
        staged = (self._events if item.is_event_content else self._listed).copy(item)
        length = staged.length
        unverified = int(not staged.verified)
        return CopyOutcome(files=1, bytes=length, copied_files=1, copied_bytes=length, unverified=unverified)

    def _is_staged(self, item: CopyItem) -> bool:
        found = self._target.status(item.staged_path(self._staging))
        return found is not None and not found.is_directory and found.length == item.length

    def _explained(self, item: CopyItem, error: TwinhiveError) -> TwinhiveError:
        """Return what something that was missed means: of event content the source was looked at when it failed."""
        if FailureKind.of(error) is not FailureKind.MISSING:
            return error
        try:
            if not item.is_event_content:
                self._listed.check(item)
        except TwinhiveError:
            return error
        return CopyWasSwept(
            f"{item.path}: is there, and its copy in staging is gone, or it was away for a moment",
            found=error.what,
            expected="nobody else who cleans up while this is copied, and no table that is renamed and back",
            next_step=RETRIES,
        )

    def _is_superseded(self, item: CopyItem, error: TwinhiveError) -> bool:
        """True when it was the source that failed, which is looked at again."""
        if item.is_event_content:
            # Whatever took it away comes later in the log; the table's files are listed again.
            return FailureKind.of(error) is FailureKind.LOST
        if FailureKind.of(error) not in (FailureKind.MISSING, FailureKind.CHANGED):
            return False
        try:
            self._listed.check(item)
        except TwinhiveError as found:
            return isinstance(found, Missing | SourceMoved)
        return False


def _skipped(length: int) -> CopyOutcome:
    return CopyOutcome(files=1, bytes=length, skipped_files=1)


def _failed(item: CopyItem, error: TwinhiveError) -> CopyOutcome:
    failure = CopyFailure.of(item.path, error, item.table, item.event_id)
    return CopyOutcome(files=1, bytes=item.length, failures=(failure,))
