"""The parts of the stage `list_objects`: the database, tables and partitions of the source into a new dump.

The begin event id is read before the first object, so that replaying the log from there may
repeat a change but never miss one. The dump is written as an attempt and renamed when complete.
"""

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from twinhive.core.model.batches import Batch, Slice, cut_batches, wanted_weight, without_tables
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import InvalidSettings, TwinhiveError, together
from twinhive.core.model.files import Usage
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, SourcePorts
from twinhive.core.step.step_base import Detail
from twinhive.core.step.step_parts import PolicyRun
from twinhive.hive.events.reader import position_at
from twinhive.replication.bootstrap.directory_overlaps import DistinctPlaces
from twinhive.replication.bootstrap.measured_sizes import read_sizes
from twinhive.replication.bootstrap.overlap_candidates import OverlapSuspects
from twinhive.replication.bootstrap.source_database import find_source_database
from twinhive.replication.bootstrap.source_states import current_partitions
from twinhive.replication.dump.dump_layout import VIEWS, DumpKind, DumpLayout, saved_events_directory
from twinhive.replication.dump.dump_ownership import discard_dump
from twinhive.replication.dump.dump_store import Dump, newest_dump
from twinhive.replication.dump.manifest import BaseContent, DumpManifest, LeftOutObject
from twinhive.replication.dump.publishing import begin_attempt, being_written, publish_dump, remove_other_dumps
from twinhive.replication.dump.shards import TableRecord, decode_objects, encode_objects
from twinhive.replication.replica import replica_state
from twinhive.replication.replica.replica_state import already_published, read_state
from twinhive.replication.replica.source_scope import SizedTable, measure, readable_functions, usable_scope
from twinhive.replication.replica.unusable_tables import UnusableTables


@dataclass(frozen=True)
class ObjectsListed:
    """What was listed: the dump's key, the batches to list and copy, what is left out."""

    dump: str
    batches: tuple[Batch, ...]
    left_out: tuple[LeftOutObject, ...] = ()
    already: str | None = None


@dataclass(frozen=True)
class ListStage(PolicyRun):
    """One run of the stage: what its parts have found out and written so far."""

    log_id: str = ""
    dump: Dump | None = None
    result: ObjectsListed | None = None

    @property
    def written(self) -> Dump:
        """The new dump, once it is written."""
        assert self.dump is not None, "the dump is written first"
        return self.dump


def refuse_taken_over(run: ListStage) -> ListStage:
    """Refuse a replica that has taken over from its source. Raises Promoted."""
    replica_state.refuse_taken_over(run.ports.replica.database(run.policy.replica.database), run.policy)
    return replace(run, log_id=run.ports.source.log_id())


def stop_when_published(run: ListStage) -> ListStage:
    """End for a replica that is published already: with the batches of its dump, for cleared tasks to be green for."""
    already = already_published(read_state(run.ports.replica, run.policy, run.log_id))
    if not already:
        return run
    run.work.report(already)
    published = newest_dump(run.ports.dump_files, run.policy)
    batches = published.manifest.batches if published else ()
    return replace(run, result=ObjectsListed(published.key if published else "", batches, already=already))


def write_new_dump(run: ListStage) -> ListStage:
    """Write a dump of all objects. An earlier one is never taken up again: who clears this task wants a new look."""
    ports, policy = run.ports, run.policy
    begin = position_at(ports.source, ports.source.current_event_id())
    layout = DumpLayout.of(policy.dumps, DumpKind.BOOTSTRAP, begin.event_id, begin.event_id)
    known = read_sizes(ports.replica_files, policy)
    return replace(run, dump=write_listing(ports, layout, policy, run.log_id, begin, known=known))


def remove_older_dumps(run: ListStage) -> ListStage:
    """Remove what belongs to dumps before this one: saved events, and dumps that a killed run has left."""
    discard_dump(run.ports.dump_files, saved_events_directory(run.policy.dumps))
    for removed in remove_other_dumps(run.ports.dump_files, run.policy, run.written.layout):
        run.work.report(f"removed the orphaned dump {removed}")
    return run


def say_what_is_listed(run: ListStage) -> ListStage:
    """Say how much there is, and what is left out; end."""
    dump, manifest, report = run.written, run.written.manifest, run.work.report
    slices = [slice_ for batch in manifest.batches for slice_ in batch.slices]
    report(
        f"begin event {manifest.begin.event_id}: {len({slice_.table for slice_ in slices})} tables, "
        f"{sum(slice_.last - slice_.first for slice_ in slices)} partitions, {manifest.base.views} views "
        f"in {len(manifest.batches)} batches"
    )
    for entry in manifest.left_out:
        report(Detail("What is left out", f"left out: {entry.name}: {entry.reason}"))
    return replace(run, result=ObjectsListed(dump.key, manifest.batches, manifest.left_out))


