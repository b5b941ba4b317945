"""Read tables of the source with their files, each reading with its bounds, and read again what is unsure.

The newest event id is read before each reading: what the log says up to there is in it. Objects come
before the lists of files, so that a file is never listed for a partition that was read later.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from twinhive.core.model.changes.contents import Content, PartitionState, Shard, SourceFile, TableState
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Missing, TryAgain
from twinhive.core.model.files import is_elsewhere
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, MetastoreReader, SourcePorts
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.replica.unusable_tables import UnusableTables, files_elsewhere
from twinhive.transfer.staged.listing import list_files

_MOST_READINGS = 20


FollowShard = Callable[[Shard, EventRange], Shard]


def settle(
    stream: EventStream, shard: Shard, end: Position, follow: FollowShard, unusable: UnusableTables
) -> tuple[Shard, Position]:
    """Read what is unsure until the log explains everything; return the shard, and the event it is at.

    `end` is the event that the shard is folded up to; `follow` folds each later range of events into it. Tables that
    cannot be brought over as they are become `unusable`, and are in the shard no more. Raises TryAgain when the source
    changes too fast.
    """
    for _ in range(_MOST_READINGS):
        unsure = [name for name, state in shard.tables.items() if state.needs_reading]
        if not unsure:
            return shard, end
        shard = replace(shard, tables=dict(read_again(stream.ports, stream.policy, shard, unsure, unusable)))
        for event_range in stream.event_ranges_after(end):
            shard, end = follow(shard, event_range), event_range.end
    raise TryAgain(
        f"the source of policy {stream.policy.name} changes faster than it can be read",
        found=f"{', '.join(map(str, unsure[:5]))} changed during each of {_MOST_READINGS} readings",
        expected="one reading during which they stay as they are",
        next_step=RETRIES + "; if it goes on, pause what renames or recreates these tables",
    )


def read_again(
    ports: SourcePorts, policy: Policy, shard: Shard, unsure: Iterable[TableName], unusable: UnusableTables
) -> Iterator[tuple[TableName, TableState]]:
    """Yield all tables of a shard, the unsure ones as they are now; those that are gone or unusable are left out."""
    again = set(unsure)
    for name, state in shard.tables.items():
        if name not in again:
            yield name, state
            continue
        fresh = None
        with unusable.if_unusable(name):
            fresh = read_state_of(ports, policy, name) if state.unsure else _mended(ports, policy, state)
        if fresh is not None:
            yield name, fresh


def read_state_of(ports: SourcePorts, policy: Policy, name: TableName) -> TableState | None:
    """Read one table, its partitions and their files; None when there is no such table.

    Raises UnreadableObject, and FilesElsewhere for directories that cannot be listed.
    """
    lo = ports.source.current_event_id()
    table = ports.source.table(name)
    if table is None:
        return None
    found = current_partitions(ports.source, table, None, policy.options.partitions_per_call)
    empty = Content(lo, unsure=table.has_files)
    partitions = {p.name(table.partition_keys): PartitionState(p, lo, empty) for p in found}
    table = table.with_constraints(ports.source.constraints(name))
    return _listed_again(ports, policy, TableState(table, lo, empty, partitions, lo, constraints_lo=lo))


def _mended(ports: SourcePorts, policy: Policy, state: TableState) -> TableState:
    """Read constraints and partitions that are unsure, then list the directories that are."""
    lo = ports.source.current_event_id()
    if state.constraints_unsure:
        constrained = state.table.with_constraints(ports.source.constraints(state.table.name))
        state = replace(state, table=constrained, constraints_lo=lo, constraints_unsure=False)
    names = sorted(name for name, partition in state.partitions.items() if partition.unsure)
    found = current_partitions(ports.source, state.table, names, policy.options.partitions_per_call)
    partitions = {name: one for name, one in state.partitions.items() if not one.unsure}
    for partition in found:
        name = partition.name(state.table.partition_keys)
        old = state.partitions.get(name)
        if old is None:
            continue
        moved = old.partition.location != partition.location
        content = replace(old.content, unsure=True) if moved else old.content
        partitions[name] = PartitionState(partition, lo, content)
    return _listed_again(ports, policy, replace(state, partitions=partitions))


def current_partitions(
    source: MetastoreReader, table: Table, names: list[str] | None, per_call: int
) -> list[Partition]:
    """Read partitions by name, or all; what was dropped or made anew since the table was read is none of its own."""
    try:
        if names is None:
            names = source.partition_names(table.name) if table.partition_keys else []
        found = [p for some in _chunks(names, per_call) for p in source.partitions(table.name, some)]
    except Missing:
        return []
    return [partition for partition in found if len(partition.values) == len(table.partition_keys)]


def _listed_again(ports: SourcePorts, policy: Policy, state: TableState) -> TableState:
    lo, root = ports.source.current_event_id(), ports.source_files.root
    roots = _unsure_roots(state)
    if not roots:
        return state
    if away := [(name, place) for name, place in roots.items() if is_elsewhere(place, root)]:
        raise files_elsewhere(policy, state.table.name, away, root)
    contents = _contents(ports.source_files, roots, lo)
    partitions = {
        name: replace(partition, content=_surer(partition.content, contents.get(name)))
        for name, partition in state.partitions.items()
    }
    return replace(state, content=_surer(state.content, contents.get(None)), partitions=partitions)


def _surer(known: Content, fresh: Content | None) -> Content:
    """Return what was listed, or what events have named where that is all there is: the change manager keeps those."""
    if fresh is None:
        return known
    named = {file.path for file in known.files.values() if file.checksum}
    is_whole = bool(named) and len(named) == len(known.files) == len(fresh.files)
    if is_whole and named == {file.path for file in fresh.files.values()}:
        return replace(known, unsure=False)
    return fresh


def _unsure_roots(state: TableState) -> dict[str | None, str]:
    """Return the directories to list, by partition name; None stands for the table itself."""
    if state.table.is_external:
        return {}
    if not state.table.partition_keys:
        return {None: state.table.location} if state.content.unsure and state.table.location else {}
    return {
        name: partition.partition.location
        for name, partition in state.partitions.items()
        if partition.content.unsure and partition.partition.location
    }


def _contents(files: FileReader, roots: Mapping[str | None, str], lo: int) -> dict[str | None, Content]:
    found: dict[str | None, dict[str, SourceFile]] = {owner: {} for owner in roots}
    for owner, relative, status in list_files(files, list(roots.items())):
        found[owner][relative] = SourceFile.of_listing(status, relative)
    return {owner: Content(lo, some) for owner, some in found.items()}


def _chunks(names: list[str], size: int) -> Iterator[list[str]]:
    return (names[start : start + size] for start in range(0, len(names), size))
