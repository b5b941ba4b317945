"""Find what an old primary has and the new one has not: what users wrote there that nobody replicated.

Rows that the new primary's users have changed or dropped are no divergence: its log names their tables. Of a table that
only the new primary's log names, what differs is theirs. All other tables are compared file by file, and external ones
always: no log tells who wrote a file of theirs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from twinhive.core.model.changes.contents import TableState
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import FileStatus
from twinhive.core.model.human_readable import readable
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table, TableKind
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts, SourcePorts
from twinhive.operations.failover.promotion import Promotion
from twinhive.replication.bootstrap.source_states import read_state_of
from twinhive.replication.comparison.leaf_actions import LeafAction
from twinhive.replication.comparison.leaf_reader import LeafState, Side, sides_of
from twinhive.replication.comparison.leaf_records import OWN_LEAF
from twinhive.replication.comparison.reconcile_table import plan_table
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.replica.source_scope import read_selected
from twinhive.transfer.tree.work_directories import is_ours

_NAMED = 5
_LEAVES_AT_ONCE = 1_000


@dataclass(frozen=True)
class DivergedTable:
    """A table of the old primary with rows that the new one has not.

    events   what its own log says of it after the failover's event; none for what was written without one
    leaves   by partition ('' for a table without), the files that are nowhere in that leaf of the new primary; none
             for a table without rows that the new primary has not
    """

    table: Table
    events: tuple[int, ...]
    leaves: Mapping[str, tuple[tuple[str, FileStatus], ...]]

    def __str__(self) -> str:
        files = [status for some in self.leaves.values() for _, status in some]
        where = f" in {len(self.leaves)} partitions" if self.table.partition_keys else ""
        size = readable(sum(status.length for status in files))
        rows = f"{len(files)} files{where}, {size}" if self.leaves else "a table without rows"
        how = f"events {', '.join(map(str, self.events[:_NAMED]))}" if self.events else "no event"
        return f"{self.table.name.table}: {rows}, by {how} of the old primary's log"


def diverged_tables(ports: ReadPorts, policy: Policy, promotion: Promotion) -> Iterator[DivergedTable]:
    """Yield the tables of the old primary with rows of its own; `policy` is the reverse one."""
    new, old = (replace(side, with_external=policy.external.brings_data) for side in sides_of(ports, policy))
    backwards = replace(policy, source=policy.replica, replica=policy.source)
    own = _named(SourcePorts(ports.replica, ports.replica_files, ports.dump_files), backwards, promotion.position)
    theirs = _named(ports, policy, promotion.begin) or {}
    there = set(ports.source.table_names(policy.source.database))
    for table in read_selected(ports.replica, policy, policy.replica.database):
        name = table.name.table
        is_theirs = own is not None and name not in own and name in theirs
        if table.kind is TableKind.EXTERNAL and policy.external.brings_data:
            leaves = dict(_own_external_files((new, old), table))
        elif table.kind.has_comparable_files and not is_theirs:
            leaves = dict(_own_files(ports, policy, (new, old), table))
        else:
            continue
        if leaves or (name not in there and not is_theirs):
            yield DivergedTable(table, tuple((own or {}).get(name, ())), leaves)


def _named(ports: SourcePorts, policy: Policy, begin: Position) -> dict[str, list[int]] | None:
    """Return the tables that a log names after an event, with the events; None where it has a gap, or is another."""
    found: dict[str, list[int]] = {}
    try:
        for row in EventStream(ports, policy).rows_after(begin):
            if row.table:
                found.setdefault(row.table.lower(), []).append(row.event_id)
    except ActNow:
        return None
    return found


def _own_files(
    ports: ReadPorts, policy: Policy, sides: tuple[Side, Side], table: Table
) -> Iterator[tuple[str, tuple[tuple[str, FileStatus], ...]]]:
    new, old = sides
    name, per_call = table.name.table, policy.options.partitions_per_call
    state = read_state_of(ports, TableName(policy.source.database, name), per_call)
    plan = plan_table(sides, state) if state is not None else None
    if plan is None:
        parts = ports.replica.partition_names(table.name) if table.partition_keys else [OWN_LEAF]
    else:
        parts = plan.those(LeafAction.REPLACE, LeafAction.DROP)
        parts += [OWN_LEAF] if plan.of_table is LeafAction.REPLACE else []
    for leaf, found in old.read(table, parts, {}, lambda _: True):
        there = _sums_of(new, state, leaf)
        only = tuple(one for one in found.files.items() if _sum(found, one[0]) not in there)
        if only:
            yield leaf, only


def _own_external_files(
    sides: tuple[Side, Side], table: Table
) -> Iterator[tuple[str, tuple[tuple[str, FileStatus], ...]]]:
    new, old = sides
    there = new.metastore.table(new.name(table.name.table))
    parts = old.metastore.partition_names(table.name) if table.partition_keys else [OWN_LEAF]
    for start in range(0, len(parts), _LEAVES_AT_ONCE):
        some = parts[start : start + _LEAVES_AT_ONCE]
        is_alike = there is not None and there.partition_keys == table.partition_keys
        of_new = dict(new.read(there, some, {}, lambda _: True)) if there is not None and is_alike else {}
        for leaf, found in old.read(table, some, {}, lambda _: True):
            sums = set((of_new[leaf].checksums or {}).values()) if leaf in of_new else set()
            only = tuple(
                (name, file)
                for name, file in found.files.items()
                if not is_ours(name.partition("/")[0]) and _sum(found, name) not in sums
            )
            if only:
                yield leaf, only


def _sum(found: LeafState, relative: str) -> str | None:
    return None if found.checksums is None else found.checksums.get(relative)


def _sums_of(new: Side, state: TableState | None, leaf: str) -> set[str]:
    """Return the checksums of a leaf's files at the new primary; a file without one is like no other."""
    if state is None:
        return set()
    one = state.content if leaf == OWN_LEAF else state.partitions[leaf].content if leaf in state.partitions else None
    sums = new.checksums([file.path for file in one.files.values()]) if one else {}
    return {found for found in sums.values() if found is not None}
