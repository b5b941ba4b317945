"""Make one directory of the replica what the source's is; first find out whether that takes anything."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from twinhive.core.model.errors import ActNow, Missing, Promoted, TryAgain, TwinhiveError, family_of
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.external.modes import EMPTY, LEAVE_OUT
from twinhive.core.model.files import FileStatus
from twinhive.core.model.next_steps import ONLY_IN_A_POLICY_FILE, RETRIES
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import TreePorts, TreeReader, TreeSource
from twinhive.replication.dump.log_point import LogPoint
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.replica.sync_records import SyncedEntry, of_event
from twinhive.transfer.tree.executing import ExecutePlan
from twinhive.transfer.tree.listing.noop_check import asked_pairs, nothing_to_do
from twinhive.transfer.tree.listing.unfinished_files import finished_only
from twinhive.transfer.tree.path_rule import SNAPSHOTS, Layout, Statuses, lay_out
from twinhive.transfer.tree.planning.make_plan import Emptied
from twinhive.transfer.tree.report import PlanRow
from twinhive.transfer.tree.request import Deletes, SyncOptions, SyncRequest, preserved_letters
from twinhive.transfer.tree.snapshots.snapshot_sync import newest_snapshot, nothing_changed_since
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_dry_run import dry_run
from twinhive.transfer.tree.tree_outcome import SyncOutcome
from twinhive.transfer.tree.tree_sync import run_sync
from twinhive.transfer.tree.work_directories import is_ours

_NO_SNAPSHOTS = "-"
"""Stands in a record for the snapshot of a directory that cannot have any."""
_DAY = 86_400
_TAKE_AS_EMPTY = "set external_tables.missing: empty " + ONLY_IN_A_POLICY_FILE + "; then " + Clear("the task")
_EXAMPLES = 3
_COPIED = "paths that can be read at the source and written at the replica"
_LOOKS_AGAIN = 2
"""So often a directory is copied anew at once because files were gone before they were copied: what came instead?"""


@dataclass(frozen=True)
class Moment:
    """What was known before anything was listed: the source's newest event, when that was, and a failover's token."""

    newest: LogPoint
    at: float
    failover: str


@dataclass(frozen=True)
class DirectorySync:
    """One directory of the list, with what its last complete sync has left in writing."""

    entry: Entry
    policy: Policy
    trees: TreePorts
    moment: Moment
    record: SyncedEntry | None

    @property
    def target(self) -> str:
        """Where it is on the replica."""
        return self.policy.external.place(self.entry.location, self.entry.key)

    @property
    def options_to_look(self) -> SyncOptions:
        """With what both sides are compared."""
        return self._options(1, None)

    def look(self, statuses: tuple[Statuses, Statuses]) -> SyncedEntry | Layout | None:
        """Tell as much as can be told without a listing, by the `statuses` of both sides. Raises TryAgain.

        Return the new record when both sides are equal, None when there is something to do, and what has to be
        listed where a listing tells.
        """
        record, options = self.record, self.options_to_look
        if record is None or record.unfinished or self._trash_is_due(record):
            return None
        if options.snapshots and record.snapshot != _NO_SNAPSHOTS:
            here, there = (self.trees.source, self.entry.location), (self.trees.replica, self.target)
            # The first snapshot is made by a run.
            is_equal = bool(record.snapshot) and nothing_changed_since(record.snapshot, here, there)
            return self.seen() if is_equal else None
        try:
            return lay_out(self._request(options), *statuses)
        except ActNow:
            return None

    def compared(self, layout: Layout) -> SyncedEntry | None:
        """List both sides and compare them; return the new record when they are equal. Raises TryAgain."""
        pairs = asked_pairs(layout, self.trees.replica, self.sign)
        is_equal = nothing_to_do(layout, self.options_to_look, self.trees.source, self.trees.replica, pairs)
        return self.seen(pairs.sign) if is_equal else None

    @property
    def sign(self) -> str:
        """The sign of the files that the last look has found equal."""
        return self.record.pairs if self.record else ""

    def seen(self, sign: str = "") -> SyncedEntry:
        """Return the new record of a directory that is as its last sync has left it."""
        assert self.record is not None, "what was never copied is not equal"
        return replace(self._seen(self.record), pairs=sign)

    def copy(
        self, execute: ExecutePlan, holder: Mapping[str, str], threads: int, bandwidth_mb: float | None
    ) -> tuple[SyncedEntry, SyncOutcome]:
        """Copy what differs; return the new record and what was done. Raises TwinhiveError when it is not complete."""
        try:
            source, options = self._checked(threads, bandwidth_mb)
            last = outcome = self._run(source, options, execute, holder)
            for _ in range(_LOOKS_AGAIN):
                if last.vanished == Tally():
                    break
                last = self._run(source, options, execute, holder)
                outcome = outcome.followed_by(last)
            return self._copied(source, options, outcome, last), outcome
        except Promoted:
            raise
        except TwinhiveError as error:
            raise _of(self.entry, error) from error

    def rehearse(self, threads: int) -> list[PlanRow]:
        """Return what a copy would do, a row for each kind of action; nothing is changed. Raises as `copy`."""
        try:
            source, options = self._checked(threads, None)
            return dry_run(self._request(options), source, self.trees.replica)
        except TwinhiveError as error:
            raise _of(self.entry, error) from error

    def _run(
        self, source: TreeSource, options: SyncOptions, execute: ExecutePlan, holder: Mapping[str, str]
    ) -> SyncOutcome:
        request, trees = self._request(options), self.trees
        try:
            outcome = run_sync(request, source, trees.replica, trees.lease, execute, holder=holder)
        except Emptied:
            raise self._emptied() from None
        if outcome.exit_code:
            raise _failed(outcome)
        return outcome

    def _checked(self, threads: int, bandwidth_mb: float | None) -> tuple[TreeSource, SyncOptions]:
        options, source = self._options(threads, bandwidth_mb), self._source()
        if isinstance(source, _Nothing):
            options = replace(options, preserve=frozenset(), snapshots=False)
        self._check_not_emptied(source, options)
        return source, options

    def _options(self, threads: int, bandwidth_mb: float | None) -> SyncOptions:
        external = self.policy.external
        return SyncOptions(
            delete=Deletes(external.delete),
            trash_days=external.trash_days,
            # Who takes a missing directory for an empty one means an empty one all the more.
            force=external.missing == EMPTY,
            preserve=preserved_letters(external.preserve),
            snapshots=external.snapshots,
            busy=True,
            skip_unfinished=external.unfinished == LEAVE_OUT,
            bandwidth_mb=bandwidth_mb,
            threads=threads,
        )

    def _request(self, options: SyncOptions) -> SyncRequest:
        return SyncRequest((self.entry.location,), self.target, options)

    def _trash_is_due(self, record: SyncedEntry) -> bool:
        return 0 < record.trashed_at < time.time() - self.policy.external.trash_days * _DAY

    def _seen(self, record: SyncedEntry) -> SyncedEntry:
        moment = self.moment
        seen = replace(record, **of_event(moment.newest), began=moment.at, failover=moment.failover)
        return replace(seen, at=time.time(), changed=False)

    def _source(self) -> TreeSource:
        """Return the source; one without the directory as if it were there, if the policy says so. Raises Missing."""
        location, source = self.entry.location, self.trees.source
        if SNAPSHOTS in location.split("/"):
            raise self._no_place("lies in a snapshot", "a directory of HDFS, which no copy can be")
        there = source.status(location)
        if there is not None and not there.is_directory:
            raise self._no_place("is a file", "a file, as Spark's own tables may name one")
        if there is not None:
            return source
        if self.policy.external.missing == EMPTY:
            return cast(TreeSource, _Nothing(source, location))
        raise Missing(
            f"{self.entry.key}: its directory {location} does not exist on the source",
            found=f"no such directory; on the replica it is {self.target}",
            expected="the directory that the metastore names",
            next_step="bring it back, drop the table or partition, or " + _TAKE_AS_EMPTY,
        )

    def _no_place(self, what: str, found: str) -> ActNow:
        return ActNow(
            f"{self.entry.key}: its place {self.entry.location} {what}",
            found=found,
            expected="a directory",
            next_step="set its location to a directory that holds its files alone, or exclude the table "
            + ONLY_IN_A_POLICY_FILE
            + "; then "
            + Clear("the task"),
        )

    def _check_not_emptied(self, source: TreeReader, options: SyncOptions) -> None:
        if options.force or not options.deletes or _content(finished_only(source, options), self.entry.location):
            return
        if _content(self.trees.replica, self.target):
            raise self._emptied()

    def _emptied(self) -> TryAgain:
        """A writer that replaces everything leaves the directory empty for a moment: the next look may tell."""
        return TryAgain(
            f"{self.entry.key}: {self.entry.location} is empty, and what the replica has would be deleted",
            found=f"files in {self.target}",
            expected="something in the source's directory, or nothing in the replica's",
            next_step=RETRIES
            + "; if the source is right, delete the replica's files (hdfs dfs -rm), or "
            + _TAKE_AS_EMPTY,
        )

    def _copied(self, source: TreeSource, options: SyncOptions, outcome: SyncOutcome, last: SyncOutcome) -> SyncedEntry:
        snapshot, trashed_at = "", self.record.trashed_at if self.record else 0.0
        if options.snapshots:
            snapshot = newest_snapshot(self.entry.location, self.target, self.trees.replica) or _NO_SNAPSHOTS
        if options.delete is Deletes.TRASH and outcome.deleted != Tally():
            trashed_at = time.time()
        elif self.record is not None and self._trash_is_due(self.record):
            trashed_at = 0.0
        record = SyncedEntry(self.entry.location, self.target, 0, 0.0, snapshot=snapshot, trashed_at=trashed_at)
        looked_at = {
            "files": last.copied.files + last.skipped.files,
            "directories": last.copied.directories + last.skipped.directories,
            "bytes": last.copied.bytes + last.skipped.bytes,
        }
        sizes = {**looked_at, **self._usage(source, options)}
        return replace(self._seen(record), changed=self._changed(outcome), **sizes)

    def _changed(self, outcome: SyncOutcome) -> bool:
        """True when a copy has changed anything that people see; of renames in a difference nothing is counted."""
        counted = any(tally != Tally() for tally in (outcome.copied, outcome.deleted, outcome.attributes))
        return counted or (self.record is not None and self.record.snapshot not in ("", _NO_SNAPSHOTS))

    def _usage(self, source: TreeSource, options: SyncOptions) -> dict[str, Any]:
        """Return the sizes of a source of which perhaps only a difference was looked at."""
        if not options.snapshots:
            return {}
        usage = source.usage(self.entry.location)
        return {"files": usage.files, "directories": usage.directories + 1, "bytes": usage.length}


def _content(files: TreeReader, directory: str) -> bool:
    """True when there is anything in a directory but what copies keep for themselves."""
    for _, page in files.list_pages([directory]):
        if any(not is_ours(child.path.rpartition("/")[2]) for child in page or ()):
            return True
    return False


def _failed(outcome: SyncOutcome) -> TwinhiveError:
    count = sum(outcome.kinds.values())
    examples = "; ".join(f"{failure.path}: {failure.reason}" for failure in outcome.failures[:_EXAMPLES])
    if outcome.exit_code is ExitCode.TRY_AGAIN:
        return TryAgain(f"{count:,} paths were not copied", found=examples, expected=_COPIED, next_step=RETRIES)
    return ActNow(
        f"{count:,} paths were not copied",
        found=examples,
        expected=_COPIED,
        next_step="mend that, then " + Clear("the task"),
    )


def _of(entry: Entry, error: TwinhiveError) -> TwinhiveError:
    """Return an error that names the table as well."""
    if error.words.what.startswith(f"{entry.key}:"):
        return error
    return family_of([error])(
        f"{entry.key}: " + error.what, found=error.found, expected=error.expected, next_step=error.next_step
    )


class _Nothing:
    """A source with an empty directory where it has none."""

    def __init__(self, source: TreeSource, directory: str) -> None:
        self._source = source
        self._directory = directory

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def status(self, path: str) -> FileStatus | None:
        if path == self._directory:
            return FileStatus(path, 0, 0, is_directory=True)
        return self._source.status(path)

    def list_pages(self, paths: list[str]) -> Any:
        return ((path, []) for path in paths)
