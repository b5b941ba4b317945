"""Copy files into staging: verified, shareable between attempts, never half visible.

A copy is written under a name of its own, compared with its source and only then renamed to the
name that says what it is. So whatever has that name and the right length was verified before, by
whichever attempt, and is not copied again. Names of event content hold the file's checksum: there the
name alone says it.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from twinhive.copying.event_source import EventCopier, LostFile
from twinhive.copying.progress import Progress
from twinhive.copying.staged import CopyItem
from twinhive.copying.stager import Staged, Stager
from twinhive.domain.errors import CopyDiffers, Missing, SourceMoved, TryAgain, TwinhiveError, Unreachable
from twinhive.domain.files import FileStatus, parent
from twinhive.ports import FileReader, FileWriter

_ATTEMPTS = 2
# So many files in a row that failed for want of an answer mean that a cluster is down: waiting for
# the time-outs of a hundred thousand more would only tell the same.
_GIVE_UP_AFTER = 50


class FailureKind(StrEnum):
    """Why a file was not copied."""

    CHANGED = "changed"
    """The source is not the file that was listed: a new listing is needed."""
    MISSING = "missing"
    """The source, or a directory of the staging area, is gone."""
    LOST = "lost"
    """No place holds the content that an event named: a person's turn, or quarantine of the table."""
    REFUSED = "refused"
    """A server refused for good: permission, quota, something in the way."""
    DIFFERS = "differs"
    """The copy was not equal to its source, twice."""
    UNREACHABLE = "unreachable"
    """A server did not answer, or is in safe mode."""

    @property
    def may_retry(self) -> bool:
        """True when the same copy may succeed later without anybody's help."""
        return self in (FailureKind.DIFFERS, FailureKind.UNREACHABLE)

    @classmethod
    def of(cls, error: TwinhiveError) -> "FailureKind":
        """Return the kind of an error."""
        kinds = {SourceMoved: cls.CHANGED, Missing: cls.MISSING, LostFile: cls.LOST, CopyDiffers: cls.DIFFERS}
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
        )


def copy_items(
    items: Iterable[CopyItem],
    source: FileReader,
    target: FileWriter,
    staging: str,
    threads: int,
    on_progress: Callable[[str], None] = lambda line: None,
    *,
    superseded_ok: bool = False,
) -> CopyOutcome:
    """Copy every item into staging unless it is there, largest first; failures are part of the outcome.

    With `superseded_ok` a listed file that is gone or changed is counted and is no failure: for the
    early rounds of consolidating, where events that are still to be folded in explain it.
    """
    ordered = sorted(items, key=lambda item: (-item.length, item.source_path))
    try:
        staged = _staged_lengths(ordered, target, staging)
    except TwinhiveError as error:
        return CopyOutcome.merged(_failed(item, error) for item in ordered)
    progress = Progress(len(ordered), sum(item.length for item in ordered), on_progress)
    skipped, waiting = [], []
    for item in ordered:
        path = item.staged_path(staging)
        length = staged.get(path)
        if length is not None and (item.is_event_content or length == item.length):
            skipped.append(CopyOutcome(files=1, bytes=length, skipped_files=1))
            progress.done(item.length)
        else:
            staged[path] = item.length  # a file that is listed twice is copied once
            waiting.append(item)
    copied = _Copier(source, target, staging, progress, superseded_ok).copy_all(waiting, threads)
    return CopyOutcome.merged([*skipped, *copied])


def _staged_lengths(items: Iterable[CopyItem], target: FileWriter, staging: str) -> dict[str, int]:
    """Return the lengths of those items' copies that are in staging."""
    wanted = {item.staged_path(staging) for item in items}
    directories = sorted({parent(path) for path in wanted})
    return {
        status.path: status.length
        for _, children in target.list_directories(directories)
        for status in children or ()
        if status.path in wanted and not status.is_directory
    }


