"""Bring over content that no event tells of, at the position and under the lease.

An object never goes back: one that an event has shaped since its content was read, by an apply that was killed before
it wrote its position, stays as it is.
"""

from dataclasses import dataclass

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.marks import LAST_ID, STAMP, Stamp
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.replication.apply.left_places import leave_for, leave_partitions
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.replica_locations import partition_directory, silent_key, table_directory


@dataclass(frozen=True)
class SilentChange:
    """Files to add to a table or partition; with `replaces` they are all that it holds from then on.

    read_at  the event that the replica was at before they were listed
    """

    table: TableName
    partition: str | None
    files: tuple[SourceFile, ...]
    replaces: bool
    read_at: int


def apply_silent_change(target: Target, change: SilentChange, event_id: int, token: str) -> bool:
    """Place the files and stamp the object with the position; False when the object is gone, or past it, meanwhile."""
    table = target.twin.table(target.policy.on_replica(change.table))
    if table is None or table.location is None or _is_past(table, change.read_at):
        return False
    key = silent_key(event_id, token)
    marks = {STAMP: str(target.stamp(event_id)), LAST_ID: str(event_id)}
    target.lease.confirm()
    if change.partition is None:
        location = table_directory(target.root, table.name.table, key) if change.replaces else table.location
        if change.replaces:
            target.files.make_directories(location)
            target.own(location)
        target.placing.place(table.name, location, change.files)
        _alter_table(target, table, location, marks)
        return True
    partition = target.twin.partitions(table.name, [change.partition])[change.partition]
    if partition is None or partition.location is None or _is_past(partition, change.read_at):
        return False
    location = partition.location
    if change.replaces:
        location = partition_directory(table.location, key, change.partition)
    target.placing.place(table.name, location, change.files)
    after = partition.at(table.name, location).with_parameters({**partition.parameters, **marks})
    leave_partitions(target, table, [change.partition], [after])
    target.replica.alter_partitions([after])
    return True


def _is_past(there: Table | Partition, event_id: int) -> bool:
    stamp = Stamp.parse(there.parameters.get(STAMP))
    return stamp is not None and stamp.event_id > event_id


def _alter_table(target: Target, table: Table, location: str, marks: dict[str, str]) -> None:
    after = table.at(table.name, location).with_parameters({**table.parameters, **marks})
    leave_for(target, table, after)
    target.replica.alter_table(table.name, after, expected=table.parameters.get(STAMP))
    target.twin.put_table(after)
