"""List the directories of external tables that have to be synced, as one pass with its tasks."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from twinhive.core.model.batches import Batch
from twinhive.core.model.external.modes import COPY
from twinhive.core.model.files import Usage
from twinhive.core.model.marks import Phase
from twinhive.core.model.next_steps import bootstrap
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text, render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.promotion_note import refuse_unlike_note
from twinhive.core.step.step_base import Detail, Then, Work
from twinhive.replication.dump.dump_layout import BASE_KINDS
from twinhive.replication.dump.dump_store import ExternalPass, dumps_of, newest_pass
from twinhive.replication.dump.log_point import LogPoint
from twinhive.replication.dump.passes.external_entries import Entry, around, topmost
from twinhive.replication.dump.passes.external_passes import (
    LastSync,
    records_of_pass,
    remove_old_passes,
    tasks_under_way,
    tried_in_round,
    write_pass,
)
from twinhive.replication.dump.passes.pass_manifest import PassManifest
from twinhive.replication.dump.passes.sync_tasks import SizedEntry, SyncTask, cut_tasks, sizes_of_tables
from twinhive.replication.external_tables.bounded_pass import bounded_pass
from twinhive.replication.external_tables.copy_permission import CopyPermission
from twinhive.replication.external_tables.failback_directories import take_places
from twinhive.replication.external_tables.orphaned_directories import clear_left, clear_unfinished
from twinhive.replication.external_tables.purge import obey_purges
from twinhive.replication.external_tables.source_entries import ExternalEntries, read_entries, with_sizes
from twinhive.replication.notification_log.external_entry_cache import KnownEntries, known_entries
from twinhive.replication.notification_log.newest_in_scope import newest_in_scope
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.operator_requests.request_files import is_paused
from twinhive.replication.replica.begun_failover import token_of
from twinhive.replication.replica.pending_files import pending_names
from twinhive.replication.replica.replica_state import state_now
from twinhive.replication.replica.sync_records import Synced


@dataclass(frozen=True)
class ExternalListed:
    """What one pass has to do.

    dump        the name of the pass
    batches     its tasks
    tables, partitions, entries   external tables, partitions of those that were read, directories on seed 001's list
    copies      distinct directories that are synced by this pass and the rest of its tasks
    remaining   tasks that the bound leaves for another pass, which is to follow at once
    idle        why there is nothing to do
    sizes       what the tables hold that the pass has looked at, by name
    """

    dump: str = ""
    batches: tuple[Batch, ...] = ()
    tables: int = 0
    partitions: int = 0
    entries: int = 0
    copies: int = 0
    remaining: int = 0
    idle: str | None = None
    sizes: Mapping[str, Usage] = field(default_factory=dict, repr=False)

    @property
    def then(self) -> Then:
        """Nothing is left to do for the stages after an idle one."""
        return Then.END if self.idle else Then.GO_ON


@dataclass(frozen=True)
class ListExternal:
    """Write the next pass; delete what was dropped with its data."""

    work: Work

    def run(self, ports: WritePorts) -> ExternalListed:
        """Return the pass. Raises ActNow naming what cannot be replicated; nothing is changed then.

        Of a table that cannot be read nobody knows the directories: nothing is deleted then. Its last task names it, or
        this where it has none, unless the policy goes on without.
        """
        policy = self.work.policy
        if idle := why_idle(ports, policy):
            self.work.report(idle)
            return ExternalListed(idle=render(idle))
        refuse_unlike_note(ports, policy)
        looked = _look(ports, policy)
        cut = _cut(ports, policy, looked)
        written = _write(ports, policy, looked, cut)
        self._tell(looked, cut)
        found = looked.found
        if not found.unusable.names:
            self._clean(ports, looked)
        elif not cut.taken:
            found.unusable.refuse()
        totals = found.tables, found.partitions, len(found.entries), len(cut.due), len(cut.for_others)
        return ExternalListed(
            written.name, written.manifest.batches, *totals, sizes=sizes_of_tables(cut.sized, looked.copies)
        )

    def _tell(self, looked: "_Looked", cut: "_Cut") -> None:
        found = looked.found
        self.work.report(
            f"event {looked.event_id}: {found.tables:,} external tables, {found.read:,} of them read for "
            f"{found.partitions:,} partitions, {len(found.entries):,} directories on the list, "
            f"{len(cut.due):,} to sync by {len(cut.taken) + len(cut.for_others):,} tasks"
        )
        for left in found.unusable.left_out():
            self.work.report(Detail("What is left out", f"left out: {left.name}: {left.reason}"))
        if found.unusable.names:
            self.work.report("nothing of what was dropped is deleted before these can be read")
        if cut.for_others:
            self.work.report(
                f"this pass takes {len(cut.taken)} of the tasks (approx_max_load_tasks), {len(cut.for_others)} are "
                "left for others"
            )

    def _clean(self, ports: WritePorts, looked: "_Looked") -> None:
        """Delete what was dropped with its data, and what no table leads to any more."""
        policy, synced = self.work.policy, looked.synced
        state = state_now(ports, policy)
        permission, position = CopyPermission(ports.replica, policy, state), state.last_event_id or 0
        for line in obey_purges(ports, permission, synced, looked.found.entries, position):
            self.work.report(line)
        for line in clear_left(ports, permission, synced, looked.copies, looked.event_id, position):
            self.work.report(line)


@dataclass(frozen=True)
class _Looked:
    """What a pass finds.

    failover  the token of the failover that had begun before anything was asked of the source
    began, begin   time in seconds and newest event before anything was listed: the listing finds what that brought
    end       newest event when the tables had been read
    in_scope  newest event up to `begin` that the replica has to follow
    before    the pass before, and `late`, how many of its tasks have not ended
    known     tables that nothing has touched since the list of the pass before
    kept      records of that pass, by location; `synced` has those of all
    copies    the directories to copy: none lies in another
    """

    failover: str
    began: float
    begin: LogPoint
    end: LogPoint
    in_scope: int
    before: ExternalPass | None
    late: int
    known: KnownEntries
    found: ExternalEntries
    synced: Synced
    kept: Collection[str]
    copies: tuple[Entry, ...]

    @property
    def event_id(self) -> int:
        """Return the id of the newest event before anything was listed."""
        return self.begin.position.event_id


def _look(ports: WritePorts, policy: Policy) -> _Looked:
    log, failover = SourceLog(ports.source), token_of(ports.replica_files, policy)
    began, begin = time.time(), log.newest()
    before, late = newest_pass(ports.dump_files, policy), copies_under_way(ports, policy)
    known = known_entries(ports, policy, before, began, log)
    found = read_entries(ports, policy, known)
    end = log.newest(begin)
    take_places(ports, policy, found.entries)
    synced = Synced(ports.replica_files, policy)
    kept = synced.take(records_of_pass(ports.replica_files, policy, before))
    copies = topmost(found.entries)
    if not found.unusable.names:
        clear_unfinished(ports, policy, synced, before, copies)
    in_scope = newest_in_scope(ports, policy, state_now(ports, policy).position, begin.position.event_id)
    return _Looked(failover, began, begin, end, in_scope, before, late, known, found, synced, kept, copies)


@dataclass(frozen=True)
class _Cut:
    """What is due, cut into tasks: those that this pass takes, and those that its bound leaves for others."""

    tried: frozenset[str]
    due: Sequence[Entry]
    sized: Sequence[SizedEntry]
    taken: Sequence[SyncTask]
    for_others: Sequence[SyncTask]


def _cut(ports: WritePorts, policy: Policy, looked: _Looked) -> _Cut:
    tried = tried_in_round(ports.dump_files, ports.replica_files, policy)
    due = [entry for entry in looked.copies if entry.location not in tried] or looked.copies
    sized = with_sizes(ports.source_files, looked.synced, due)
    options = policy.options
    tasks = cut_tasks(sized, options.external_weight)
    taken = bounded_pass(len(tasks), 0, options.approx_max_load_tasks, options.parallelism).copies
    return _Cut(tried, due, sized, tasks[:taken], tasks[taken:])


def _write(ports: WritePorts, policy: Policy, looked: _Looked, cut: _Cut) -> ExternalPass:
    """Write the pass down, in the place of older ones."""
    found, known, kept = looked.found, looked.known, looked.kept
    manifest = PassManifest(
        event_id=looked.event_id,
        began=looked.began,
        fingerprint=policy.fingerprint,
        batches=tuple(task.batch for task in cut.taken),
        entries=len(found.entries),
        others=len(cut.for_others),
        tried=cut.tried,
        read_at=looked.before.manifest.read_at if looked.before and known else looked.began,
        begin=looked.begin,
        end=looked.end,
        in_scope=looked.in_scope,
        failover=looked.failover,
        unread=tuple(sorted(name.table for name in found.unusable.names)),
    )
    is_quiet = _quiet(ports, policy, kept, [entry for entry in found.entries if entry.table not in known])

    def last_sync(location: str) -> LastSync:
        # A task of the pass before that has not ended may yet write another record than was read.
        is_settled = location in kept or not looked.late
        return LastSync(looked.synced.fields_of(location) if is_settled else None, is_quiet(location))

    written = write_pass(ports.dump_files, policy, manifest, cut.taken, found.entries, last_sync)
    remove_old_passes(ports.dump_files, ports.replica_files, policy, written)
    return written


def _quiet(ports: ReadPorts, policy: Policy, kept: Collection[str], touched: Iterable[Entry]) -> Callable[[str], bool]:
    """Return what is true for locations with a kept record of which nobody can ask anything that this does not tell."""
    if pending_names(ports.replica_files, policy):
        return lambda location: False
    wanted = around(touched)
    return lambda location: location in kept and location not in wanted


def copies_under_way(ports: ReadPorts, policy: Policy) -> int:
    """Count the tasks of the newest pass that have not ended: what a bounded window leaves room for."""
    return tasks_under_way(ports.dump_files, ports.replica_files, policy)


def why_idle(ports: ReadPorts, policy: Policy) -> Text | None:
    """Say why the data of external tables is not copied now, None when it is."""
    external = policy.external
    if not external.included:
        return "the policy leaves external tables out"
    if external.data != COPY:
        return "of external tables the policy replicates metadata only"
    if reason := is_paused(ports.replica_files, policy):
        return "paused: " + reason
    state = state_now(ports, policy)
    if state.phase is not Phase.FOLLOWING and not dumps_of(ports.dump_files, policy, *BASE_KINDS):
        return "the replica follows nothing yet; " + bootstrap(policy.name)
    return None
