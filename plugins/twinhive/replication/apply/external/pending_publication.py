"""Publish what waited for its data: first the table, then its partitions, then the record without them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from twinhive.core.model.changes.kinds import (
    AddConstraints,
    DeleteStatistics,
    DropConstraint,
    OfDetails,
    UpdateStatistics,
)
from twinhive.core.model.constraints import FOREIGN_KEY, constraints_of
from twinhive.core.model.errors import ActNow, AlreadyThere, Missing, Refused
from twinhive.core.model.external.modes import External
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.ports import MetastoreWriter
from twinhive.replication.apply.apply_failures import IsFinal, why_done_without
from twinhive.replication.apply.external.external_target import ExternalTarget, IsThere, is_ready
from twinhive.replication.apply.metadata_calls import (
    add_partitions,
    alter_partitions,
    alter_table,
    create_table,
    drop_table,
)
from twinhive.replication.apply.table_constraints import constrain
from twinhive.replication.replica.pending_tables import PendingTable, Waiting


@dataclass(frozen=True)
class Published:
    """What was published; `left` are the source tables of which something waits still.

    refused   tables that the replica's metastore would not take, with the reasons
    left_out  constraints and statistics that it would not take, each with the reason
    """

    tables: int = 0
    partitions: int = 0
    left: tuple[str, ...] = ()
    refused: Mapping[str, ActNow] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def __add__(self, other: "Published") -> "Published":
        """Return what two threads have published."""
        return Published(
            self.tables + other.tables,
            self.partitions + other.partitions,
            refused={**self.refused, **other.refused},
            left_out=(*self.left_out, *other.left_out),
        )


def ready_parts(external: External, record: PendingTable, is_there: IsThere) -> PendingTable:
    """Return what of a record can be published: nothing while its table's own data is missing."""
    if record.table is not None and not _is_ready(external, record.table, is_there):
        return PendingTable(record.name)
    partitions = {
        name: waiting for name, waiting in record.partitions.items() if _is_ready(external, waiting, is_there)
    }
    return replace(record, partitions=partitions)


def needs_others(record: PendingTable) -> bool:
    """True for a table with foreign keys: it is published after those that they may refer to."""
    known = record.table.thing.constraints if record.table else None
    said = (detail.kind for detail in record.details.values() if isinstance(detail, AddConstraints))
    return FOREIGN_KEY in {*(one.kind for one in known or ()), *said}


def _is_ready(external: External, waiting: Waiting[Table] | Waiting[Partition], is_there: IsThere) -> bool:
    return is_ready(external, waiting.thing.location, waiting.since, is_there)


