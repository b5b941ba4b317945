"""Carry out the actions of a plan on files, in the process that planned or in one task of a Spark job."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from twinhive.model.errors import CopyDiffers, LeaseLost, SourceGone, TwinhiveError, Unreachable
from twinhive.ports import TreeReader, TreeWriter
from twinhive.threads.each import Threads
from twinhive.threads.shared_items import in_parallel
from twinhive.transfer.engine.attributes import UNKNOWN, AttributeCopier, Newborn
from twinhive.transfer.engine.meter import Meter, OnBytes
from twinhive.transfer.engine.parts import PartsWriter
from twinhive.transfer.engine.progress import CopyProgress, Counting
from twinhive.transfer.engine.transfer import Transfer
from twinhive.transfer.engine.workers import Patience
from twinhive.transfer.tree.actions import FileAction
from twinhive.transfer.tree.file_actions import Done, FileActions, Result, newer_file, why_not_copied
from twinhive.transfer.tree.listing.unreadable import SourceUnreadable, marking_unreadable
from twinhive.transfer.tree.outcome import ExecOutcome
from twinhive.transfer.tree.places import Places
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.request import OnUnreadable, SyncOptions


@dataclass(frozen=True)
class TreeCopyJob:
    """What whoever executes a plan has to know besides its lines; it can be pickled."""

    places: Places
    options: SyncOptions
    newborn: Newborn = UNKNOWN


ExecutePlan = Callable[[TreeCopyJob, Plan, Callable[[], None]], ExecOutcome]
"""Carry out `Plan.copies()`: here (`in_this_process`), or by a job.

The last argument is called from time to time while files are put in place; what it raises (LeaseLost) ends the copy.
"""

IsEnding = Callable[[], bool]
"""True when whoever asked for a copy was interrupted: no more is to be written."""

StartCounting = Callable[[int, int], Counting]
"""Begin to count, with the files and bytes to come."""

SETTLE_SECONDS = 5.0
"""So long a new holder of the lease waits before it begins: a call of the one before may still be under way."""
CONFIRM_SECONDS = 2.0
"""So often the lease is confirmed. Less than that wait: two runs would delete each other's unfinished files."""
_MEGABYTE = 1_000_000
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
        limit = job.options.bandwidth_mb
        meter = Meter(limit * _MEGABYTE if limit else None, progress.moved)
        executor = Executor(job, source, target, meter=_until(is_ending, meter), progress=progress)
        return executor.run(_lines_until(is_ending, confirmed(plan.copies(), confirm)), job.options.threads)

    return execute


def confirmed(
    lines: Iterable[str], confirm: Callable[[], None], clock: Callable[[], float] = time.monotonic
) -> Iterator[str]:
    """Yield the lines, and confirm from time to time that we may still write."""
    confirmed_at = clock()
    for line in lines:
        if clock() - confirmed_at >= CONFIRM_SECONDS:
            confirm()
            confirmed_at = clock()
        yield line


def _until(is_ending: IsEnding, meter: OnBytes) -> OnBytes:
    """Return a meter that raises Unreachable, before it waits for any rate, when no more is to be written."""

    def metered(count: int) -> None:
        if is_ending():
            raise ended()
        meter(count)

    return metered


def _lines_until(is_ending: IsEnding, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if is_ending():
            raise ended()
        yield line


def ended() -> Unreachable:
    """Return what is raised of a copy that is to end before all is copied."""
    return Unreachable(
        "not copied to its end: the copy is ending",
        found="a signal to end",
        expected="a copy that may go on",
        next_step="run again: what is copied stays",
    )


class Executor:
    """Carry out lines of a plan with a pool of threads; a failed file does not keep the others from being tried.

    `meter` is called with the bytes of each piece before it is written and may wait (`transfer.engine.meter`);
    `progress` is told of each file that is done with, copied or not. `confirm` is called before anything is put in
    place that others may see, and raises LeaseLost when it may not be.
    """

    def __init__(
        self,
        job: TreeCopyJob,
        source: TreeReader,
        target: TreeWriter,
        *,
        meter: OnBytes | None = None,
        progress: Counting | None = None,
        confirm: Callable[[], None] = lambda: None,
    ) -> None:
        self._job = job
        self._confirm = confirm
        self._source = source
        self._target = target
        self._meter = meter
        self._progress = progress or _silently(0, 0)
        self._patience = Patience()

    def run(self, lines: Iterable[str], threads: int) -> ExecOutcome:
        """Carry out all lines (`Action.to_line`) and return what came of them. An interruption ends what has begun."""
        stopping = threading.Event()
        meter = self._meter and _until(stopping.is_set, self._meter)
        with Threads(threads) as for_parts:
            work = partial(self._work, self._actions(for_parts, meter))
            # Without a meter nobody could end a file.
            return ExecOutcome.merged(in_parallel(lines, threads, work, "copy", stopping if meter else None))

    def _actions(self, for_parts: Threads, meter: OnBytes | None) -> FileActions:
        reading, target, job = marking_unreadable(self._source), self._target, self._job
        attributes = AttributeCopier(reading, target, job.options.preserve, job.newborn)
        transfer = Transfer(reading, target, meter)
        parts = PartsWriter(target, transfer, for_parts, job.options.split_above)
        return FileActions(reading, target, job.places, attributes, transfer, parts, meter, self._confirm)

    def _work(self, actions: FileActions, lines: Iterator[str]) -> ExecOutcome:
        outcome = ExecOutcome()
        for line in lines:
            action = FileAction.from_line(line)
            try:
                done = self._do(actions, action)
            except LeaseLost:
                raise
            except TwinhiveError as error:
                self._count_failure(actions, action, error, outcome)
                self._progress.done(action.length)
            else:
                outcome.count(done)
                self._show(action, done)
        return outcome

    def _do(self, actions: FileActions, action: FileAction) -> Done:
        """Carry out an action; of a busy source a file that was replaced meanwhile is copied as it is now."""
        for _ in range(_NEWER_FILES if self._job.options.busy else 0):
            try:
                return self._patience.run(partial(actions.do, action))
            except TwinhiveError as error:
                newer = newer_file(self._source, action, error)
                if newer is None:
                    raise
                action = newer
        return self._patience.run(partial(actions.do, action))

    def _show(self, action: FileAction, done: Done) -> None:
        if done.result is Result.COPIED:
            self._progress.moved(action.length - done.length)  # the bytes that an appended file had before
            self._progress.done(action.length)
        else:
            self._progress.skipped(action.length)

    def _count_failure(
        self, actions: FileActions, action: FileAction, error: TwinhiveError, outcome: ExecOutcome
    ) -> None:
        assert action.source is not None
        original = action.source
        reason, options = why_not_copied(self._source, original, error), self._job.options
        is_gone = options.busy and isinstance(reason, SourceGone)
        if is_gone or (options.on_unreadable is OnUnreadable.SKIP and isinstance(reason, SourceUnreadable)):
            try:
                if action.new_root is not None:
                    actions.discard(action)
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
