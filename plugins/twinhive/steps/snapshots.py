"""Read single tables as they are at the end of a window, to be brought over whole (`twinhive resync`)."""

from twinhive.domain.batches import Batch
from twinhive.domain.contents import Shard
from twinhive.domain.fold import fold
from twinhive.domain.names import TableName
from twinhive.domain.objects import TableKind
from twinhive.domain.policy import Policy
from twinhive.dump.layout import DumpLayout
from twinhive.events.decoder import decode_event
from twinhive.ports import WritePorts
from twinhive.steps.dump_states import write_states
from twinhive.steps.event_stream import Stretch, all_after
from twinhive.steps.source_states import read_state_of, settle

PREFIX = "s"
"""How names of batches begin that hold such tables."""
_KINDS = (TableKind.MANAGED, TableKind.VIEW)


def write_snapshots(
    ports: WritePorts, policy: Policy, attempt: DumpLayout, stretch: Stretch, wanted: tuple[str, ...]
) -> tuple[Stretch, tuple[Batch, ...]]:
    """Write tables into a window's dump; return the window, which now ends where they are exact, and their batches.

    A wanted table that the source does not have gets no batch: it is removed from the replica.
    """
    names = {TableName(policy.source.database, table.lower()) for table in wanted}
    names_lo = ports.source.current_event_id()
    read = {name: read_state_of(ports, name, policy.options.partitions_per_call) for name in sorted(names)}
    shard = Shard({name: state for name, state in read.items() if state is not None}, names_lo)
    later = all_after(ports, policy, stretch.end)
    shard = _follow(names, _follow(names, shard, stretch), later)
    rows = (*stretch.rows, *later.rows)
    shard, end, more = settle(ports, policy, shard, later.end, lambda shard, some: _follow(names, shard, some))
    states = [state for name, state in sorted(shard.tables.items()) if state.table.kind in _KINDS]
    batches = write_states(ports.dump_files, attempt, policy, states, PREFIX, end.event_id)
    return Stretch(stretch.begin, end, (*rows, *more)), batches


def _follow(names: set[TableName], shard: Shard, stretch: Stretch) -> Shard:
    folded = fold(shard, (decode_event(row) for row in stretch.rows))
    return Shard({name: state for name, state in folded.tables.items() if name in names}, folded.names_lo)
