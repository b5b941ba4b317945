"""The parts of the stage `list_objects`: the database, tables and partitions of the source into a new dump.

The begin event id is read before the first object, so that replaying the log from there may
repeat a change but never miss one. The dump is written as an attempt and renamed when complete.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from twinhive.core.model.batches import Batch, Slice, cut_batches, wanted_weight
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import Usage
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, MetastoreReader, SourcePorts
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
from twinhive.replication.replica.source_scope import SizedTable, measure, read_scope


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
        scope = read_scope(ports.source, policy)
        sized = measure(ports.source, ports.source_files, scope.tables, known)
        sizes, most = [table.size for table in sized.values()], policy.options.batch_bytes
        batches = cut_batches(sizes, most_objects=policy.options.batch_objects, most_weight=most)
        DistinctPlaces().check_tables(scope.managed)
        _write_batches(ports, policy, attempt, sized, batches, begin.event_id, checks_places=checks_places)
        views = _write_views(ports, policy, attempt, scope.views, begin.event_id)
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
        left_out=scope.left_out,
        content=BaseContent(
            views=views,
            functions=tuple(ports.source.functions(policy.source.database)),
            foreign_keys=tuple(pair for one in sized.values() for pair in one.table.foreign_keys),
        ),
        batch_weight=wanted_weight(sizes, most),
    )
    return publish_dump(ports.dump_files, attempt, layout, manifest)


def _write_batches(
    ports: SourcePorts,
    policy: Policy,
    attempt: DumpLayout,
    sized: Mapping[TableName, SizedTable],
    batches: Collection[Batch],
    event_id: int,
    *,
    checks_places: bool,
) -> None:
    suspects = OverlapSuspects()
    for batch in batches:
        records = _read_batch(ports.source, sized, batch, policy.options.partitions_per_call, event_id)
        _check_places(policy, records, suspects, checks_places=checks_places)
        ports.dump_files.write(attempt.objects(batch.name), encode_objects(records))
    _check_overlaps(ports.dump_files, attempt, batches, suspects.tables)


def _write_views(ports: SourcePorts, policy: Policy, attempt: DumpLayout, views: Iterable[Table], event_id: int) -> int:
    """Write the views; return how many there are."""
    per_call = policy.options.partitions_per_call
    read = _read_by_now(ports.source, [_read_view(ports.source, view, per_call, event_id) for view in views])
    ports.dump_files.write(attempt.objects(VIEWS), encode_objects(read))
    return len(read)


def _check_places(
    policy: Policy, records: Iterable[TableRecord], suspects: OverlapSuspects, *, checks_places: bool
) -> None:
    for record in records:
        if not record.table.is_external:
            suspects.look_at(record.table, record.partitions)
        elif checks_places:
            _check_external(policy, record)


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


def _check_external(policy: Policy, record: TableRecord) -> None:
    """Raise InvalidSettings for a table or partition whose data is where the policy says nothing of."""
    name, external = record.table.name, policy.external
    if record.table.location:
        external.place(record.table.location, f"table {name}")
    for partition in record.partitions:
        if partition.location:
            external.place(partition.location, f"partition {partition.name(record.table.partition_keys)} of {name}")


def _read_batch(
    source: MetastoreReader, sized: Mapping[TableName, SizedTable], batch: Batch, per_call: int, begin: int
) -> list[TableRecord]:
    return _read_by_now(
        source, [_read_slice(source, sized[slice_.table], slice_, per_call, begin) for slice_ in batch.slices]
    )


def _read_by_now(source: MetastoreReader, records: list[TableRecord]) -> list[TableRecord]:
    """Write into records the newest event after the last of them was read: one question for all."""
    newest = source.current_event_id()
    return [replace(record, hi=newest) for record in records]


def _read_view(source: MetastoreReader, view: Table, per_call: int, begin: int) -> TableRecord:
    partitions = current_partitions(source, view, None, per_call)
    return TableRecord(view, tuple(partitions), True, begin, begin)


def _read_slice(source: MetastoreReader, sized: SizedTable, slice_: Slice, per_call: int, begin: int) -> TableRecord:
    """Read the partitions of one slice; those dropped since are missing, and their events tell."""
    names = sized.partitions[slice_.first : slice_.last]
    partitions = [
        partition
        for start in range(0, len(names), per_call)
        for partition in source.partitions(slice_.table, names[start : start + per_call])
    ]
    return TableRecord(sized.table, tuple(partitions), slice_.is_first, begin, begin)
