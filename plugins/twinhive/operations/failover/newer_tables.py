"""Find what is newer than the replica's position: a window that was begun and not ended leaves such tables."""

from twinhive.core.model.marks import STAMP, ReplicaState, Stamp
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.replication.replica.begun_window import may_be_ahead
from twinhive.replication.replica.source_scope import tables_in_bulk


def newer_than(ports: ReadPorts, policy: Policy, state: ReplicaState, event_id: int) -> frozenset[str]:
    """Return, in words, what bears the stamp of an event after one: tables, and tables with such partitions.

    The stamps of all partitions are read where the newest window that was begun has not ended: nothing else tells,
    once that window is not in staging any more. `state` is what the replica says now.
    """
    if not may_be_ahead(ports.replica_files, policy, state):
        return frozenset()
    replica, database, found = ports.replica, policy.replica.database, set[str]()
    for table in filter(policy.replicates, tables_in_bulk(replica, database, replica.table_names(database))):
        if _is_newer(table.parameters.get(STAMP), state, event_id):
            found.add(table.name.table)
        elif table.partition_keys and _has_newer_partitions(ports, policy, table.name, state, event_id):
            found.add(f"partitions of {table.name.table}")
    return frozenset(found)


def _has_newer_partitions(
    ports: ReadPorts, policy: Policy, table: TableName, state: ReplicaState, event_id: int
) -> bool:
    names, most = ports.replica.partition_names(table), policy.options.partitions_per_call
    return any(
        _is_newer(one.parameters.get(STAMP), state, event_id)
        for start in range(0, len(names), most)
        for one in ports.replica.partitions(table, names[start : start + most])
    )


def _is_newer(text: str | None, state: ReplicaState, event_id: int) -> bool:
    stamp = Stamp.parse(text)
    return stamp is not None and stamp.log_id == state.log_id and stamp.event_id > event_id
