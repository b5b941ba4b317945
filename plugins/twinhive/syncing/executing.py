"""Carry out the actions of a plan on files, in the process that planned or in one task of a Spark job."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from twinhive.copying.meter import Meter, OnBytes
from twinhive.copying.parts import PartsWriter
from twinhive.copying.progress import Progress
from twinhive.copying.transfer import Transfer
from twinhive.domain.errors import TwinhiveError
from twinhive.ports import TreeReader, TreeWriter
from twinhive.syncing.actions import Action, Kind
from twinhive.syncing.attributes import UNKNOWN, AttributeCopier, Newborn
from twinhive.syncing.file_actions import FileActions, why_not_copied
from twinhive.syncing.outcome import ExecOutcome
from twinhive.syncing.places import Places
from twinhive.syncing.plan import Plan
from twinhive.syncing.request import OnUnreadable, SyncOptions
from twinhive.syncing.unreadable import SourceUnreadable, telling
from twinhive.syncing.workers import Helpers, Patience, in_parallel


@dataclass(frozen=True)
class CopyJob:
    """What whoever executes a plan has to know besides its lines; it can be pickled."""

    places: Places
    options: SyncOptions
    newborn: Newborn = UNKNOWN


ExecutePlan = Callable[[CopyJob, Plan], ExecOutcome]
"""Carry out `Plan.copies()`: here (`in_this_process`), or by a job."""

_MEGABYTE = 1_000_000
_LEFT_TO_OTHERS = (Kind.SKIP, Kind.DELETE, Kind.MAKE_DIRECTORY)


def in_this_process(
    source: TreeReader, target: TreeWriter, say: Callable[[str], None] = lambda line: None
) -> ExecutePlan:
    """Return what carries out plans in this process, and says from time to time how far it has come."""

    def execute(job: CopyJob, plan: Plan) -> ExecOutcome:
        tallies = [tally for kind, tally in plan.totals.files.items() if kind not in _LEFT_TO_OTHERS]
        progress = Progress(sum(tally.files for tally in tallies), sum(tally.bytes for tally in tallies), say)
        limit = job.options.bandwidth_mb
        meter = Meter(limit * _MEGABYTE if limit else None)
        executor = Executor(job, source, target, meter=meter, on_done=progress.done)
        return executor.run(plan.copies(), job.options.threads)

    return execute


class Executor:
    """Carry out lines of a plan with a pool of threads; a failed file does not keep the others from being tried.

    `meter` is called with the bytes of each piece before it is written and may wait (`copying.meter`), `on_done` with
    the length of each file that is done with, copied or not.
    """

    def __init__(
        self,
        job: CopyJob,
        source: TreeReader,
        target: TreeWriter,
        *,
        meter: OnBytes | None = None,
        on_done: Callable[[int], None] = lambda length: None,
    ) -> None:
        self._job = job
        self._source = source
        self._target = target
        self._meter = meter
        self._on_done = on_done
        self._patience = Patience()

    def run(self, lines: Iterable[str], threads: int) -> ExecOutcome:
        """Carry out all lines (`Action.to_line`) and return what came of them."""
        with Helpers(threads, "part") as helpers:
            work = partial(self._work, self._actions(helpers))
            return ExecOutcome.merged(in_parallel(lines, threads, work, "copy"))

    def _actions(self, helpers: Helpers) -> FileActions:
        reading, target, job = telling(self._source), self._target, self._job
        attributes = AttributeCopier(reading, target, job.options.preserve, job.newborn)
        transfer = Transfer(reading, target, self._meter)
        parts = PartsWriter(target, transfer, helpers.run_all, job.options.split_above)
        return FileActions(reading, target, job.places, attributes, transfer, parts, self._meter)

    def _work(self, actions: FileActions, lines: Iterator[str]) -> ExecOutcome:
        outcome = ExecOutcome()
        for line in lines:
            action = Action.from_line(line)
            try:
                outcome.count(self._patience.run(partial(actions.do, action)))
            except TwinhiveError as error:
                self._count_failure(actions, action, error, outcome)
            self._on_done(action.length)
        return outcome

    def _count_failure(self, actions: FileActions, action: Action, error: TwinhiveError, outcome: ExecOutcome) -> None:
        assert action.source is not None
        original = action.source
        reason = why_not_copied(self._source, original, error)
        if self._job.options.on_unreadable is OnUnreadable.SKIP and isinstance(reason, SourceUnreadable):
            try:
                if action.new_root is not None:
                    actions.discard(action)
            except TwinhiveError as in_the_way:
                reason = in_the_way
            else:
                outcome.failures.add_unreadable(original.path, reason, original.length)
                return
        outcome.failures.add(original.path, reason, original.length, new_root=action.new_root)
