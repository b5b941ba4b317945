"""Copy files into staging: verified, shareable between attempts, never half visible.

A copy is written under a name of its own, compared with its source and only then renamed to the
name that says what it is. So whatever has that name and the right length was verified before, by
whichever attempt, and is not copied again.
"""

import threading
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from twinhive.copying.progress import Progress
from twinhive.copying.staged import CopyItem, unfinished_directory
from twinhive.domain.errors import CopyDiffers, Missing, Refused, SourceMoved, TryAgain, TwinhiveError, Unreachable
from twinhive.domain.files import ChecksumForm, join, parent
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
        kinds = {SourceMoved: cls.CHANGED, Missing: cls.MISSING, CopyDiffers: cls.DIFFERS}
        return kinds.get(type(error), cls.UNREACHABLE if isinstance(error, TryAgain) else cls.REFUSED)


@dataclass(frozen=True)
class CopyFailure:
    """One file that was not copied, and why."""

    path: str
    reason: str
    kind: FailureKind


@dataclass(frozen=True)
class CopyOutcome:
    """What came of all items: `files` = copied + skipped + failures. `unverified` were compared by length only."""

    files: int = 0
    bytes: int = 0
    copied_files: int = 0
    copied_bytes: int = 0
    skipped_files: int = 0
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
) -> CopyOutcome:
    """Copy every item into staging unless it is there, largest first; failures are part of the outcome."""
    ordered = sorted(items, key=lambda item: (-item.length, item.source_path))
    try:
        staged = _staged_lengths(ordered, target, staging)
    except TwinhiveError as error:
        return CopyOutcome.merged(_failed(item, error) for item in ordered)
    progress = Progress(len(ordered), sum(item.length for item in ordered), on_progress)
    skipped, waiting = [], []
    for item in ordered:
        path = item.staged_path(staging)
        if staged.get(path) == item.length:
            skipped.append(CopyOutcome(files=1, bytes=item.length, skipped_files=1))
            progress.done(item.length)
        else:
            staged[path] = item.length  # a file that is listed twice is copied once
            waiting.append(item)
    copied = _Copier(source, target, staging, progress).copy_all(waiting, threads)
    return CopyOutcome.merged([*skipped, *copied])


def _staged_lengths(items: Iterable[CopyItem], target: FileWriter, staging: str) -> dict[str, int]:
    """Return the lengths of those items' copies that are in staging."""
    wanted = {item.staged_path(staging) for item in items}
    directories = sorted({parent(path) for path in wanted})
    return {
        status.path: status.length
        for _, children in target.list_directories(directories)
        for status in children or ()
        if status.path in wanted
    }


class _Copier:
    """Copy items with several threads that take them from one iterator, so that none waits in a queue."""

    def __init__(self, source: FileReader, target: FileWriter, staging: str, progress: Progress) -> None:
        self._source = source
        self._target = target
        self._staging = staging
        self._progress = progress
        self._made: set[str] = set()
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
        return _failed(item, error)

    def _copy_once(self, item: CopyItem) -> CopyOutcome:
        self._check_source(item)
        temporary = join(unfinished_directory(self._staging), uuid.uuid4().hex)
        try:
            verified = self._write(item, temporary)
            self._check_source(item)
            self._commit(item, temporary)
        except BaseException:
            self._delete_quietly(temporary)
            raise
        length = item.length
        return CopyOutcome(files=1, bytes=length, copied_files=1, copied_bytes=length, unverified=int(not verified))

    def _check_source(self, item: CopyItem) -> None:
        status = self._source.status(item.source_path)
        if status is None:
            raise Missing(f"{item.source_path}: the source file is gone")
        if not item.is_still(status):
            raise SourceMoved(
                f"{item.source_path}: the source file has changed since it was listed",
                found=f"{status.length} bytes, time {status.modified_ms}, file id {status.file_id}",
                expected=f"{item.length} bytes, time {item.modified_ms}, file id {item.file_id}",
            )

    def _write(self, item: CopyItem, temporary: str) -> bool:
        """Write a copy and compare it; False when there were no checksums and only the lengths were compared."""
        stream = self._source.open(item.source_path)
        written = self._target.create_from(stream, temporary, block_size=item.block_size)
        if written != item.length:
            raise _differs(item, "length", written, item.length)
        there = self._source.checksum(item.source_path, ChecksumForm.COMPARISON)
        here = self._target.checksum(temporary, ChecksumForm.COMPARISON) if there is not None else None
        if there is None or here is None:
            return False
        if here != there:
            raise _differs(item, "checksum", here, there)
        return True

    def _commit(self, item: CopyItem, temporary: str) -> None:
        """Give a verified copy its name, unless another attempt has been faster."""
        path = item.staged_path(self._staging)
        if parent(path) not in self._made:
            self._target.make_directories(parent(path))
            self._made.add(parent(path))
        if self._target.rename(temporary, path):
            return
        there = self._target.status(path)
        if there is None:
            raise CopyDiffers(f"{temporary}: the copy of {item.source_path} vanished before it had its name")
        if there.length != item.length:
            raise Refused(
                f"{path}: a copy of {item.source_path} with a wrong length is in the way",
                found=f"{there.length} bytes",
                expected=f"{item.length} bytes",
                next_step="find out who wrote it, delete it, run again",
            )
        self._delete_quietly(temporary)

    def _delete_quietly(self, path: str) -> None:
        with suppress(TwinhiveError):
            self._target.delete(path)


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
    failure = CopyFailure(item.source_path, str(error), FailureKind.of(error))
    return CopyOutcome(files=1, bytes=item.length, failures=(failure,))


def _differs(item: CopyItem, what: str, found: object, expected: object) -> CopyDiffers:
    return CopyDiffers(f"{item.source_path}: the copy has another {what}", found=found, expected=expected)
