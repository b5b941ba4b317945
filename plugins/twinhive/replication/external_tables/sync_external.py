"""Bring the directories of one task of a pass to the replica, and write down which are complete."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Protocol

from twinhive.core.model.errors import Promoted, TwinhiveError, together
from twinhive.core.model.human_readable import readable
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import TreeReader, TreeWriter, WritePorts
from twinhive.core.step.promotion_note import refuse_unlike_note
from twinhive.core.step.step_base import Detail, Work
from twinhive.core.threads.parallel_map import Threads
from twinhive.core.threads.running_calls import RunningCalls
from twinhive.replication.dump.dump_store import pass_of_name
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.dump.passes.external_passes import (
    LastSync,
    keep_records,
    known_of_task,
    records_change,
    records_have_changed,
    task_has_ended,
)
from twinhive.replication.external_tables.copy_permission import CopyPermission
from twinhive.replication.external_tables.equal_directories import TREES_TOGETHER, LookedDirectory, look_at_all
from twinhive.replication.external_tables.source_entries import still_unusable
from twinhive.replication.external_tables.sync_directory import DirectorySync, Moment
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.operator_requests.request_files import is_paused
from twinhive.replication.replica.begun_failover import token_of
from twinhive.replication.replica.replica_state import state_now
from twinhive.replication.replica.sync_records import Synced, SyncedEntry, write_synced, write_unchanged
from twinhive.transfer.engine.copy_engine import IsEnding
from twinhive.transfer.tree.executing import ExecutePlan, in_this_process
from twinhive.transfer.tree.tree_outcome import SyncOutcome

_SHOWN = 5
_LISTED = "Directories"


_Looked = tuple[DirectorySync, LookedDirectory]


class Execution(Protocol):
    """Where plans are carried out: small ones in this process, say, and the rest by Spark."""

    def execution(
        self, source: TreeReader, target: TreeWriter, say: Callable[[str], None], is_ending: IsEnding
    ) -> ExecutePlan:
        """Return what carries out plans; `say` takes lines for the log."""
        ...


class InThisProcess:
    """Carry out every plan in the process that made it."""

    def execution(
        self, source: TreeReader, target: TreeWriter, say: Callable[[str], None], is_ending: IsEnding
    ) -> ExecutePlan:
        """Return what carries out plans."""
        return in_this_process(source, target, is_ending=is_ending)


@dataclass(frozen=True)
class ExternalSynced:
    """What became of a task's directories; files and bytes are those that were copied, `deleted` counts paths."""

    unchanged: int = 0
    changed: int = 0
    files: int = 0
    bytes: int = 0
    deleted: int = 0
    idle: str | None = None


@dataclass
class _Done:
    """What was done so far, and what failed."""

    unchanged: int = 0
    records: list[SyncedEntry] = field(default_factory=list)
    outcomes: list[SyncOutcome] = field(default_factory=list)
    failed: list[TwinhiveError] = field(default_factory=list)

    def result(self) -> ExternalSynced:
        changed = self.outcomes
        return ExternalSynced(
            self.unchanged,
            len(changed),
            sum(each.copied.files for each in changed),
            sum(each.copied.bytes for each in changed),
            sum(each.deleted.files + each.deleted.directories for each in changed),
        )


