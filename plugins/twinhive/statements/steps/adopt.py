"""Take over a replica that Hive's REPL LOAD has made, or has brought further since: `repl.last.id` is the common truth.

Hive leaves no stamp on what it makes. Whatever has none gets that of the replicated event id; then the database says
that it follows from there on. What is stamped already may keep its stamp.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from twinhive.events.reader import position_at
from twinhive.model.errors import Missing, Refused
from twinhive.model.marks import LAST_ID, POLICY, POSITION, STAMP, Phase, ReplicaState, Stamp
from twinhive.model.objects import Database, Table
from twinhive.model.policy import Policy
from twinhive.owned.directories import mark_table, table_mark
from twinhive.ports import Lease, WritePorts
from twinhive.replica.source_scope import tables_in_bulk
from twinhive.step.base import Report


def is_of_hive(database: Database | None) -> bool:
    """True for a replica whose position Hive has written last: none of ours is on it, or another one."""
    parameters = database.parameters if database else {}
    last_id = parameters.get(LAST_ID, "")
    ours = parameters.get(POSITION, "").partition(":")[0]
    return last_id.isdigit() and (POLICY not in parameters or ours != last_id)


def adopt(ports: WritePorts, policy: Policy, lease: Lease, report: Report) -> None:
    """Stamp what bears no stamp, then mark the database. May be repeated from any point."""
    database = ports.replica.database(policy.replica.database)
    assert database is not None, "is_of_hive has seen it"
    log_id = ports.source.log_id()
    position = position_at(ports.source, int(database.parameters[LAST_ID]))
    stamp = Stamp(log_id, position.event_id)
    tables = 0
    for table in tables_in_bulk(ports.replica, database.name, ports.replica.table_names(database.name)):
        _stamp_partitions(ports, policy, table, stamp, lease)
        _mark_directory(ports, policy, table, lease)
        if STAMP not in table.parameters:
            lease.confirm()
            ports.replica.alter_table(table.name, table.with_parameters({**table.parameters, STAMP: str(stamp)}))
            tables += 1
    state = ReplicaState.read(database.parameters)
    following = replace(state, phase=Phase.FOLLOWING, policy=policy.name, log_id=log_id, position=position)
    lease.confirm()
    ports.replica.set_database_parameters(database.name, {**database.parameters, **following.written()})
    report(f"taken over from Hive at event {position.event_id}: {tables} tables stamped")


def _mark_directory(ports: WritePorts, policy: Policy, table: Table, lease: Lease) -> None:
    """Mark the directory of a managed table: what our contents replace there is ours to move aside one day.

    Where Hive's user does not let us, it stays without a mark, and is never moved.
    """
    files = ports.replica_files
    if table.is_external or not table.location or not table.location.startswith(f"{files.root}/"):
        return
    with suppress(Missing, Refused):
        if table_mark(files, table.location) is None:
            lease.confirm()
            mark_table(files, table.location, f"{policy.name}:hive")


def _stamp_partitions(ports: WritePorts, policy: Policy, table: Table, stamp: Stamp, lease: Lease) -> None:
    if not table.partition_keys:
        return
    for some in _chunks(ports.replica.partition_names(table.name), policy.options.partitions_per_call):
        bare = [one for one in ports.replica.partitions(table.name, some) if STAMP not in one.parameters]
        if bare:
            lease.confirm()
            ports.replica.alter_partitions([one.with_parameters({**one.parameters, STAMP: str(stamp)}) for one in bare])


def _chunks(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (names[start : start + size] for start in range(0, len(names), size))
