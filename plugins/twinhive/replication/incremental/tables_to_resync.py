"""Which tables a window has to resync because of external tables, and write that down."""

from collections.abc import Collection, Iterable, Mapping
from typing import assert_never

from twinhive.core.model.changes.affected_objects import renaming, tables_of
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DropPartitions,
    DropTable,
    Insert,
    NoContent,
    RenamePartition,
)
from twinhive.core.model.errors import ActNow
from twinhive.core.model.external.modes import NO_BASE
from twinhive.core.model.marks import STAMP, ReplicaState, Stamp
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import BASE_DIRECTORY, BOOTSTRAP_AGAIN, IN_THE_POLICY_FILE
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_types import EventType
from twinhive.replication.incremental.external_mode_change import of_new_class
from twinhive.replication.operator_requests.request_files import (
    event_of_request,
    request_table,
    requested_tables,
    table_is_done,
)
from twinhive.replication.replica.source_scope import readable_tables


def refuse_another_base(policy: Policy, state: ReplicaState) -> None:
    """Refuse a base directory that is not the one with which the external tables were brought over. Raises ActNow."""
    external = policy.external
    if not external.included or state.external_base in (None, NO_BASE, external.base_mark):
        return
    raise ActNow(
        f"the base directory of the external tables of policy {policy.name} cannot change while the replica follows",
        found=external.base_directory or "no " + BASE_DIRECTORY,
        expected=state.external_base,
        next_step="put the old one back " + IN_THE_POLICY_FILE + ", or " + BOOTSTRAP_AGAIN,
    )


def request_whole_tables(
    ports: WritePorts, policy: Policy, state: ReplicaState, rows: Iterable[EventRow]
) -> tuple[str, ...]:
    """Return the tables that this window is to resync, those that people ask for included.

    What is found is written down: the window may end before the newest event, and leave it to a later one.
    """
    asked = requested_tables(ports.replica_files, policy)
    altering = [(row.event_id, decode_event(row).change) for row in rows if row.event_type == EventType.ALTER_TABLE]
    since = {
        table: event_id
        for event_id, change in altering
        if says_too_little(policy, change)
        for table in sorted(policy.followed(tables_of(change)))
    }
    passed = passed_by(ports, policy, state, since)
    since = {table: event_id for table, event_id in since.items() if table not in passed}
    found = of_new_class(ports, policy, state)
    found |= {table: f"event {event_id} changed more than it says" for table, event_id in since.items()}
    linked = with_renames(policy, [change for _, change in altering], {*asked, *found})
    since |= _renamed_at(altering, linked - found.keys())
    found |= dict.fromkeys(sorted(linked - found.keys()), "a rename links it to a table that comes whole")
    for table, why in found.items():
        if table not in asked:
            request_table(ports.replica_files, policy, table, why, since.get(table))
    return tuple(sorted({*asked, *found}))


def remove_fulfilled(ports: WritePorts, policy: Policy, state: ReplicaState) -> None:
    """Take requests away that were written for an event which the replica's table has passed since.

    A run that was frozen for a while may write a request after others have fulfilled it. A rename that linked tables in
    a window which never came about may have been applied with another one.
    """
    asked = requested_tables(ports.replica_files, policy)
    events = {table: event_of_request(ports.replica_files, policy, table) for table in asked}
    since = {table: event_id for table, event_id in events.items() if event_id is not None}
    for table in passed_by(ports, policy, state, since):
        table_is_done(ports.replica_files, policy, table)


def passed_by(ports: ReadPorts, policy: Policy, state: ReplicaState, since: Mapping[str, int]) -> frozenset[str]:
    """Return the tables that the replica has as of an event, each its own (`since`), or as of a later one.

    Events of a table are applied in their order: such a table was resynced since, or has the event. One that
    is frozen still was not: who brings it over releases it last.
    """
    there = stamps_of(ports, policy, state, since)
    database = ports.replica.database(policy.replica.database) if there else None
    frozen = frozen_tables(database.parameters if database else {})
    return frozenset(table for table, stamp in there.items() if stamp >= since[table] and table not in frozen)


def stamps_of(ports: ReadPorts, policy: Policy, state: ReplicaState, tables: Collection[str]) -> dict[str, int]:
    """Return as of which events the replica has tables, of those that it has and that can be read."""
    if not tables:
        return {}
    there, _ = readable_tables(ports.replica, policy.replica.database, sorted(tables))
    stamps = {table.name.table: Stamp.parse(table.parameters.get(STAMP)) for table in there}
    return {table: stamp.event_id for table, stamp in stamps.items() if stamp and stamp.log_id == state.log_id}


def _renamed_at(altering: Iterable[tuple[int, Change]], tables: Collection[str]) -> dict[str, int]:
    """Return the last event that renamed each of some tables."""
    return {
        name.table: event_id
        for event_id, change in altering
        if renaming(change)
        for name in tables_of(change)
        if name.table in tables
    }


def with_renames(policy: Policy, changes: Iterable[Change], tables: Collection[str]) -> frozenset[str]:
    """Return tables and those that renames link to them, earlier ones too: of none of these the events are applied."""
    renames = [set(tables_of(change)) for change in changes if renaming(change)]
    found = {TableName(policy.source.database, table) for table in tables}
    while more := {name for names in renames if names & found for name in names if policy.follows(name)} - found:
        found |= more
    return frozenset(name.table for name in found)


def says_too_little(policy: Policy, change: Change) -> bool:
    """True for a change after which the log does not say what a table holds.

    One that comes into the scope by a rename, from another database too; one that becomes another kind, as a managed
    table that becomes external, or the other way; a managed one that gets another location, where the event names no
    files; an external one that gets a name and a location at once, whose partitions the source's metastore moves along.
    """
    match change:
        case AlterTable():
            return _says_too_little(policy, change)
        case CreateTable() | DropTable() | Insert():
            return False
        case AddPartitions() | DropPartitions() | AlterPartitions() | RenamePartition():
            return False
        case NoContent():
            return False
        case _:
            assert_never(change)


def _says_too_little(policy: Policy, change: AlterTable) -> bool:
    if policy.left_out(change.after):
        return False
    if policy.follows(change.after.name) and not policy.follows(change.before.name):
        return True
    if change.before.kind is not change.after.kind:
        return True
    # A managed table that is renamed is moved by the metastore, with all its files.
    is_odd = change.renames if change.after.is_external else not change.renames
    moves = is_odd and change.before.location != change.after.location
    return moves
