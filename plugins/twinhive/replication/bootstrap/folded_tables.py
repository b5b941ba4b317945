"""The tables of a dump that events have touched, while they are brought up to one event.

What no event has touched keeps its shards; the tables that were touched are read from the dump, folded, read again
where the log does not spell things out, and written as new batches.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import count

from twinhive import __version__
from twinhive.core.model.batches import Batch
from twinhive.core.model.changes.affected_objects import tables_of, unlinked
from twinhive.core.model.changes.contents import Content, PartitionState, Shard, TableState
from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.constraints import referring
from twinhive.core.model.names import TableName
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_types import OF_FUNCTIONS
from twinhive.replication.bootstrap.dump_states import batches_with, object_bound, read_states, write_states
from twinhive.replication.bootstrap.fold import fold
from twinhive.replication.bootstrap.folded_manifest import (
    database_after,
    foreign_keys_after,
    functions_after,
    left_out_after,
    still_left_out,
)
from twinhive.replication.bootstrap.multi_batch_tables import WideTable, partitions_concerned, wide_tables
from twinhive.replication.bootstrap.source_states import settle
from twinhive.replication.dump.dump_layout import VIEWS, DumpKind, DumpLayout
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.publishing import begin_attempt, being_written, publish_dump
from twinhive.replication.dump.shards import TableRecord, encode_objects
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.replica.unusable_tables import UnusableTables


class Folding:
    """Hold the tables of a dump that events have touched, while they are brought up to one event."""

    def __init__(self, stream: EventStream, dump: Dump) -> None:
        self._stream = stream
        self._ports = stream.ports
        self._policy = stream.policy
        self._dump = dump
        records = dump.objects(self._ports.dump_files, VIEWS)
        views = {record.table.name: _view_state(record, dump) for record in records}
        # What is known of the names of tables is as old as the first reading.
        self.shard = Shard(dict(views), dump.manifest.end.event_id)
        self._loaded: set[TableName] = set()
        self._wide = wide_tables(dump)
        self._parts: dict[TableName, WideTable] = {}
        self._doubted: set[TableName] = set()
        self._unusable = UnusableTables(stream.policy)
        self._children = referring(dump.manifest.base.foreign_keys)
        self._end = dump.manifest.end
        self._database = dump.manifest.database
        self._functions = dump.manifest.base.functions
        self._left_out = dump.manifest.left_out
        self.events = 0
        """How many events were folded. They are not kept: there may be millions of them since the dump began."""

    def consolidate(self, gone: Collection[str]) -> Dump:
        """Do a round: fold all that the log holds after the dump's end, read again what is unsure, write a new dump.

        The files of the batches that are `gone` are listed again.
        """
        self.doubt(gone)
        for event_range in self._stream.event_ranges_after(self._end):
            self.follow(event_range)
        return self.write(self.settle(self._end))

    def doubt(self, batches: Collection[str]) -> None:
        """List the files of some batches again: what was listed is not there any more. To be said before any event."""
        some = [batch for batch in self._dump.manifest.batches if batch.name in batches]
        # All of them first: reading one batch reads whole tables of others with it.
        self._doubted |= {slice_.table for batch in some for slice_ in batch.slices}
        for batch in some:
            self._doubt(batch)

    def _doubt(self, batch: Batch) -> None:
        for name in sorted({slice_.table for slice_ in batch.slices}):
            if name not in self._wide:
                self.load({name})
            else:
                wide, state = self._known_of(name)
                self._parts[name], state = wide.with_batch(self._ports.dump_files, self._dump, batch, state)
                self._put(name, _doubted(state))

    def _known_of(self, name: TableName) -> tuple[WideTable, TableState]:
        """Return what is known of a table of many batches: nothing of its partitions when it is first asked for."""
        if name in self._parts:
            return self._parts[name], self.shard.tables[name]
        return WideTable.read(self._ports.dump_files, self._dump, self._wide[name])

    def _put(self, name: TableName, state: TableState) -> None:
        self.shard = replace(self.shard, tables={**self.shard.tables, name: state})

    def settle(self, end: Position) -> Position:
        """Read again what is unsure; tables that events touch meanwhile join in."""
        self.shard, end = settle(self._stream, self.shard, end, self._follow, self._unusable)
        for name in self._unusable.names - self.shard.tables.keys():
            # Nothing of it is taken over from the dump.
            self._parts.pop(name, None)
            self._loaded.add(name)
        self._unusable.refuse()
        return end

    def follow(self, event_range: EventRange) -> None:
        """Fold a range of events; the tables it touches are read from the dump first."""
        events = list(self._decoded(event_range.rows))
        self._read_for(events)
        folded = fold(self.shard, events)
        inside = {name: state for name, state in folded.tables.items() if self._policy.follows(name)}
        self._left_out = still_left_out(self._left_out, events)
        self.shard = replace(folded, tables=inside)
        self._database = database_after(self._database, events)
        self._functions = functions_after(self._functions, events)
        self.events += len(events)
        self._end = event_range.end

    def _decoded(self, rows: Iterable[EventRow]) -> Iterator[Event]:
        """Yield what events say, but for those of functions that cannot be read: such a function is left out."""
        for row in rows:
            try:
                yield decode_event(row)
            except UnreadableEvent as error:
                if row.event_type not in OF_FUNCTIONS or not self._unusable.goes_on:
                    raise
                self._unusable.add_function_of(row.event_id, error)

    def _read_for(self, events: list[Event]) -> None:
        """Read what events are about: tables of many batches by the partitions that are named, all others whole.

        Foreign keys go with what they refer to: so tables that refer to what loses its keys are read too.
        """
        parts: dict[TableName, set[str]] = defaultdict(set)
        whole: set[TableName] = set()
        for event in events:
            named = partitions_concerned(event.change)
            for name in tables_of(event.change):
                if named is None or name not in self._wide:
                    whole.add(name)
                else:
                    parts[name] |= named
            for child in self._children.get(unlinked(event.change), ()):
                if child in self._wide:
                    parts[child] |= frozenset()
                else:
                    whole.add(child)
        self.load(whole)
        for name in sorted(parts.keys() - self._loaded):
            wide, known = self._known_of(name)
            named, files = frozenset(parts[name]), self._ports.dump_files
            self._parts[name], state = wide.with_names(files, self._dump, named, known)
            self._put(name, state)

    def load(self, names: set[TableName]) -> None:
        """Read tables from the dump's shards; with them whatever shares a batch, to be written anew.

        One of which some partitions were read so far is read whole, and what events have said of it is folded again.
        """
        wanted = names - self._loaded
        again = wanted & self._parts.keys()
        for name in again:
            del self._parts[name]
        left = {name: state for name, state in self.shard.tables.items() if name not in again}
        self.shard = replace(self.shard, tables=left)
        batches = batches_with(self._dump, wanted)
        found = read_states(self._ports.dump_files, self._dump, batches_with(self._dump, _all_of(batches)))
        fresh = {
            name: _doubted(state) if name in self._doubted else state
            for name, state in found.items()
            if name not in self._loaded
        }
        self.shard = replace(self.shard, tables={**fresh, **self.shard.tables})
        self._loaded |= wanted | fresh.keys()
        if again:
            self._fold_again(again)

    def _fold_again(self, names: set[TableName]) -> None:
        """Fold once more what was folded so far of some tables, from the log: that happens to few of them."""
        alone = Shard({name: self.shard.tables[name] for name in names}, self.shard.names_lo)
        alone = fold(alone, self._folded_so_far(names))
        self.shard = replace(self.shard, tables={**self.shard.tables, **alone.tables})

    def _folded_so_far(self, names: set[TableName]) -> Iterator[Event]:
        for row in self._stream.rows_after(self._dump.manifest.end):
            if row.event_id > self._end.event_id:
                return
            if row.event_type in OF_FUNCTIONS:
                continue
            event = decode_event(row)
            if names.intersection(tables_of(event.change)):
                yield event

    def _follow(self, shard: Shard, event_range: EventRange) -> Shard:
        self.shard = shard
        self.follow(event_range)
        return self.shard

    def _write_wide(self, attempt: DumpLayout, prefix: str, end: int) -> list[Batch]:
        """Write those batches of wide tables in which partitions have changed."""
        files, most = self._ports.dump_files, self._policy.options.batch_objects
        names = (f"{prefix}w{number:04d}" for number in count(1))
        return [
            batch
            for name, wide in sorted(self._parts.items())
            for batch in wide.write(files, self._dump, attempt, self.shard.tables[name], names, end, most)
        ]

    @property
    def kept(self) -> list[Batch]:
        """The batches of the dump that no event has touched."""
        tables = self.shard.tables
        touched = {batch.name for name, wide in self._parts.items() for batch in wide.rewritten(tables[name])}
        return [
            batch
            for batch in self._dump.manifest.batches
            if batch.name not in touched and not any(slice_.table in self._loaded for slice_ in batch.slices)
        ]

    def write(self, end: Position) -> Dump:
        """Write the new dump: shards of untouched batches as they are, the others as new batches."""
        ports, policy, old = self._ports, self._policy, self._dump
        token = uuid.uuid4().hex
        attempt = begin_attempt(ports.dump_files, policy, token)
        base = old.manifest.base
        number = base.round + 1
        kept, touched = self.kept, self._loaded | self._parts.keys()
        with being_written(ports.dump_files, attempt):
            for batch in kept:
                for path in (old.layout.objects, old.layout.files, old.layout.summary):
                    there = path(batch.name)
                    copy = attempt.directory + there.removeprefix(old.layout.directory)
                    ports.dump_files.write(copy, ports.dump_files.read(there))
            wide = self._write_wide(attempt, f"r{number:02d}", end.event_id)
            whole = (state for name, state in self.shard.tables.items() if name not in self._parts)
            states = sorted(whole, key=lambda state: state.table.name)
            followed = [state for state in states if policy.left_out(state.table) is None]
            tables = [state for state in followed if state.table.kind.has_files]
            views = [state for state in followed if not state.table.kind.has_files]
            new = write_states(ports.dump_files, attempt, policy, tables, f"r{number:02d}", end.event_id)
            records = [_view_record(view, end) for view in views]
            ports.dump_files.write(attempt.objects(VIEWS), encode_objects(records))
        manifest = replace(
            old.manifest,
            kind=DumpKind.CONSOLIDATE,
            token=token,
            end=end,
            database=self._database,
            batches=(*kept, *wide, *new),
            content=replace(
                base,
                functions=self._functions,
                foreign_keys=foreign_keys_after(base.foreign_keys, touched, self.shard.tables.values()),
                views=len(views),
                round=number,
            ),
            left_out=left_out_after(policy, (*self._left_out, *self._unusable.left_out()), states),
            version=__version__,
            events=self.events,
        )
        layout = DumpLayout.of(policy.dumps, DumpKind.CONSOLIDATE, old.manifest.begin.event_id, end.event_id)
        return publish_dump(ports.dump_files, attempt, layout, manifest)


def _view_state(record: TableRecord, dump: Dump) -> TableState:
    lo = object_bound(dump, record)
    keys, nothing = record.table.partition_keys, Content(lo)
    partitions = {one.name(keys): PartitionState(one, lo, nothing) for one in record.partitions}
    return TableState(record.table, lo, nothing, partitions, lo, constraints_lo=lo)


def _view_record(state: TableState, end: Position) -> TableRecord:
    partitions = tuple(state.partitions[name].partition for name in sorted(state.partitions))
    return TableRecord(state.table, partitions, True, end.event_id, end.event_id)


def _all_of(batches: list[Batch]) -> set[TableName]:
    return {slice_.table for batch in batches for slice_ in batch.slices}


def _doubted(state: TableState) -> TableState:
    """Mark all lists of files of a table to be made again, whatever events have named."""
    partitions = {
        name: replace(one, content=Content(one.content.lo, unsure=True)) for name, one in state.partitions.items()
    }
    return replace(state, content=Content(state.content.lo, unsure=True), partitions=partitions)