class _Copier:
    """Copy items with several threads that take them from one iterator, so that none waits in a queue."""

    def __init__(
        self, source: FileReader, target: FileWriter, staging: str, progress: Progress, superseded_ok: bool
    ) -> None:
        self._source = source
        self._staging = staging
        self._stager = Stager(source, target, staging)
        self._events = EventCopier(source, self._stager, staging)
        self._progress = progress
        self._superseded_ok = superseded_ok
        self._stopping = threading.Event()
        self._unanswered = 0

    def copy_all(self, items: list[CopyItem], threads: int) -> list[CopyOutcome]:
        """Copy all items; a failed one does not keep the others from being tried."""
        if not items:
            return []
        shared = _Shared(items)
        with ThreadPoolExecutor(threads, "copy") as pool:
            workers = [pool.submit(self._work, shared) for _ in range(min(threads, len(items)))]
            try:
                return [outcome for worker in workers for outcome in worker.result()]
            finally:
                self._stopping.set()

    def _work(self, items: "_Shared") -> list[CopyOutcome]:
        outcomes = []
        while not self._stopping.is_set() and (item := items.take()) is not None:
            outcomes.append(self._copy(item))
            self._progress.done(item.length)
        return outcomes

    def _copy(self, item: CopyItem) -> CopyOutcome:
        error: TwinhiveError = Unreachable("not tried any more: too many files in a row got no answer")
        for _ in range(_ATTEMPTS if self._unanswered < _GIVE_UP_AFTER else 0):
            try:
                outcome = self._copy_once(item)
            except TwinhiveError as caught:
                error = caught
                if not FailureKind.of(error).may_retry:
                    break
            else:
                self._unanswered = 0
                return outcome
        self._unanswered += FailureKind.of(error) is FailureKind.UNREACHABLE
        if self._superseded_ok and self._is_superseded(item, error):
            return CopyOutcome(files=1, bytes=item.length, superseded_files=1)
        return _failed(item, error)

    def _copy_once(self, item: CopyItem) -> CopyOutcome:
        staged = self._events.copy(item) if item.is_event_content else self._copy_listed(item)
        length = staged.length
        unverified = int(not staged.verified)
        return CopyOutcome(files=1, bytes=length, copied_files=1, copied_bytes=length, unverified=unverified)

    def _copy_listed(self, item: CopyItem) -> Staged:
        self._check_listed(item)
        listed = FileStatus(item.source_path, item.length, item.modified_ms, block_size=item.block_size)
        return self._stager.stage(listed, item.staged_path(self._staging), lambda: self._check_listed(item))

    def _check_listed(self, item: CopyItem) -> None:
        status = self._source.status(item.source_path)
        if status is None:
            raise Missing(f"{item.source_path}: the source file is gone")
        if not item.is_still(status):
            raise SourceMoved(
                f"{item.source_path}: the source file has changed since it was listed",
                found=f"{status.length} bytes, time {status.modified_ms}, file id {status.file_id}",
                expected=f"{item.length} bytes, time {item.modified_ms}, file id {item.file_id}",
            )

    def _is_superseded(self, item: CopyItem, error: TwinhiveError) -> bool:
        """True when it was the source that failed, which is looked at: the staging area can be gone as well."""
        if item.is_event_content:
            # Whatever took it away comes later in the log; the table's files are listed again.
            return FailureKind.of(error) is FailureKind.LOST
        if FailureKind.of(error) not in (FailureKind.MISSING, FailureKind.CHANGED):
            return False
        try:
            self._check_listed(item)
        except TwinhiveError as found:
            return isinstance(found, Missing | SourceMoved)
        return False


class _Shared:
    """Hand out items to several threads, one at a time."""

    def __init__(self, items: Iterable[CopyItem]) -> None:
        self._items = iter(items)
        self._lock = threading.Lock()

    def take(self) -> CopyItem | None:
        """Return the next item, None after the last one."""
        with self._lock:
            return next(self._items, None)


def _failed(item: CopyItem, error: TwinhiveError) -> CopyOutcome:
    failure = CopyFailure(item.source_path, str(error), FailureKind.of(error), item.table, item.event_id)
    return CopyOutcome(files=1, bytes=item.length, failures=(failure,))
