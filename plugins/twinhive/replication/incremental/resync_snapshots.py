"""Read single tables as they are at the end of a window, to be resynced (`twinhive resync`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
from twinhive.replication.replica.source_scope import readable_tables
from twinhive.replication.replica.unusable_tables import UnusableTables


def first_tables(ports: SourcePorts, policy: Policy, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return as many of the tables, in order, as one window brings over, at least one."""
    # Of what cannot be read it is found when it is read whole.
    readable, _ = readable_tables(ports.source, policy.source.database, wanted)
    there = {table.name.table: table for table in readable}
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


@dataclass(frozen=True)
class TableSnapshots:
    """Tables in a window's dump.

    event_range  the window, which now ends where they are exact
    batches      what they hold
    tables       their names: the wanted ones, and those that the window's renames link them to. One that the source
                 does not have has no batch: it is removed from the replica
    unusable     those of which nothing can be brought over now, each with the reason: the replica's stay as they are
    """

    event_range: EventRange
    batches: tuple[Batch, ...]
    tables: tuple[str, ...]
    unusable: Mapping[str, str]


def write_snapshots(
    stream: EventStream, attempt: DumpLayout, event_range: EventRange, wanted: tuple[str, ...]
) -> TableSnapshots:
    """Write tables into a window's dump. Raises what makes one unusable, unless the policy quarantines."""
    taken = wanted
    while True:
        written = _write(stream, attempt, event_range, taken)
        changes = (decode_event(row).change for row in written.event_range.rows)
        linked = with_renames(stream.policy, changes, taken)
        if linked == set(taken):
            return written
        taken = tuple(sorted(linked))


def _write(
    stream: EventStream, attempt: DumpLayout, event_range: EventRange, wanted: tuple[str, ...]
) -> TableSnapshots:
    ports, policy = stream.ports, stream.policy
    names = {TableName(policy.source.database, table) for table in wanted}
    names_lo = ports.source.current_event_id()
    unusable = UnusableTables(policy)
    read: dict[TableName, TableState | None] = {}
    for name in sorted(names):
        with unusable.if_unusable(name):
            read[name] = read_state_of(ports, policy, name)
    shard = Shard({name: state for name, state in read.items() if state is not None}, names_lo)
    later = stream.all_after(event_range.end)
    shard = _follow(names, _follow(names, shard, event_range), later)
    rows = [*event_range.rows, *later.rows]

    def follow(shard: Shard, some: EventRange) -> Shard:
        rows.extend(some.rows)
        return _follow(names, shard, some)

    shard, end = settle(stream, shard, later.end, follow, unusable)
    states = []
    for name, state in sorted(shard.tables.items()):
        with unusable.if_unusable(name):  # the replica's, with which one that is repaired is compared
            states += [] if policy.left_out(state.table) else [_only_what_differs(stream, attempt, state)]
    unusable.refuse()
    batches = write_states(ports.dump_files, attempt, policy, states, WHOLE_TABLES, end.event_id)
    aside = {name.table: unusable.why(name) for name in unusable.names - {state.table.name for state in states}}
    tables = tuple(table for table in wanted if table not in aside)
    return TableSnapshots(EventRange(event_range.begin, end, tuple(rows)), batches, tables, aside)


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
