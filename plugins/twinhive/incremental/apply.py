"""Apply a window to the replica, event by event, under the policy's lease."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from twinhive.apply.excluded import drop_excluded
from twinhive.apply.external.pending_store import PendingStore
from twinhive.apply.external.target import ExternalTarget
from twinhive.apply.lane import Applied, Lane
from twinhive.apply.open_target import open_target
from twinhive.apply.progress import Progress
from twinhive.apply.snapshot import Snapshot, replace_table
from twinhive.apply.trouble import Quarantine
from twinhive.bootstrap.gate import check_window
from twinhive.dump.cleaning import clean_staging
from twinhive.dump.eventless import is_still_to_apply
from twinhive.dump.layout import WHOLE_TABLES
from twinhive.dump.shards import unpack_lines
from twinhive.dump.store import Dump, of_this_text, window_at
from twinhive.external.publish_pending import publish
from twinhive.incremental.beside_whole import beside_whole
from twinhive.incremental.whole_tables import remember_base
from twinhive.log.told_events import told_events
from twinhive.model.batches import Batch
from twinhive.model.changes.contents import SourceFile
from twinhive.model.changes.kinds import Event
from twinhive.model.errors import ActNow, InvalidSettings
from twinhive.model.lease_kinds import LeaseKind
from twinhive.model.marks import SCOPE, Phase, ReplicaState
from twinhive.model.names import TableName
from twinhive.model.next_steps import bootstrap, clear, resync_wish
from twinhive.ports import Lease, WritePorts
from twinhive.replica.pending_files import PendingFiles
from twinhive.replica.replica_state import read_state
from twinhive.replica.synced import Synced
from twinhive.requests.wishes import recorded_skips, requested_tables, skipped_events, table_is_done
from twinhive.step.base import Work
from twinhive.step.holding import hold_lease
from twinhive.step.metadata_only import without_files
from twinhive.transfer.staged.items import file_of
from twinhive.transfer.staged.staged import CopyItem


@dataclass(frozen=True)
class WindowApplied:
    """What became of a window: the position now, events applied and not, tables that are frozen.

    `pending` are the external tables that wait for data since this window: who brings it is to be told.
    """

    event_id: int
    events: int = 0
    calls: int = 0
    already: str | None = None
    not_replicated: dict[str, int] = field(default_factory=dict)
    quarantined: dict[str, int] = field(default_factory=dict)
    pending: tuple[str, ...] = ()


@dataclass(frozen=True)
class Apply:
    """Bring the replica from where it is to the end of the window."""

    work: Work

    def run(self, ports: WritePorts) -> WindowApplied:
        """Return what was applied. Events that are on the replica already are passed over."""
        policy, report = self.work.policy, self.work.report
        log_id = ports.source.log_id()
        # Before it is asked for: a load that is under way keeps it.
        self._refuse_unpublished(read_state(ports.replica, policy, log_id))
        with hold_lease(ports, self.work, LeaseKind.EVENTS) as lease:
            state = read_state(ports.replica, policy, log_id)
            dump = self._window(ports, state)
            if dump is None:
                already = f"already applied: the replica is at event {state.position.event_id}"
                report(already)
                return WindowApplied(state.position.event_id, already=already)
            lost = check_window(ports, dump, policy, state.position.event_id)
            applying = _Applying(self.work, ports, dump, log_id, lease)
            applied = applying.run(lost)
            pending = applying.publish()
            lease.confirm()
            clean_staging(ports.replica_files, policy, dump.manifest.end.event_id)
        return self._said(dump, applied, pending)

    def _refuse_unpublished(self, state: ReplicaState) -> None:
        if state.phase is not Phase.FOLLOWING:
            raise ActNow(
                f"the replica of policy {self.work.policy.name} is not published yet",
                found=f"phase {state.phase.value}",
                expected=Phase.FOLLOWING.value,
                next_step=bootstrap(self.work.policy.name) + ", or " + clear("its failed task"),
            )

    def _window(self, ports: WritePorts, state: ReplicaState) -> Dump | None:
        self._refuse_unpublished(state)
        dump = window_at(ports.dump_files, self.work.policy, state.position.event_id)
        if dump is None:
            return None
        of_this_text(dump, self.work.policy)
        if not dump.layout.is_eventless:
            return dump
        if dump.manifest.scope:
            return dump if is_still_to_apply(state, dump.manifest) else None
        waiting = set(requested_tables(ports.replica_files, self.work.policy))
        return dump if waiting & set(dump.manifest.snapshots) else None

    def _said(self, dump: Dump, applied: Applied, pending: tuple[str, ...]) -> WindowApplied:
        report, end = self.work.report, dump.manifest.end.event_id
        report(
            f"the replica is at event {end}: {applied.events} events applied in {applied.actions} steps, "
            f"{applied.already} were there before"
        )
        for reason, count in sorted(applied.not_replicated.items()):
            report(f"not replicated: {reason} ({count} events)")
        for table, count in sorted(applied.quarantined.items()):
            report(
                f"QUARANTINED: {table}, {count} events of this window passed over; bring it back with: "
                + resync_wish(self.work.policy.name, table)
            )
        return WindowApplied(
            end,
            applied.events,
            applied.actions,
            not_replicated=dict(applied.not_replicated),
            quarantined=dict(applied.quarantined),
            pending=pending,
        )


class _Applying:
    """One window under way."""

    def __init__(self, work: Work, ports: WritePorts, dump: Dump, log_id: str, lease: Lease) -> None:
        policy = work.policy
        database = ports.replica.database(policy.replica.database)
        assert database is not None, "read_state has seen it"
        self._work = work
        self._ports = ports
        self._dump = dump
        self._pending = PendingStore(PendingFiles(ports.replica_files, policy, lease))
        self._progress = Progress(
            ports.replica, lease, database.name, database.parameters, write_first=self._pending.flush
        )
        self._quarantine = Quarantine(policy, self._progress, is_last_try=work.is_last_try)
        self._target = open_target(ports, policy, log_id, lease)
        self._synced = Synced(ports.replica_files, policy)
        self._external = ExternalTarget(self._target, self._pending, self._synced.covers)

    def run(self, lost: dict[int, str]) -> Applied:
        """Apply events, then bring over the tables that are asked for, then write the window's end."""
        policy, manifest = self._work.policy, self._dump.manifest
        skipped = dict(skipped_events(self._ports.replica_files, policy))
        if manifest.replaces:
            for table in drop_excluded(self._external, self._progress):
                self._work.report(f"dropped {table}: the policy does not select it any more")
        # First: once the position has passed it, nobody remembers the wish.
        self._record_skipped(skipped)
        lane = Lane(self._target, self._progress, self._quarantine, self._external, lost)
        # A window is cut for one consistency; of a statement's dump the load says it.
        consistency = policy.options.consistency if manifest.scope else manifest.consistency
        applied = lane.apply(self._events(), frozenset(manifest.cascades), frozenset(skipped), consistency)
        for table in manifest.snapshots:
            self._replace(table)
            table_is_done(self._ports.replica_files, policy, table)
        remember_base(self._ports.replica_files, policy, self._progress)
        if manifest.scope:
            self._progress.set_parameters({**self._progress.parameters, SCOPE: manifest.scope}, manifest.end)
        lane.finish(manifest.end)
        self._pending.flush()
        return applied

    def publish(self) -> tuple[str, ...]:
        """Publish what waited for its data; return the tables that wait since this window.

        After the position: what is published now is no event's that could come again.
        """
        began = self._pending.changed
        left = publish(self._external, self._synced, self._quarantine, self._work.report)
        return tuple(table for table in began if table in left)

    def _replace(self, table: str) -> None:
        end, token = self._dump.manifest.end, self._dump.manifest.token[:8]
        try:
            left_out = replace_table(self._external, self._progress, self._snapshot(table), end, token)
        except InvalidSettings as error:
            if not self._quarantine.accepts(error):
                raise
            self._quarantine.freeze(table, error)
            return
        self._work.report(f"{table} was brought over as it is at event {end.event_id}")
        for constraint in left_out:
            self._work.report(f"left out: {constraint}")

    def _record_skipped(self, skipped: dict[int, str]) -> None:
        new = recorded_skips(skipped, self._dump.manifest.end.event_id)
        if new.keys() - self._progress.parameters.keys():
            self._progress.set_parameters({**self._progress.parameters, **new})

    def _events(self) -> Iterator[Event]:
        """Yield the window's events without those of tables that are brought over whole at its end."""
        for event in self._told():
            left = without_files(event) if self._dump.manifest.metadata_only else event
            if left is not None:
                yield left

    def _told(self) -> Iterator[Event]:
        for event in told_events(self._ports.dump_files, self._dump.layout):
            left = beside_whole(self._work.policy, event, self._dump.manifest.snapshots)
            if left is not None:
                yield left

    def _snapshot(self, table: str) -> Snapshot:
        """Collect what the dump holds of one table."""
        dump, files = self._dump, self._ports.dump_files
        name = TableName(self._work.policy.source.database, table)
        snapshot = Snapshot(name, dump.manifest.begin.event_id)
        for batch in dump.manifest.batches:
            if batch.name.startswith(WHOLE_TABLES) and any(slice_.table == name for slice_ in batch.slices):
                items = self._items(batch, name)
                for record in dump.objects(files, batch.name):
                    if record.table.name == name:
                        snapshot = snapshot.with_record(record.table, record.partitions, items)
        return snapshot

    def _items(self, batch: Batch, name: TableName) -> dict[str | None, list[SourceFile]]:
        found: dict[str | None, list[SourceFile]] = defaultdict(list)
        for line in unpack_lines(self._ports.dump_files.read(self._dump.layout.files(batch.name))):
            item = CopyItem.from_line(line)
            if item.table == str(name):
                found[item.partition].append(file_of(item))
        return found
