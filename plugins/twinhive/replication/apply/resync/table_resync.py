"""Resync one table, as the source had it at one event."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.events import Position
from twinhive.core.model.marks import COMING_AT
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.quarantine import is_frozen, without_frozen
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.create_guard import absent_before, is_as_made
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.metadata_calls import alter_table, create_table, drop_table
from twinhive.replication.apply.table_constraints import constrain
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.pending_tables import PendingTable, Waiting
from twinhive.replication.replica.replica_locations import (
    partition_directory,
    silent_key,
    table_directory,
    with_source_place,
)

OwnFiles = Mapping[str | None, Sequence[SourceFile]]
_INCOMPLETE = 0
"""The event in the stamp of a table until all its partitions are there: nobody takes it for one as of a later event.

The event as of which it comes stands in a parameter of its own (`COMING_AT`).
"""


@dataclass(frozen=True)
class WholeTable:
    """A source table at one event; `table` is None when the source has none of this name.

    `begin` is the event after which the window begins of which it is the end.
    """

    name: TableName
    begin: int = 0
    table: Table | None = None
    partitions: tuple[Partition, ...] = ()
    files: OwnFiles = field(default_factory=dict)

    def with_record(self, table: Table, partitions: tuple[Partition, ...], files: OwnFiles) -> "WholeTable":
        """Return it with one more part of the table."""
        return replace(self, table=table, partitions=(*self.partitions, *partitions), files={**self.files, **files})


def replace_table(
    external: ExternalTarget, progress: Progress, snapshot: WholeTable, end: Position, token: str
) -> tuple[str, ...]:
    """Put a source table in the place of what the replica has of the table, and release it from quarantine.

    Returns the constraints that could not be added, each with the reason. An external table waits for its data, and
    the replica's table stays until that is there.
    """
    target = external.target
    target.twin.forget_table(target.policy.on_replica(snapshot.name))
    constraints_left: tuple[str, ...] = ()
    if snapshot.table is not None and snapshot.table.is_external:
        _let_wait(external, snapshot, snapshot.table, end.event_id)
    else:
        constraints_left = _rebuild(target, progress, snapshot, end, token)
        external.pending.put(PendingTable(snapshot.name))
    external.pending.flush()
    if is_frozen(progress.parameters, snapshot.name.table):
        progress.set_parameters(without_frozen(progress.parameters, [snapshot.name.table]))
    target.twin.forget_table(target.policy.on_replica(snapshot.name))
    return constraints_left


def _let_wait(external: ExternalTarget, snapshot: WholeTable, table: Table, event_id: int) -> None:
    """Let a table wait with all its partitions. Raises InvalidSettings for a place of nobody's."""
    name = external.target.policy.on_replica(snapshot.name)
    partitions = {one.name(table.partition_keys): one for one in snapshot.partitions}
    external.table(table, event_id)
    for part, partition in partitions.items():
        external.partition(partition, part, event_id)
    record = PendingTable(
        snapshot.name,
        Waiting(table, event_id, event_id),
        {part: Waiting(partition, event_id, event_id) for part, partition in partitions.items()},
        replaces=external.target.twin.table(name) is not None,
    )
    external.pending.put(record)


def _rebuild(target: Target, progress: Progress, snapshot: WholeTable, end: Position, token: str) -> tuple[str, ...]:
    """Build a table beside the old one, and drop that.

    Everything is built beside the old table in a directory named by the event and the dump (`token`): the old
    table may have been made by the same event. A table in that directory is this one: what an earlier try left
    out is added to it. So is a view as of the window's end: none of its events in the window is applied otherwise.
    Raises Foreign for a table that is not ours.
    """
    name = target.policy.on_replica(snapshot.name)
    wanted = snapshot.table
    location = None
    if wanted is not None and wanted.has_files:
        location = table_directory(target.root, name.table, silent_key(end.event_id, token))
    there = target.twin.table(name)
    if there is not None and not _is_this(target, there, snapshot, location, end):
        progress.before_removal()
        drop_table(target, there)
        there = None
    if wanted is None:
        return ()
    table = wanted.at(name, location)
    _put(target, snapshot, table, end.event_id, is_there=there is not None)
    constraints_left = tuple(constrain(target.replica, table))
    _say_complete(target, name, end.event_id)
    return constraints_left


def _say_complete(target: Target, name: TableName, event_id: int) -> None:
    target.twin.forget_table(name)
    made = target.twin.existing(name)
    if not target.twin.is_at(made, event_id):
        said = {key: value for key, value in made.parameters.items() if key != COMING_AT}
        alter_table(target, made, target.restamped(made.with_parameters(said), event_id))


def _is_this(target: Target, there: Table, snapshot: WholeTable, location: str | None, end: Position) -> bool:
    if location is not None:
        return snapshot.table is not None and is_as_made(snapshot.table.at(there.name, location), there)
    is_view = snapshot.table is not None and not there.has_files
    stamp = target.twin.stamp_of(there)
    if not is_view or stamp is None or end.event_id <= snapshot.begin:
        return False
    comes_at = there.parameters.get(COMING_AT) if stamp.event_id == _INCOMPLETE else str(stamp.event_id)
    return comes_at == str(end.event_id)


def _beginning(target: Target, snapshot: WholeTable, table: Table, event_id: int) -> Table:
    """Return a table as it is created: one to which nothing is to be added is complete at once."""
    if not snapshot.partitions and not table.constraints:
        return target.table(table, table.location, event_id)
    begun = target.table(table, table.location, _INCOMPLETE)
    return begun.with_parameters({**begun.parameters, COMING_AT: str(event_id)})


def _put(target: Target, snapshot: WholeTable, table: Table, event_id: int, *, is_there: bool) -> None:
    """Build what is missing of a table that has its name and location on the replica."""
    name, location, keys = table.name, table.location, table.partition_keys
    places = {
        partition.name(keys): partition_directory(location, event_id, partition.name(keys)) if location else None
        for partition in snapshot.partitions
    }
    contents = [(place, tuple(files)) for part, files in snapshot.files.items() if part and (place := places.get(part))]
    if location is not None and not keys:
        contents.append((location, tuple(snapshot.files.get(None, ()))))
    for partition in snapshot.partitions:
        target.placing.comes_from(places[partition.name(keys)], partition.location)
    if location is not None and snapshot.table is not None:
        target.placing.comes_from(location, snapshot.table.location)
        contents.append((location, ())) if keys else None
    target.lease.confirm()
    target.placing.place_all(name, contents)
    if location is not None:
        target.files.make_directories(location)
        target.own(location)
    if not is_there:
        create_table(target, _beginning(target, snapshot, table, event_id))
    present = set(target.replica.partition_names(name)) if keys else set()
    absent = [one for one in snapshot.partitions if one.name(keys) not in present]
    source = snapshot.table or table
    placed = [with_source_place(target.partition(one, places[one.name(keys)], event_id), source, one) for one in absent]
    per_call = target.policy.options.partitions_per_call
    for start in range(0, len(placed), per_call):
        with absent_before():
            target.replica.add_partitions(placed[start : start + per_call])