def write_listing(
    ports: SourcePorts,
    layout: DumpLayout,
    policy: Policy,
    log_id: str,
    begin: Position,
    *,
    checks_places: bool = True,
    known: Mapping[TableName, Usage] = MappingProxyType({}),
) -> Dump:
    """Write the dump of all objects in a policy's scope, read from the event `begin` on.

    With `checks_places` an external table for which the policy has no place is refused (InvalidSettings). `known` are
    sizes of tables.
    """
    database = find_source_database(ports.source, policy)
    if isinstance(database, TwinhiveError):
        raise database
    token = uuid.uuid4().hex
    attempt = begin_attempt(ports.dump_files, policy, token)
    with being_written(ports.dump_files, attempt):
        unusable = UnusableTables(policy)
        scope = usable_scope(ports.source, ports.source_files.root, policy, unusable)
        sized = measure(ports.source, ports.source_files, scope.tables, known, unusable)
        sizes, most = [table.size for table in sized.values()], policy.options.batch_bytes
        batches = cut_batches(sizes, most_objects=policy.options.batch_objects, most_weight=most)
        DistinctPlaces().check_tables(scope.managed)
        writing = _Writing(ports, policy, attempt, begin.event_id, unusable)
        batches = writing.batches(sized, batches, checks_places=checks_places)
        views = writing.views(scope.views)
        functions, unread = readable_functions(ports.source, policy.source.database)
        unusable.add_functions(unread)
        unusable.refuse()
    manifest = DumpManifest(
        kind=DumpKind.BOOTSTRAP,
        token=token,
        policy=policy.name,
        fingerprint=policy.fingerprint,
        log_id=log_id,
        begin=begin,
        end=begin,
        database=database,
        batches=batches,
        left_out=(*scope.left_out, *unusable.left_out()),
        content=BaseContent(
            views=views,
            functions=functions,
            foreign_keys=tuple(
                pair for name, one in sized.items() if name not in unusable for pair in one.table.foreign_keys
            ),
        ),
        batch_weight=wanted_weight(sizes, most),
    )
    return publish_dump(ports.dump_files, attempt, layout, manifest)


@dataclass(frozen=True)
class _Writing:
    """The objects of a dump while they are read and written, from the event `begin` on."""

    ports: SourcePorts
    policy: Policy
    attempt: DumpLayout
    begin: int
    unusable: UnusableTables

    def batches(
        self, sized: Mapping[TableName, SizedTable], batches: Sequence[Batch], *, checks_places: bool
    ) -> tuple[Batch, ...]:
        """Write the batches; return them without what is unusable. Raises InvalidSettings with places of nobody's."""
        suspects, nobodys = OverlapSuspects(), list[InvalidSettings]()
        for batch in batches:
            records = self._by_now(self._slice(sized[slice_.table], slice_) for slice_ in batch.slices)
            nobodys += _check_places(self.policy, records, suspects, checks_places=checks_places)
            self.ports.dump_files.write(self.attempt.objects(batch.name), encode_objects(records))
        if nobodys:
            raise together(nobodys, f"{len(nobodys)} places of external tables of {self.policy.source}")
        return self._usable(batches, suspects.tables)

    def _usable(self, batches: Sequence[Batch], suspects: Collection[TableName]) -> tuple[Batch, ...]:
        """Take what became unusable after its first slices were written out of their batches."""
        files, names = self.ports.dump_files, self.unusable.names
        kept = without_tables(batches, names)
        for batch in kept:
            records = decode_objects(files.read(self.attempt.objects(batch.name))) if batch not in batches else []
            if records:
                usable = [record for record in records if record.table.name not in names]
                files.write(self.attempt.objects(batch.name), encode_objects(usable))
        _check_overlaps(files, self.attempt, kept, [name for name in suspects if name not in names])
        return kept

    def views(self, views: Iterable[Table]) -> int:
        """Write the views; return how many there are."""
        read = self._by_now(map(self._view, views))
        self.ports.dump_files.write(self.attempt.objects(VIEWS), encode_objects(read))
        return len(read)

    def _by_now(self, records: Iterable[TableRecord | None]) -> list[TableRecord]:
        """Write into records the newest event after the last of them was read: one question for all."""
        read = [record for record in records if record is not None]
        newest = self.ports.source.current_event_id()
        return [replace(record, hi=newest) for record in read]

    def _view(self, view: Table) -> TableRecord | None:
        with self.unusable.if_unusable(view.name):
            partitions = current_partitions(self.ports.source, view, None, self.policy.options.partitions_per_call)
            return TableRecord(view, tuple(partitions), True, self.begin, self.begin)
        return None

    def _slice(self, sized: SizedTable, slice_: Slice) -> TableRecord | None:
        """Read the partitions of one slice; those dropped since are missing, and their events tell."""
        per_call, names = self.policy.options.partitions_per_call, sized.partitions[slice_.first : slice_.last]
        with self.unusable.if_unusable(slice_.table):
            partitions = [
                partition
                for start in range(0, len(names), per_call)
                for partition in self.ports.source.partitions(slice_.table, names[start : start + per_call])
            ]
            self.unusable.check_places(sized.table, partitions, self.ports.source_files.root)
            return TableRecord(sized.table, tuple(partitions), slice_.is_first, self.begin, self.begin)
        return None


def _check_places(
    policy: Policy, records: Iterable[TableRecord], suspects: OverlapSuspects, *, checks_places: bool
) -> Iterator[InvalidSettings]:
    for record in records:
        if not record.table.is_external:
            suspects.look_at(record.table, record.partitions)
        elif checks_places:
            yield from _check_external(policy, record)


def _check_overlaps(
    files: FileReader, attempt: DumpLayout, batches: Iterable[Batch], suspects: Collection[TableName]
) -> None:
    """Raise for managed partitions that overlap; only tables that may have such ones are looked at."""
    for name in sorted(suspects):
        places = DistinctPlaces()
        for batch in batches:
            if any(slice_.table == name for slice_ in batch.slices):
                for record in decode_objects(files.read(attempt.objects(batch.name))):
                    if record.table.name == name:
                        places.check_partitions(record.table, record.partitions)
        places.check_nesting()


def _check_external(policy: Policy, record: TableRecord) -> Iterator[InvalidSettings]:
    """Yield an error where a table, or the first of its partitions, lies where the policy says nothing of."""
    table, external = record.table, policy.external
    try:
        if table.location and record.carries_table:
            external.place(table.location, f"table {table.name}")
        for partition in record.partitions:
            if partition.location:
                external.place(partition.location, f"partition {partition.name(table.partition_keys)} of {table.name}")
    except InvalidSettings as problem:
        yield problem
