"""One window while it is applied: its events, then the tables that come whole, then its end."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import takewhile

from twinhive.core.model.batches import Batch
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import FILE_SCOPE, SCOPE, SCOPE_BEFORE
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters
from twinhive.core.model.policy import Policy
from twinhive.core.model.scopes.scope_texts import remembered_scope
from twinhive.core.model.text import Text
from twinhive.core.ports import WritePorts
from twinhive.core.step.metadata_only import without_files
from twinhive.core.step.step_base import Detail, Work
from twinhive.replication.apply.append_rollback import take_back
from twinhive.replication.apply.apply_failures import Quarantine
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.excluded_tables import drop_excluded
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.external.pending_store import PendingStore
from twinhive.replication.apply.lane import Applied, Lane, WatchActions, unwatched
from twinhive.replication.apply.resync.database_repair import repair_database
from twinhive.replication.apply.resync.table_repair import repair_table
from twinhive.replication.apply.resync.table_resync import WholeTable, replace_table
from twinhive.replication.apply.target import Target
from twinhive.replication.dump.dump_layout import WHOLE_TABLES
from twinhive.replication.dump.dump_remainder import leads_away_from
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.shards import unpack_lines
from twinhive.replication.external_tables.publish_pending import publish
from twinhive.replication.incremental.external_mode_change import remember_class
from twinhive.replication.incremental.resync_filter import beside_whole
from twinhive.replication.incremental.table_plans import read_plan
from twinhive.replication.notification_log.skipped_events import skips_of_window
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.notification_log.window_events import told_events
from twinhive.replication.operator_requests.request_files import everything_is_done, recorded_skips, table_is_done
from twinhive.replication.replica.begun_window import note_begun_window
from twinhive.replication.replica.pending_files import PendingFiles
from twinhive.replication.replica.sync_records import Synced
from twinhive.transfer.staged.staged_files import CopyItem


class Applying:
    """One window under way; `watch` is told what becomes of each action. No event after `until` is applied.

    No table is frozen for an error of another kind than `freezes`.
    """

    def __init__(
        self,
        work: Work,
        ports: WritePorts,
        dump: Dump,
        target: Target,
        watch: WatchActions = unwatched,
        until: int | None = None,
        freezes: type[ActNow] = ActNow,
    ) -> None:
        policy = work.policy
        database = ports.replica.database(policy.replica.database)
        assert database is not None, "read_state has seen it"
        self._work = work
        self._ports = ports
        self._dump = dump
        self._target = target
        self._pending = PendingStore(PendingFiles(ports.replica_files, policy, target.lease))
        self._progress = Progress(
            ports.replica,
            database.name,
            _with_file_scope(policy, dump, database.parameters),
            write_first=self._pending.flush,
        )
        self._quarantine = Quarantine(policy, self._progress, is_last_try=work.is_last_try, freezes=freezes)
        self._synced = Synced(ports.replica_files, policy, SourceLog(ports.source, is_last_try=work.is_last_try).has)
        self._external = ExternalTarget(self._target, self._pending, self._synced.covers)
        self._watch = watch
        self._until = dump.manifest.end.event_id if until is None else until
        self._skipped = skips_of_window(ports, policy, dump)

    @property
    def target(self) -> Target:
        """The replica that is changed."""
        return self._target

    @property
    def position(self) -> Position:
        """The event that the replica is at."""
        return self._progress.position

    def drop_excluded(self) -> None:
        """Drop what a statement's change of the policy (REPLACE) does not select any more.

        First the replica says between which scopes it is: until `finish` only such a load may go on with it. So it
        does where tables come whole at the end, because the position passes events on them before.
        """
        said = self._dump.manifest.statement
        before = leads_away_from(self._work.policy, self._dump.manifest)
        if before is not None:
            between = {SCOPE: said.scope, SCOPE_BEFORE: before}
            self._progress.set_parameters({**self._progress.parameters, **between})
        if said.replaces:
            for table in drop_excluded(self._external, self._progress):
                self._work.report(f"dropped {table}: the policy does not select it any more")

    def record_skipped(self) -> None:
        """Note which events a person has skipped: once the position has passed them, nobody else knows."""
        new = recorded_skips(self._skipped, self._dump.manifest.end.event_id)
        if new.keys() - self._progress.parameters.keys():
            self._progress.set_parameters({**self._progress.parameters, **new})

    def apply_events(self, lost: dict[int, Text]) -> Applied:
        """Apply the events that are not on the replica; `lost` are those whose files are gone, with the reasons."""
        manifest = self._dump.manifest
        # A window is cut for one consistency; of a statement's dump the load says it.
        consistency = self._work.policy.options.consistency if manifest.statement.scope else manifest.window.consistency
        self._target.lease.confirm()
        note_begun_window(self._ports.replica_files, self._work.policy, manifest.end.event_id)
        lane = Lane(self._target, self._progress, self._quarantine, self._external, lost, self._watch)
        return lane.apply(self._events(), frozenset(manifest.window.cascades), frozenset(self._skipped), consistency)

    def replace_whole(self) -> None:
        """Replace the tables that come whole; their requests are answered."""
        for table in self._dump.manifest.window.snapshots:
            self._replace(table)
            table_is_done(self._ports.replica_files, self._work.policy, table)
        window, manifest = self._dump.manifest.window, self._dump.manifest
        if window.everything:
            source, event_id, is_final = manifest.database, manifest.end.event_id, self._quarantine.is_final
            for line in repair_database(self._target, self._progress, source, window.functions, event_id, is_final):
                self._work.report(line)

    def finish(self) -> None:
        """Write the window's end as the replica's position, and the records of what waits for data."""
        policy, manifest = self._work.policy, self._dump.manifest
        remember_class(policy, self._progress, of_statement=bool(manifest.statement.scope))
        if manifest.statement.scope:
            gone = (SCOPE_BEFORE, FILE_SCOPE)
            kept = {key: value for key, value in self._progress.parameters.items() if key not in gone}
            self._progress.set_parameters({**kept, SCOPE: manifest.statement.scope}, manifest.end)
        self._progress.write(manifest.end)
        self._pending.flush()
        # Last: until then a run that is killed finds the request, and compares again.
        everything_is_done(self._ports.replica_files, policy, manifest.window.everything)

    def stop_at(self, position: Position) -> None:
        """Write the position of an event of the window after which nothing is applied."""
        self._progress.write(position)
        self._pending.flush()

    def give_up(self) -> tuple[Position, list[str]]:
        """Leave the replica at the last event that is applied as a whole; return it, and files that were taken back.

        Of `consistency: window_end` nothing is taken back: between two ends of segments no event is the last one.
        """
        self._progress.before_removal()
        self._pending.flush()
        position = self._progress.position
        if not self._progress.in_order:
            return position, []
        later = (event for event in self._told() if event.event_id > position.event_id)
        return position, take_back(self._target, later)

    def publish(self) -> tuple[str, ...]:
        """Publish what waited for its data; return the tables that wait since this window.

        After the position: what is published now is no event's that could come again.
        """
        began = self._pending.changed
        left = publish(self._external, self._synced, self._quarantine, self._work.report)
        return tuple(table for table in began if table in left)

    def _replace(self, table: str) -> None:
        end, token = self._dump.manifest.end, self._dump.manifest.token[:8]
        # Outside of what is caught: a dump that was replaced is no table's trouble.
        plan, snapshot = read_plan(self._ports.dump_files, self._dump.layout, table), self._snapshot(table)
        try:
            if plan is None:
                left_out = replace_table(self._external, self._progress, snapshot, end, token)
            else:
                left_out = repair_table(self._target, self._progress, snapshot, plan, end, token)
                for line in plan.lines():
                    self._work.report(Detail("What was repaired", line))
        except ActNow as error:
            if not self._quarantine.accepts(error):
                raise
            self._quarantine.freeze(table, error)
            self._work.report(f"{table} is frozen: " + error.what)
            return
        self._work.report(f"{table} was brought over as it is at event {end.event_id}")
        for constraint in left_out:
            self._work.report(f"left out: {constraint}")

    def _events(self) -> Iterator[Event]:
        """Yield the window's events without those of tables that are resynced at its end."""
        for event in takewhile(lambda told: told.event_id <= self._until, self._told()):
            left = without_files(event) if self._dump.manifest.statement.metadata_only else event
            if left is not None:
                yield left

    def _told(self) -> Iterator[Event]:
        for event in told_events(self._ports.dump_files, self._dump.layout):
            left = beside_whole(self._work.policy, event, self._dump.manifest.window.snapshots)
            if left is not None:
                yield left

    def _snapshot(self, table: str) -> WholeTable:
        """Collect what the dump holds of one table."""
        dump, files = self._dump, self._ports.dump_files
        name = TableName(self._work.policy.source.database, table)
        snapshot = WholeTable(name, dump.manifest.begin.event_id)
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
                found[item.partition].append(item.file)
        return found


def _with_file_scope(policy: Policy, dump: Dump, parameters: Parameters) -> Parameters:
    """Return what a window writes with its position; where no statement has said a scope, the file's goes along."""
    if dump.manifest.statement.scope or SCOPE in parameters:
        return parameters
    kept = {key: value for key, value in parameters.items() if key != FILE_SCOPE}
    scope = remembered_scope(policy)
    return kept if scope is None else {**kept, FILE_SCOPE: scope}
