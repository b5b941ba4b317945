"""Read single tables as they are at the end of a window, to be resynced (`twinhive resync`)."""

from collections.abc import Sequence
from dataclasses import replace

from twinhive.core.model.batches import Batch
from twinhive.core.model.changes.contents import Shard, TableState
from twinhive.core.model.errors import Missing
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import MetastoreReader, ReadPorts, SourcePorts
from twinhive.hive.events.decoder import decode_event
from twinhive.replication.bootstrap.dump_states import write_states
from twinhive.replication.bootstrap.fold import fold
from twinhive.replication.bootstrap.source_states import read_state_of, settle
from twinhive.replication.comparison.leaf_actions import LeafAction
from twinhive.replication.comparison.leaf_reader import sides_of
from twinhive.replication.comparison.leaf_records import OWN_LEAF
from twinhive.replication.comparison.reconcile_table import plan_table
from twinhive.replication.dump.dump_layout import WHOLE_TABLES, DumpLayout
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.incremental.table_plans import write_plan
from twinhive.replication.incremental.tables_to_resync import with_renames
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.operator_requests.request_files import is_repair


def first_tables(ports: SourcePorts, policy: Policy, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return as many of the tables, in order, as one window brings over, at least one."""
    there = {table.name.table: table for table in ports.source.tables(policy.source.database, wanted)}
    taken: list[str] = []
    partitions = 0
    for name in wanted:
        table = there.get(name)
        partitions += _partitions(ports.source, table) if table and table.partition_keys else 1
        if taken and partitions > policy.options.window_partitions:
            break
        taken.append(name)
    return tuple(taken)


def _partitions(source: MetastoreReader, table: Table) -> int:
    try:
        return len(source.partition_names(table.name))
    except Missing:
        return 1  # it was dropped meanwhile: that is found when it is read


def write_snapshots(
    stream: EventStream, attempt: DumpLayout, event_range: EventRange, wanted: tuple[str, ...]
) -> tuple[EventRange, tuple[Batch, ...], tuple[str, ...]]:
    """Write tables into a window's dump.

    Return the window, which now ends where they are exact, their batches, and the tables: the wanted
    ones and those that the window's renames link them to. A table that the source does not have gets
    no batch: it is removed from the replica.
    """
    taken = wanted
    while True:
        window, batches = _write(stream, attempt, event_range, taken)
        linked = with_renames(stream.policy, (decode_event(row).change for row in window.rows), taken)
        if linked == set(taken):
            return window, batches, taken
        taken = tuple(sorted(linked))


def _write(
    stream: EventStream, attempt: DumpLayout, event_range: EventRange, wanted: tuple[str, ...]
) -> tuple[EventRange, tuple[Batch, ...]]:
    ports, policy = stream.ports, stream.policy
    names = {TableName(policy.source.database, table) for table in wanted}
    names_lo = ports.source.current_event_id()
    read = {name: read_state_of(ports, name, policy.options.partitions_per_call) for name in sorted(names)}
    shard = Shard({name: state for name, state in read.items() if state is not None}, names_lo)
    later = stream.all_after(event_range.end)
    shard = _follow(names, _follow(names, shard, event_range), later)
    rows = [*event_range.rows, *later.rows]

    def follow(shard: Shard, some: EventRange) -> Shard:
        rows.extend(some.rows)
        return _follow(names, shard, some)

    shard, end = settle(stream, shard, later.end, follow)
    read_states = [state for name, state in sorted(shard.tables.items()) if policy.left_out(state.table) is None]
    states = [_only_what_differs(stream, attempt, state) for state in read_states]
    batches = write_states(ports.dump_files, attempt, policy, states, WHOLE_TABLES, end.event_id)
    return EventRange(event_range.begin, end, tuple(rows)), batches


def _only_what_differs(stream: EventStream, attempt: DumpLayout, state: TableState) -> TableState:
    """Return what a window has to bring of a table: of one that is repaired, what is not equal on the replica."""
    ports, policy, table = stream.ports, stream.policy, state.table.name.table
    if not isinstance(ports, ReadPorts) or not is_repair(ports.replica_files, policy, table):
        return state
    plan = plan_table(sides_of(ports, policy), state)
    if plan is None:
        return state
    write_plan(ports.dump_files, attempt, plan)
    changed = {*plan.those(LeafAction.ADD, LeafAction.REPLACE, LeafAction.ALTER)}
    partitions = {
        name: one if plan.needs_files(name) else replace(one, content=replace(one.content, files={}))
        for name, one in state.partitions.items()
        if name in changed
    }
    content = state.content if plan.needs_files(OWN_LEAF) else replace(state.content, files={})
    return replace(state, partitions=partitions, content=content)


def _follow(names: set[TableName], shard: Shard, event_range: EventRange) -> Shard:
    folded = fold(shard, (decode_event(row) for row in event_range.rows))
    return Shard({name: state for name, state in folded.tables.items() if name in names}, folded.names_lo)