@dataclass(frozen=True)
class SyncExternal:
    """Sync the directories of one task; `execute` says where is copied what has to be."""

    work: Work
    execute: Execution = field(default_factory=InThisProcess)

    def run(self, ports: WritePorts) -> ExternalSynced:
        """Return what was done. A directory that fails keeps no other from being synced; then one error is raised.

        The last task names the tables of its pass that cannot be read. Raises Promoted: into a replica that has taken
        over nothing is copied.
        """
        policy, name, task = self.work.policy, self.work.dump, self.work.batch
        if reason := is_paused(ports.replica_files, policy):
            self.work.report("paused: " + reason)
            return ExternalSynced(idle=render(reason))
        permission = CopyPermission(ports.replica, policy, state_now(ports, policy))
        refuse_unlike_note(ports, policy)
        manifest = pass_of_name(ports.dump_files, policy, name).manifest
        tasks = len(manifest.batches)
        entries = known_of_task(ports.dump_files, policy, name, task)
        done = _Done()
        differing = self._look(ports, entries, done)
        if differing:
            records_change(ports.replica_files, policy, name, task)
        self._copy(ports, permission, differing, done, tasks)
        keep_records(ports.replica_files, policy, name, task, [asdict(record) for record in done.records])
        result = done.result()
        counts = {"unchanged": result.unchanged, "changed": result.changed, "failed": len(done.failed)}
        task_has_ended(ports.replica_files, policy, name, task, counts)
        failed = [_all_of(done.failed, policy, len(entries))] if done.failed else []
        if task == manifest.batches[-1].name:
            failed += still_unusable(ports.source, policy, manifest.unread).refused()
        if failed:
            raise together(failed, f"policy {policy.name}: not all external tables were synced; the others are")
        return result

    def _look(self, ports: WritePorts, entries: Mapping[Entry, LastSync], done: _Done) -> list[DirectorySync]:
        """Return the directories that are not equal; of the others write down that they are, if somebody may ask."""
        policy, synced = self.work.policy, Synced(ports.replica_files, self.work.policy)
        token = token_of(ports.replica_files, policy)  # before anything is asked of the source
        moment = Moment(at=time.time(), newest=SourceLog(ports.source).newest(), failover=token)
        # What the list has read is some minutes old: good enough to look by, unless a snapshot is to be found, or an
        # earlier try was killed while it copied.
        is_known = not policy.external.snapshots
        is_known = is_known and not records_have_changed(ports.replica_files, policy, self.work.dump, self.work.batch)

        def begin(entry: Entry) -> DirectorySync:
            given = entries[entry].synced if is_known else None
            return DirectorySync(entry, policy, ports.trees, moment, synced.given(entry.location, given))

        def note(looked_at: _Looked) -> LookedDirectory:
            sync, found = looked_at
            try:
                if isinstance(found, SyncedEntry) and not entries[sync.entry].is_quiet:
                    write_unchanged(ports.replica_files, policy, found)
            except TwinhiveError as error:
                return error
            return found

        differing = []
        with Threads(policy.options.copy_threads) as threads:
            syncs = threads.each(begin, entries)
            looked_at = zip(syncs, look_at_all(syncs, ports.trees, policy.options.copy_threads), strict=True)
            for sync, found in _noted(looked_at, note, threads):
                if found is None:
                    differing.append(sync)
                elif isinstance(found, SyncedEntry):
                    done.unchanged += 1
                    done.records.append(found)
                    self.work.report(Detail(_LISTED, f"{sync.entry.key}  unchanged  {_size(found)}"))
                else:
                    self._note_failure(sync.entry, found, done)
        return differing

    def _copy(
        self,
        ports: WritePorts,
        permission: CopyPermission,
        differing: Sequence[DirectorySync],
        done: _Done,
        tasks: int,
    ) -> None:
        """Copy what differs, several directories at a time, which share threads and bandwidth."""
        policy = self.work.policy
        trees = replace(ports.trees, lease=permission.leases(ports.trees.lease))
        together = max(1, min(len(differing), policy.options.copy_threads))
        threads = max(1, policy.options.copy_threads // together)
        bandwidth = _share(policy, tasks, together)
        ending = threading.Event()
        execute = self.execute.execution(trees.source, trees.replica, self.work.report, ending.is_set)
        synced = Synced(ports.replica_files, policy)

        def copy(sync: DirectorySync) -> tuple[SyncedEntry, SyncOutcome] | TwinhiveError:
            try:
                permission.confirm()
                sync = replace(sync, trees=trees, record=synced.record_of(sync.entry.location))
                if sync.record is not None:
                    write_synced(ports.replica_files, policy, replace(sync.record, unfinished=True))
                record, outcome = sync.copy(execute, self.work.holder, threads, bandwidth)
                write_synced(ports.replica_files, policy, record)
            except Promoted:
                raise  # that of one directory is that of all
            except TwinhiveError as error:
                return error
            return record, outcome

        with ThreadPoolExecutor(together, "external") as pool, RunningCalls() as calls, _set_at_the_end(ending):
            copied = pool.map(lambda sync: calls.run(copy, sync), differing)
            for sync, found in zip(differing, copied, strict=True):
                if isinstance(found, TwinhiveError):
                    self._note_failure(sync.entry, found, done)
                    continue
                record, outcome = found
                done.records.append(record)
                if record.changed:
                    done.outcomes.append(outcome)
                else:
                    done.unchanged += 1
                self.work.report(Detail(_LISTED, f"{sync.entry.key}  {_what(record, outcome)}"))

    def _note_failure(self, entry: Entry, error: TwinhiveError, done: _Done) -> None:
        done.failed.append(error)
        self.work.report(f"{entry.key}  FAILED  " + error.what)


@contextmanager
def _set_at_the_end(event: threading.Event) -> Iterator[None]:
    try:
        yield
    finally:
        event.set()


def _noted(
    looked_at: Iterator[_Looked], note: Callable[[_Looked], LookedDirectory], threads: Threads
) -> Iterator[_Looked]:
    """Note what was found, some at a time: who is killed while he looks does not look at those again."""
    while some := list(islice(looked_at, TREES_TOGETHER)):
        yield from zip((sync for sync, _ in some), threads.each(note, some), strict=True)


def _share(policy: Policy, tasks: int, together: int) -> float | None:
    """Return the megabytes a second of one copy, when all tasks that may run at the same time do `together` each."""
    whole = policy.options.bandwidth_mb
    return whole / (min(tasks, policy.options.parallelism - 1) * together) if whole else None


def _size(record: SyncedEntry) -> str:
    return f"{record.files:,} files in {record.directories:,} directories"


def _what(record: SyncedEntry, outcome: SyncOutcome) -> str:
    if not record.changed:
        return f"unchanged  {_size(record)}, compared"
    deleted = outcome.deleted.files + outcome.deleted.directories
    said = [f"copied {outcome.copied.files:,} files, {readable(outcome.copied.bytes)}"]
    said += [f"{deleted:,} deleted"] if deleted else []
    attributes = outcome.attributes.files + outcome.attributes.directories
    said += [f"{attributes:,} got attributes"] if attributes else []
    said += [outcome.snapshots] if outcome.snapshots else []
    return ", ".join(said)


def _all_of(failed: Sequence[TwinhiveError], policy: Policy, entries: int) -> TwinhiveError:
    count = f"{len(failed):,} of {entries:,} directories of external tables were not synced"
    return together(failed, f"policy {policy.name}: {count}; the others are complete", shown=_SHOWN)
