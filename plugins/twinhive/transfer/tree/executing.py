"""Carry out the actions of a plan on files, in the process that planned or in one task of a Spark job."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from twinhive.core.model.errors import CopyDiffers, LeaseLost, Promoted, SourceGone, SourceMoved, TwinhiveError
from twinhive.core.ports import TreeReader, TreeWriter
from twinhive.transfer.engine.attributes import UNKNOWN, AttributeCopier, Newborn
from twinhive.transfer.engine.copy_engine import CopyEngine, IsEnding
from twinhive.transfer.engine.progress import CopyProgress, Counting
from twinhive.transfer.tree.file_actions import Done, FileActions, Result, newer_file, why_not_copied
from twinhive.transfer.tree.listing.unreadable import SourceUnreadable, marking_unreadable
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.request import OnUnreadable, SyncOptions
from twinhive.transfer.tree.tree_actions import FileAction
from twinhive.transfer.tree.tree_outcome import ExecOutcome
from twinhive.transfer.tree.work_directories import Places

Item = TypeVar("Item")


@dataclass(frozen=True)
class TreeCopyJob:
    """What whoever executes a plan has to know besides its lines; it can be pickled."""

    places: Places
    options: SyncOptions
    newborn: Newborn = UNKNOWN


ExecutePlan = Callable[[TreeCopyJob, Plan, Callable[[], None]], ExecOutcome]
"""Carry out `Plan.copies()`: here (`in_this_process`), or by a job.

The last argument is called from time to time while files are put in place; what it raises (LeaseLost, Promoted) ends
the copy.
"""

StartCounting = Callable[[int, int], Counting]
"""Begin to count, with the files and bytes to come."""

SETTLE_SECONDS = 5.0
"""So long a new holder of the lease waits before it begins: a call of the one before may still be under way."""
CONFIRM_SECONDS = 2.0
"""So often the lease is confirmed. Less than that wait: two runs would delete each other's unfinished files."""
_NEWER_FILES = 2
"""So often a file of a busy source is copied anew because it was replaced."""


def _silently(files: int, length: int) -> Counting:
    return CopyProgress(files, length, lambda line: None)


def in_this_process(
    source: TreeReader, target: TreeWriter, start: StartCounting = _silently, is_ending: IsEnding = lambda: False
) -> ExecutePlan:
    """Return what carries out plans in this process; `start` begins to show how far a plan has come.

    Who works on several plans at a time says by `is_ending` that all of them are to end: only one of the threads that
    carry them out is interrupted. Raises Unreachable then.
    """

    def execute(job: TreeCopyJob, plan: Plan, confirm: Callable[[], None]) -> ExecOutcome:
        work = plan.totals.on_files
        progress = start(work.files, work.bytes)
        rate = job.options.bytes_per_second
        threads, may_write = job.options.threads, Recently(confirm)
        executor = Executor(
            job, source, target, threads, progress, bytes_per_second=rate, confirm=may_write, is_ending=is_ending
        )
        return executor.run(confirmed(plan.copies(), may_write))

    return execute


class Recently:
    """Confirm that we may still write, unless that was confirmed a moment ago; may be shared between threads."""

    def __init__(self, confirm: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._confirm = confirm
        self._clock = clock
        self._confirmed_at = clock()

    def __call__(self) -> None:
        """Raise what `confirm` raises when we may not."""
        now = self._clock()
        if now - self._confirmed_at >= CONFIRM_SECONDS:
            self._confirm()
            self._confirmed_at = now


def confirmed(items: Iterable[Item], may_write: Recently) -> Iterator[Item]:
    """Yield the items, and confirm from time to time that we may still write."""
    for item in items:
        may_write()
        yield item


class Executor:
    """Carry out lines of a plan with a pool of threads; a failed file does not keep the others from being tried.

    `progress` is told of the bytes of each piece before it is written, and of each file that is done with, copied or
    not. `confirm` is called before anything is put in place that others may see, and raises LeaseLost or Promoted when
    it may not be.

    `in_order`, with one thread: as they were listed, none before the one ahead of it is done; the first that fails, or
    that a busy source has no more as it was, ends the run.
    """

    def __init__(
        self,
        job: TreeCopyJob,
        source: TreeReader,
        target: TreeWriter,
        threads: int,
        progress: Counting | None = None,
        *,
        bytes_per_second: float | None = None,
        confirm: Callable[[], None] = lambda: None,
        is_ending: IsEnding = lambda: False,
        in_order: bool = False,
    ) -> None:
        self._options = job.options
        self._in_order = in_order
        self._source = source
        self._progress = progress or _silently(0, 0)
        reading, above = marking_unreadable(source), job.options.split_above
        engine = CopyEngine(reading, target, threads, self._progress.moved, bytes_per_second, above, is_ending)
        attributes = AttributeCopier(reading, target, job.options.preserve, job.newborn)
        self._actions = FileActions(reading, target, job.places, attributes, engine, confirm)
        self._engine = engine

    def run(self, lines: Iterable[str]) -> ExecOutcome:
        """Carry out all lines (`Action.to_line`), once, and return what came of them."""
        return ExecOutcome.merged(self._engine.run(lines, self._work))

    def _work(self, lines: Iterator[str]) -> ExecOutcome:
        outcome = ExecOutcome()
        for line in lines:
            action = FileAction.from_line(line)
            try:
                done = self._do(action)
            except (LeaseLost, Promoted):
                raise
            except TwinhiveError as error:
                self._count_failure(action, error, outcome)
                self._progress.done(action.length)
                if self._in_order:
                    break
            else:
                outcome.count(done)
                self._show(action, done)
        return outcome

    def _do(self, action: FileAction) -> Done:
        """Carry out an action; of a busy source a file that was replaced meanwhile is copied as it is now."""
        for _ in range(_NEWER_FILES if self._options.busy and not self._in_order else 0):
            try:
                return self._engine.patience.run(partial(self._actions.do, action))
            except TwinhiveError as error:
                newer = newer_file(self._source, action, error)
                if newer is None:
                    raise
                action = newer
        return self._engine.patience.run(partial(self._actions.do, action))

    def _show(self, action: FileAction, done: Done) -> None:
        if done.result is Result.COPIED:
            self._progress.moved(action.length - done.length)  # the bytes that an appended file had before
            self._progress.done(action.length)
        else:
            self._progress.skipped(action.length)

    def _count_failure(self, action: FileAction, error: TwinhiveError, outcome: ExecOutcome) -> None:
        assert action.source is not None
        original = action.source
        reason, options = why_not_copied(self._source, original, error), self._options
        gone = (SourceGone, SourceMoved) if self._in_order else SourceGone
        is_gone = options.busy and isinstance(reason, gone)
        if is_gone or (options.on_unreadable is OnUnreadable.SKIP and isinstance(reason, SourceUnreadable)):
            try:
                if action.new_root is not None:
                    self._actions.discard(action)
            except TwinhiveError as in_the_way:
                reason = in_the_way
            else:
                if is_gone:
                    outcome.failures.vanished.add(original.length)
                else:
                    outcome.failures.add_unreadable(original.path, reason, original.length)
                return
        if action.new_root is not None and isinstance(error, CopyDiffers):
            outcome.failures.differing.append(action.relative)
        outcome.failures.add(original.path, reason, original.length, new_root=action.new_root)