class Publishing:
    """Publish table by table; each thread has one of its own.

    Each table's record is written when the table is done, so that a rerun finds the stamps of one table a thread.

    A constraint, or statistics, that the replica's metastore does not take stops nothing: it is named in what was
    published, when `is_final` says that another try would not help.
    """

    def __init__(self, external: ExternalTarget, is_final: IsFinal) -> None:
        self._target = target = external.target.apart()
        self._external = replace(external, target=target)
        self._pending = external.pending
        self._is_final = is_final

    def look_for(self, names: Iterable[str]) -> None:
        """Read what the replica has of some tables, in one call."""
        policy = self._target.policy
        self._target.twin.look_for(policy.on_replica(TableName(policy.source.database, name)) for name in names)

    def publish(self, record: PendingTable) -> Published:
        """Publish what is ready of one table."""
        try:
            return self._publish(record)
        finally:
            self._target.twin.forget_table(self._target.policy.on_replica(record.name))

    def _publish(self, record: PendingTable) -> Published:
        ready = ready_parts(self._target.policy.external, record, self._external.is_there)
        if ready.is_empty:
            return Published()
        there = self._table(ready)
        for some in self._chunks(ready.partitions):
            self._partitions(there, some)
        left = {name: waiting for name, waiting in record.partitions.items() if name not in ready.partitions}
        left_out = self._constrain(there, ready.table)
        details = _of_those_left(there, record.details, left)
        told = [detail for event_id, detail in record.details.items() if event_id not in details]
        left_out += tuple(self._tell(there, told))
        self._pending.settle(PendingTable(record.name, None, left, details=details))
        tables = int(ready.table is not None)
        return Published(tables, len(ready.partitions), left_out=left_out)

    def _table(self, ready: PendingTable) -> Table:
        """Return the replica's table, after what waited of it is published."""
        target, waiting = self._target, ready.table
        name = target.policy.on_replica(ready.name)
        if waiting is None:
            return target.twin.existing(name)
        placed = self._external.table(waiting.thing, waiting.event_id)
        there = target.twin.table(name)
        if ready.replaces and there is not None:
            # After a kill it may be the new one: that is made again, whatever it was left like.
            drop_table(target, there)
            there = None
        if there is None:
            create_table(target, placed)
        elif not self._is_at(there, placed, waiting.event_id):
            alter_table(target, there, placed)
        return target.twin.existing(name)

    def _partitions(self, table: Table, some: Mapping[str, Waiting[Partition]]) -> None:
        target = self._target
        known = target.twin.partitions(table.name, list(some))
        new: list[Partition] = []
        changed: list[Partition] = []
        for name, waiting in some.items():
            placed, there = self._external.partition(waiting.thing, name, waiting.event_id), known[name]
            if there is None:
                new.append(placed)
            elif not self._is_at(there, placed, waiting.event_id):
                changed.append(placed)
        add_partitions(target, table, new)
        alter_partitions(target, table, changed)

    def _constrain(self, there: Table, waiting: Waiting[Table] | None) -> tuple[str, ...]:
        """Add the constraints that a table was read with; what was said of them since comes after."""
        known = waiting.thing.constraints if waiting else None
        return tuple(constrain(self._target.replica, there.with_constraints(known)))

    def _tell(self, table: Table, details: Iterable[OfDetails]) -> Iterator[str]:
        """Say what was said of what is published now; yield what is left out, with the reason."""
        for detail in details:
            try:
                _say(self._target.replica, table, detail)
            except AlreadyThere:
                continue  # an earlier try has said it
            except (Missing, Refused) as error:
                yield f"{_named(detail)} of {table.name}: {why_done_without(error, self._is_final)}"

    def _is_at(self, there: Table | Partition, placed: Table | Partition, event_id: int) -> bool:
        return there.location == placed.location and self._target.twin.is_at(there, event_id)

    def _chunks(self, partitions: Mapping[str, Waiting[Partition]]) -> Iterator[dict[str, Waiting[Partition]]]:
        names, per_call = sorted(partitions), self._target.policy.options.partitions_per_call
        for start in range(0, len(names), per_call):
            yield {name: partitions[name] for name in names[start : start + per_call]}


def _of_those_left(table: Table, details: Mapping[int, OfDetails], left: Collection[str]) -> dict[int, OfDetails]:
    """Return what was said of partitions that are left."""
    described = {event_id: getattr(detail, "values", None) for event_id, detail in details.items()}
    return {
        event_id: details[event_id]
        for event_id, values in described.items()
        if values and partition_name(table.partition_keys, values) in left
    }


def _named(detail: OfDetails) -> str:
    match detail:
        case AddConstraints(kind=kind, constraints=constraints):
            return "constraint " + ", ".join(one.name for one in constraints_of(kind, constraints))
        case DropConstraint(name=name):
            return f"the drop of constraint {name}"
        case UpdateStatistics():
            return "column statistics"
        case DeleteStatistics():
            return "the deletion of column statistics"
        case _:
            assert_never(detail)


def _say(replica: MetastoreWriter, table: Table, detail: OfDetails) -> None:
    match detail:
        case AddConstraints(kind=kind, constraints=constraints):
            replica.add_constraints(table.name, kind, constraints)
        case DropConstraint(name=name):
            replica.drop_constraint(table.name, name)
        case UpdateStatistics(statistics=statistics):
            replica.set_statistics(table.name, statistics)
        case DeleteStatistics(values=values, column=column):
            partition = partition_name(table.partition_keys, values) if values else None
            replica.delete_statistics(table.name, partition, column)
        case _:
            assert_never(detail)
