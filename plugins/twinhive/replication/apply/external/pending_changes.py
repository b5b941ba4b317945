"""Fold events into what waits of an external table (design, 'Pending').

Each function returns the record after one event. An object that is at or past the event stays as it is, so events may
be folded again that were folded before; what a drop has taken away and a replay brings back, the replay drops again.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from twinhive.core.model.changes.kinds import AddConstraints, OfDetails, UpdateStatistics
from twinhive.core.model.constraints import constraints_of
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.thrift_objects import with_columns_of
from twinhive.replication.replica.pending_tables import PendingTable, T, Waiting

Shaped = Mapping[str, tuple[Partition, int]]
"""Partitions by name, each with the event that made it what it is."""


def is_past(waiting: Waiting[T] | None, event_id: int) -> bool:
    """True when something waits that is at or past an event."""
    return waiting is not None and waiting.event_id >= event_id


def created(record: PendingTable, table: Table, event_id: int, *, replaces: bool) -> PendingTable:
    """Let a new table wait, in the place of an older one; `replaces`: the replica has one of its name."""
    if is_past(record.table, event_id):
        return record
    return PendingTable(table.name, Waiting(table, event_id, event_id), {}, replaces)


def altered(record: PendingTable, table: Table, event_id: int) -> PendingTable:
    """Change the table that waits, or let a published one wait for its new location."""
    if is_past(record.table, event_id):
        return record
    changed = _changed_columns(record.table, table)
    details = {
        number: detail
        for number, detail in record.details.items()
        if not _is_undone(detail, {None}) and changed.isdisjoint(_constrained(detail))
    }
    return replace(record, table=_shaped_table(record.table, table, event_id), details=details)


def columns_changed(record: PendingTable, table: Table, event_id: int) -> PendingTable:
    """Give the waiting partitions the columns of their table (CASCADE)."""
    partitions = {
        name: waiting
        if is_past(waiting, event_id)
        else Waiting(with_columns_of(waiting.thing, table), event_id, waiting.since)
        for name, waiting in record.partitions.items()
    }
    return replace(record, partitions=partitions)


def partitions_added(record: PendingTable, added: Shaped) -> PendingTable:
    """Let new partitions wait."""
    new = {
        name: Waiting(partition, event_id, event_id)
        for name, (partition, event_id) in added.items()
        if not is_past(record.partitions.get(name), event_id)
    }
    return replace(record, partitions={**record.partitions, **new})


def partitions_altered(record: PendingTable, after: Shaped) -> PendingTable:
    """Change partitions that wait, or let published ones wait for their new location."""
    new = {
        name: _shaped(record.partitions.get(name), partition, event_id)
        for name, (partition, event_id) in after.items()
        if not is_past(record.partitions.get(name), event_id)
    }
    shaped = {waiting.thing.values for waiting in new.values()}
    details = {number: detail for number, detail in record.details.items() if not _is_undone(detail, shaped)}
    return replace(record, partitions={**record.partitions, **new}, details=details)


def partitions_dropped(record: PendingTable, dropped: Mapping[str, int]) -> PendingTable:
    """Take partitions away, each by its event."""
    left = {
        name: waiting
        for name, waiting in record.partitions.items()
        if name not in dropped or is_past(waiting, dropped[name])
    }
    return replace(record, partitions=left)


def partition_renamed(record: PendingTable, old: str, new: str, after: Partition, event_id: int) -> PendingTable:
    """Give a waiting partition another name; nothing of its data moves."""
    waiting = record.partitions.get(old)
    if waiting is None or is_past(waiting, event_id):
        return record
    left = {name: one for name, one in record.partitions.items() if name != old}
    if not is_past(left.get(new), event_id):
        left[new] = _shaped(waiting, after, event_id)
    return replace(record, partitions=left)


def detailed(record: PendingTable, detail: OfDetails, event_id: int) -> PendingTable:
    """Keep constraints and statistics of what waits until they have somewhere to go.

    What waits in a later state has been through the event: it was kept, and may have been undone since.
    """
    described = [one for one in record.partitions.values() if one.thing.values == getattr(detail, "values", None)]
    if is_past(record.table, event_id) or any(is_past(one, event_id) for one in described):
        return record
    return replace(record, details={**record.details, event_id: detail})


def dropped(record: PendingTable, event_id: int) -> PendingTable:
    """Forget what waits of a dropped table."""
    return record if is_past(record.table, event_id) else PendingTable(record.name)


def renamed(old: PendingTable, new: PendingTable, after: Table, event_id: int) -> tuple[PendingTable, PendingTable]:
    """Bring what waits under a table's new name; return the records of both names. Nothing of its data moves."""
    if old.is_empty or is_past(old.table, event_id):
        return old, new
    if is_past(new.table, event_id):
        return PendingTable(old.name), new
    partitions = {
        name: replace(waiting, thing=waiting.thing.at(after.name, waiting.thing.location))
        for name, waiting in old.partitions.items()
    }
    table = None if old.table is None else _shaped_table(old.table, after, event_id)
    return PendingTable(old.name), PendingTable(after.name, table, partitions, details=old.details)


def _shaped_table(known: Waiting[Table] | None, table: Table, event_id: int) -> Waiting[Table]:
    """Shape a table, which keeps the constraints that it was read with: the event does not tell them.

    Those of a column with another name or type are gone at the source.
    """
    if known is None or known.thing.constraints is None:
        return _shaped(known, table, event_id)
    changed = _changed_columns(known, table)
    kept = tuple(one for one in known.thing.constraints if changed.isdisjoint(one.columns))
    return _shaped(known, table.with_constraints(kept), event_id)


def _changed_columns(known: Waiting[Table] | None, after: Table) -> set[str]:
    """Return the columns of a waiting table that have another name or type after an event."""
    before = known.thing.columns if known is not None else ()
    return {name.lower() for name, kind in before if (name, kind) not in after.columns}


def _constrained(detail: OfDetails) -> set[str]:
    if not isinstance(detail, AddConstraints):
        return set()
    return {column for one in constraints_of(detail.kind, detail.constraints) for column in one.columns}


def _is_undone(detail: OfDetails, shaped: Collection[tuple[str, ...] | None]) -> bool:
    """True for statistics of what an event shapes anew (None: the table itself): they are not claimed any more."""
    return isinstance(detail, UpdateStatistics) and detail.values in shaped


def _shaped(known: Waiting[T] | None, thing: T, event_id: int) -> Waiting[T]:
    stays = known is not None and known.thing.location == thing.location
    return Waiting(thing, event_id, known.since if known is not None and stays else event_id)
