"""Copy files and directory trees, so that the target becomes what the source is: from the request to the outcome.

Everything is planned before anything is changed. What is new is built where nobody reads it and appears by one rename
for each new directory; a file of a directory that exists is replaced by one rename. A run that was killed, or in which
something failed, leaves what it has done to the next one, which goes on from there.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from twinhive.core.model.errors import ActNow, ChangedMeanwhile, LeaseLost, TwinhiveError
from twinhive.core.model.files import Attributes, FileStatus, join, relative_to
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.ports import Lease, LeaseKeeper, TreeSource, TreeWriter
from twinhive.transfer.engine.attributes import UNKNOWN, AttributeCopier, Newborn
from twinhive.transfer.engine.copy_retries import twice
from twinhive.transfer.tree.committing import Committer
from twinhive.transfer.tree.deleting import Deleter, fresh_stamp, purge_trash
from twinhive.transfer.tree.executing import SETTLE_SECONDS, ExecutePlan, Executor, Recently, TreeCopyJob, confirmed
from twinhive.transfer.tree.failures import Failures
from twinhive.transfer.tree.listing.unfinished_files import finished_only
from twinhive.transfer.tree.path_rule import Layout, lay_out
from twinhive.transfer.tree.planning.make_plan import refuse
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.request import Deletes, SyncRequest
from twinhive.transfer.tree.snapshots.snapshot_renames import apply_moves, finish_moves
from twinhive.transfer.tree.snapshots.snapshot_rotation import Snapshots
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_actions import ActionKind
from twinhive.transfer.tree.tree_batches import stop_leftover_tasks
from twinhive.transfer.tree.tree_outcome import ExecOutcome, SyncOutcome
from twinhive.transfer.tree.verified_pairs import VerifiedPairs

_MAY_CREATE = (ActionKind.COPY, ActionKind.REPLACE, ActionKind.CHECK, ActionKind.APPEND)
_TOLD_WHEN_BORN = frozenset("ugp")


def run_sync(
    request: SyncRequest,
    source: TreeSource,
    target: TreeWriter,
    leases: LeaseKeeper,
    execute: ExecutePlan,
    *,
    holder: Mapping[str, str],
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    settle: Callable[[], None] = lambda: time.sleep(SETTLE_SECONDS),
) -> SyncOutcome:
    """Make the target what the source is. Only one run at a time writes to a target: the newest.

    Files that fail are part of the outcome. Raises what makes the whole copy impossible (InvalidSettings, Missing,
    Refused, AlreadyThere, before anything is changed), Unreachable, and LeaseLost when another run has taken over.
    `settle` waits for calls of an earlier run's tasks that may be under way.
    """
    started = time.monotonic()
    source = finished_only(source, request.options)
    places = lay_out(request, source, target).places
    try:
        with leases.hold(places.lease, holder, LeaseKind.COPY) as lease:
            layout = lay_out(request, source, target)
            if layout.places != places:
                raise ChangedMeanwhile(
                    f"{places.base}: another run has made it meanwhile",
                    found="another directory to build in than before",
                    expected="a target that no other run makes at the same time",
                    next_step="run again",
                )
            outcome = _Run(request, layout, source, target, lease, execute, now, settle).run()
    except ActNow:
        if places.has_own_lease and not any(map(target.status, (places.tree, places.files, places.all_parts))):
            target.delete(places.work)  # refused before anything was built: only the lease is there
        raise
    if places.has_own_lease and not outcome.kinds:
        target.delete(places.work)  # the lease that lies in it was for this copy alone
    outcome.seconds = time.monotonic() - started
    return outcome


@dataclass
class _Run:
    """One copy, while the lease is held."""

    request: SyncRequest
    layout: Layout
    source: TreeSource
    target: TreeWriter
    lease: Lease
    execute: ExecutePlan
    now: Callable[[], datetime]
    settle: Callable[[], None]
    failures: Failures = field(default_factory=Failures)
    outcome: SyncOutcome = field(default_factory=SyncOutcome)

    def __post_init__(self) -> None:
        self.options = self.request.options
        self.places = self.layout.places

    def run(self) -> SyncOutcome:
        """Plan, carry out the plan, and clean up after success."""
        finish_moves(self.target, self.places)
        snapshots = Snapshots(self.layout, self.options, self.source, self.target)
        try:
            snapshots.begin()
            memory = VerifiedPairs.load(self.target, self.layout.memory)
            with snapshots.plan(memory) as plan:
                refuse(plan, self.options)
                self._carry_out(plan, memory, is_whole=not snapshots.is_difference)
            if self.outcome.unreadable != Tally() or self.failures:
                snapshots.abandon()  # what is missing is no part of the next difference
            else:
                snapshots.rotate()
            if not self.failures:
                self._clean_up()
        except LeaseLost:
            raise
        except TwinhiveError:
            snapshots.abandon()
            raise
        self.outcome.snapshots = snapshots.note
        return self.outcome

    def _carry_out(self, plan: Plan, memory: VerifiedPairs, *, is_whole: bool) -> None:
        self.lease.confirm()
        stop_leftover_tasks(self.target, self.places, self.settle)
        stamp = self._stamp(plan.clears_names)
        self.outcome.deleted += apply_moves(plan, self.target, self.places, self.options, stamp)
        job = TreeCopyJob(self.places, self.options, self._prepare(plan))
        attributes = AttributeCopier(self.source, self.target, self.options.preserve, job.newborn)
        committer = Committer(self.target, self.places, attributes, self.failures, self.options.threads, self._is_gone)
        self.outcome.copied.directories += committer.make_directories(plan.directories())
        done = self.execute(job, plan, self.lease.confirm)
        self.failures.merge(done.failures)
        memory.add(done.verified)

        self.lease.confirm()
        self._drop_differing(done)
        if self.places.is_new:
            self._remember(done, memory, is_whole=is_whole)
        committer.finish_new_directories(plan)
        stamp = self._stamp(bool(plan.replaced) or plan.totals.deletes > 0)
        deleter = Deleter(self.target, self.places, self.options, stamp)
        may_write = Recently(self.lease.confirm)
        replaces = not self._leaves_out(plan)
        self.outcome.deleted += committer.place(plan, deleter, may_write, replaces=replaces)
        self.lease.confirm()
        if self._may_show_logs():
            self.outcome.deleted += committer.place(plan, deleter, may_write, replaces=replaces, of_logs=True)
            self.lease.confirm()
            logs = self._copy_logs(job, plan, may_write)
            done = ExecOutcome.merged([done, logs])
            memory.add(logs.verified)
        self._delete(plan, deleter, may_write)
        may_write()
        self.outcome.attributes.directories += committer.align_directories(plan)
        if not self.places.is_new:
            self._remember(done, memory, is_whole=is_whole)
        self._sum_up(plan, done)

    def _may_show_logs(self) -> bool:
        """False where the log of a table may name a file that has not come: the next run shows both."""
        return not self.failures and self.failures.vanished == Tally()

    def _copy_logs(self, job: TreeCopyJob, plan: Plan, may_write: Recently) -> ExecOutcome:
        """Copy the files of logs, one after the other, here: none is there before one that was written earlier."""
        rate = self.options.bytes_per_second
        executor = Executor(job, self.source, self.target, 1, bytes_per_second=rate, confirm=may_write, in_order=True)
        done = executor.run(confirmed(plan.logs(), may_write))
        self.failures.merge(done.failures)
        return done

    def _is_gone(self, original: FileStatus) -> bool:
        """True for a directory that a busy source does not have any more."""
        try:
            return self.options.busy and self.source.status(original.path) is None
        except TwinhiveError:
            return False

    def _prepare(self, plan: Plan) -> Newborn:
        """Delete what an earlier run has built and nobody wants now; look at what is new by itself."""
        for leftover in plan.leftovers():
            self.target.delete(self.places.built(leftover.relative))
        wanted = self.options.preserve
        may_create = plan.totals.new_directories or any(plan.totals.files[kind].files for kind in _MAY_CREATE)
        if not may_create or wanted.isdisjoint(_TOLD_WHEN_BORN):
            return UNKNOWN
        if "a" in wanted:
            # What is made below inherits a default ACL, and no listing would tell.
            self.target.make_directories(self.places.work)
            self.target.set_attributes(self.places.work, Attributes(acl=()))
        return Newborn.seen(self.target, join(self.places.work, "newborn"))

    def _drop_differing(self, done: ExecOutcome) -> None:
        """Delete copies that are known to be bad; nobody reads them, and what is left the next run compares."""
        for relative in done.failures.differing:
            with suppress(TwinhiveError):
                twice(partial(self.target.delete, self.places.built(relative)))

    def _remember(self, done: ExecOutcome, memory: VerifiedPairs, *, is_whole: bool) -> None:
        """Write down which pairs are equal; for a new base among what appears with it."""
        directory = self.layout.memory
        if self.places.is_new:
            directory = self.places.built(relative_to(directory, self.places.base))
        if not done.verified:
            return
        try:
            memory.save(self.target, directory, only_seen=is_whole)
        except ActNow as error:  # a quota, say: what was copied, and what failed, is told all the same
            if not self.places.only:  # of one file it is no loss, and our directory in /tmp, say, may be another user's
                self.failures.add(directory, error)

    def _stamp(self, deletes: bool) -> str:
        """Return a name for trash, '' when nothing goes there; what is deleted by the moves has one of its own.

        A path may be deleted by them and another one, which has come to the same place, at the end.
        """
        trashes = self.options.delete is Deletes.TRASH and deletes
        return fresh_stamp(self.target, self.places, self.now()) if trashes else ""

    def _leaves_out(self, plan: Plan) -> bool:
        """True where something of the source could not be read, and what it was is not to be given up all the same."""
        unreadable = self.failures.unreadable.files or (plan.replaced and plan.totals.unreadable)
        return bool(unreadable) and not self.options.force

    def _delete(self, plan: Plan, deleter: Deleter, may_write: Recently) -> None:
        """Delete what is gone at the source, but only when nothing failed."""
        left_out = self._leaves_out(plan)
        number = plan.totals.deletes + (len(plan.replaced) if left_out else 0)
        hides_logs = bool(plan.seen) and not self._may_show_logs()
        if number and (self.failures or left_out or hides_logs):
            why = "the source could not be read in full" if left_out else "files of tables with a log have vanished"
            why = "something failed" if self.failures else why
            self.outcome.not_deleted = f"{number:,} paths were not deleted, because {why}"
            return
        for of_logs in (True, False):  # no log is left that names what is gone
            deletes = confirmed(plan.deletes(of_logs=of_logs), may_write)
            deleted = deleter.delete_all(deletes, self.options.threads)
            self.outcome.deleted += deleted.tally
            self.failures.merge(deleted.failures)

    def _clean_up(self) -> None:
        """After success: nothing is unfinished any more, and old trash goes."""
        if self.options.delete is Deletes.TRASH:
            purge_trash(self.target, self.places, self.options.trash_days, self.now())
        if not self.places.has_own_lease:
            for work in self.places.works:
                # Without the right to write beside the base, deleting what is not there would be refused as well.
                if self.target.status(work) is not None:
                    self.target.delete(work)

    def _sum_up(self, plan: Plan, done: ExecOutcome) -> None:
        outcome, totals, failures = self.outcome, plan.totals, self.failures
        outcome.copied += done.copied
        outcome.skipped += totals.files[ActionKind.SKIP]
        outcome.skipped += done.skipped
        outcome.skipped += done.attributes
        outcome.skipped.directories += totals.directories - totals.new_directories
        outcome.attributes += done.attributes
        outcome.excluded = totals.excluded
        outcome.failed += failures.tally
        outcome.unreadable += failures.unreadable
        outcome.vanished += failures.vanished
        outcome.unreadable.directories += totals.unreadable
        outcome.compared = done.compared
        outcome.failures = failures.examples
        outcome.kinds = failures.kinds
