"""One load of a dump under way: files are placed, objects registered; each of its acts can be repeated after a kill."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from twinhive.core.model.batches import slices_of_each_table
from twinhive.core.model.constraints import Constraint
from twinhive.core.model.errors import ActNow, raise_one
from twinhive.core.model.files import join
from twinhive.core.model.marks import Phase, Stamp, without_marks
from twinhive.core.model.objects import Table
from twinhive.core.model.quarantine import with_frozen
from twinhive.core.model.scopes.scope_texts import remembered_scope
from twinhive.core.ports import Lease, WritePorts
from twinhive.core.step.step_base import Detail, Work
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.external.pending_publication import Published
from twinhive.replication.apply.external.pending_store import PendingStore
from twinhive.replication.apply.function_files import FunctionFiles, FunctionSources, LeftOut
from twinhive.replication.apply.functions import Functions
from twinhive.replication.apply.open_target import open_target
from twinhive.replication.apply.table_constraints import constrain
from twinhive.replication.bootstrap.load_external import pending_tables
from twinhive.replication.bootstrap.open_replica import directory_mark, loading_state
from twinhive.replication.bootstrap.place_tables import build, is_in_place, move_in
from twinhive.replication.bootstrap.register_tables import Tables, register_partitions, register_table
from twinhive.replication.dump.dump_layout import VIEWS
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.passes.external_passes import kept_records
from twinhive.replication.dump.shards import TableRecord, unpack_lines
from twinhive.replication.external_tables.pending_index import PendingWaits, Waits
from twinhive.replication.external_tables.publish_tables import publish_ready
from twinhive.replication.notification_log.skipped_events import obeyed_skips
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.operator_requests.request_files import recorded_skips
from twinhive.replication.replica.pending_files import PendingFiles
from twinhive.replication.replica.replica_locations import TablePlacement
from twinhive.replication.replica.sync_records import Synced
from twinhive.transfer.staged.ownership import ownership_of
from twinhive.transfer.staged.staged_files import CopyItem

_REGISTERING = 4
Constraints = tuple[Constraint, ...]


@dataclass(frozen=True)
class LoadingDump:
    """One load under way: every method can be repeated after a kill and goes on where it was."""

    work: Work
    ports: WritePorts
    dump: Dump
    managed_root: str
    lease: Lease
    constrained: list[Table] = field(default_factory=list)

    @property
    def stamp(self) -> Stamp:
        return Stamp(self.dump.manifest.log_id, self.dump.manifest.end.event_id)

    def placement(self, table: Table) -> TablePlacement:
        build_root = join(self.work.policy.staging, "tables", self.dump.key)
        token = self.dump.manifest.token[:8]
        return TablePlacement.plan(table, self.work.policy, self.managed_root, build_root, self.stamp, token)

    def place(self) -> None:
        """Put every table's files into place; a table appears when its last batch is built."""
        remaining = slices_of_each_table(self.dump.manifest.batches)
        mark = directory_mark(self.work.policy, self.dump)
        files = self.ports.replica_files
        for batch in self.dump.manifest.batches:
            items = self._items(batch.name)
            for record in self.dump.objects(self.ports.dump_files, batch.name):
                if record.table.is_external:
                    continue
                placement = self.placement(record.table)
                name = record.table.name
                if not is_in_place(files, placement, mark):
                    self._build(record, placement, items[str(name)])
                    remaining[name] -= 1
                    if remaining[name] == 0:
                        move_in(files, placement, mark, self.lease)

    def _build(self, record: TableRecord, placement: TablePlacement, items: list[CopyItem]) -> None:
        self.lease.confirm()
        try:
            trees, policy = self.ports.trees, self.work.policy
            ownership = ownership_of(policy.options, trees.source, trees.replica)
            build(self.ports.replica_files, record, placement, items, policy.staging, ownership)
        except ActNow:
            # Whoever took the lease over may have cleaned up: then that is what happened, and no file is lost.
            self.lease.confirm()
            raise

    def _items(self, batch: str) -> dict[str, list[CopyItem]]:
        items: dict[str, list[CopyItem]] = defaultdict(list)
        for line in unpack_lines(self.ports.dump_files.read(self.dump.layout.files(batch))):
            item = CopyItem.from_line(line)
            items[item.table].append(item)
        return items

    def register(self) -> tuple[int, int]:
        """Create tables and partitions, several tables at a time: until the end nobody takes them for published.

        Returns how many of each the replica has of this dump.
        """
        tables, per_call = Tables(self.ports.replica), self.work.policy.options.partitions_per_call
        managed = self._remembered(record for record in self._records() if not record.table.is_external)
        # A piece is read when a thread is free for it: how much is in memory does not depend on the table.
        pieces = (piece for record in managed for piece in _pieces(record, per_call))
        done = in_parallel(pieces, _REGISTERING, lambda some: self._register_each(tables, some), "register")
        return sum(one[0] for one in done), sum(one[1] for one in done)

    def _remembered(self, records: Iterable[TableRecord]) -> Iterator[TableRecord]:
        """Pass records on; of tables with constraints remember what is needed to add them."""
        for record in records:
            if record.carries_table and record.table.constraints:
                self.constrained.append(replace(record.table, parameters={}, thrift=""))
            yield record

    def _register_each(self, tables: Tables, records: Iterable[TableRecord]) -> tuple[int, int]:
        count = partitions = 0
        for record in records:
            self._register(tables, record)
            count, partitions = count + record.carries_table, partitions + len(record.partitions)
        return count, partitions

    def _register(self, tables: Tables, record: TableRecord) -> None:
        placement = self.placement(record.table)
        is_new = tables.put(placement.replica)
        if record.partitions:
            register_partitions(self.ports.replica, placement, record.partitions, self.stamp, is_new=is_new)
            line = f"registered {placement.replica.name}: {len(record.partitions)} partitions"
            self.work.report(Detail("Registering partitions", line))

    def _records(self) -> Iterator[TableRecord]:
        for batch in self.dump.manifest.batches:
            yield from self.dump.objects(self.ports.dump_files, batch.name)

    def register_external(self) -> Published:
        """Note all external tables as pending, then create those whose data is there."""
        policy, ports = self.work.policy, self.ports
        records = PendingFiles(ports.replica_files, policy, self.lease)
        batches = slices_of_each_table(self.dump.manifest.batches)
        noted: dict[str, Waits] = {}
        for record in pending_tables(self._records(), self.stamp.event_id, batches):
            records.write(record)
            noted[record.name.table] = Waits.of(record, policy.external)
        synced = Synced(ports.replica_files, policy, SourceLog(ports.source, is_last_try=self.work.is_last_try).has)
        # What the passes before have found equal is in no record where no event had touched it.
        synced.take(kept_records(ports.dump_files, ports.replica_files, policy))
        ready = sorted(table for table, waits in noted.items() if waits.may_end(synced))
        target = open_target(ports, policy, self.dump.manifest.log_id, self.lease)
        into = ExternalTarget(target, PendingStore(records), synced.covers)
        published = publish_ready(into, ready, lambda error: True)  # what a load is refused it leaves out at once
        waiting = {table: noted[table] for table in noted.keys() - set(ready)}
        PendingWaits.load(ports.replica_files, policy, waiting).write(ports.replica_files)
        raise_one(published.refused.values())
        return published

    def constrain(self, some: Callable[[Constraints], Constraints]) -> None:
        """Add constraints of registered tables, those that `some` chooses; foreign keys need all tables and keys."""

        def add(tables: Iterable[Table]) -> None:
            for table in tables:
                for left in constrain(self.ports.replica, table):
                    self.work.report(Detail("What is left out", f"left out: {left}"))

        policy = self.work.policy
        tables = (table.with_constraints(some(table.constraints or ())) for table in self.constrained)
        named = (table.at(policy.on_replica(table.name), None) for table in tables if table.constraints)
        in_parallel(named, _REGISTERING, add, "constrain")

    def register_views(self) -> int:
        """Create the views after all tables, with their partitions."""
        records = self.dump.objects(self.ports.dump_files, VIEWS)
        replica, per_call = self.ports.replica, self.work.policy.options.partitions_per_call
        for record in records:
            placement = TablePlacement.of_view(record.table, self.work.policy, self.stamp)
            is_new = register_table(replica, placement.replica)
            for some in _pieces(record, per_call) if record.partitions else ():
                register_partitions(replica, placement, some.partitions, self.stamp, is_new=is_new)
        if records and self.work.policy.source.database != self.work.policy.replica.database:
            self.work.report("note: the text of views still names the source's database")
        return len(records)

    def register_functions(self) -> None:
        """Create the functions, with their files; one whose files cannot be had stops no load."""
        ports, policy = self.ports, self.work.policy
        sources = FunctionSources(ports.source_files, policy)
        files = FunctionFiles(sources, ports.replica_files, self.lease, self.managed_root)
        functions = Functions(ports.replica, policy.replica.database, files)
        for function in self.dump.manifest.base.functions:
            try:
                functions.put(function, self.stamp.event_id)
            except LeftOut as left:
                self.work.report(Detail("What is left out", f"{left.words.what}; next: {left.words.next_step}"))

    def publish(self) -> int:
        """Say on the replica's database that it follows the source from the dump's event on."""
        policy = self.work.policy
        end = self.dump.manifest.end
        scope = self.dump.manifest.statement.scope or None
        by_file = None if scope else remembered_scope(policy)
        following = replace(loading_state(policy, self.dump), phase=Phase.FOLLOWING, position=end)
        state = replace(following, scope=scope, file_scope=by_file)
        skipped = recorded_skips(obeyed_skips(self.ports, policy), end.event_id)
        parameters = {**without_marks(self.dump.manifest.database.parameters), **skipped, **state.written()}
        for entry in self.dump.manifest.left_out:
            parameters = with_frozen(parameters, entry.frozen, entry.reason) if entry.frozen else parameters
        self.ports.replica.set_database_parameters(policy.replica.database, parameters)
        return end.event_id


def _pieces(record: TableRecord, most: int) -> Iterator[TableRecord]:
    """Cut a record into ones of at most so many partitions."""
    yield replace(record, partitions=record.partitions[:most])
    for start in range(most, len(record.partitions), most):
        yield replace(record, partitions=record.partitions[start : start + most], carries_table=False)
