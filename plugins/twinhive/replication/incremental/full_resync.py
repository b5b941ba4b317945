"""What a window takes in that brings over all that differs: where it ends, its tables, the database, its functions.

It reads no events before its end, so that it goes on where the log has a gap (`twinhive resync POLICY --all`).
"""

from dataclasses import dataclass

from twinhive.core.model.errors import Missing
from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.objects import Database, Function
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.reader import newest_position
from twinhive.replication.apply.functions import has_own_files, said_of_alone
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.bootstrap.folded_manifest import database_after, functions_after
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.operator_requests.request_files import request_table, requested_tables
from twinhive.replication.replica.source_scope import readable_tables, selected_names
from twinhive.replication.replica.stamping import is_ours


@dataclass(frozen=True)
class DatabaseState:
    """A database and its functions as they were at an event."""

    database: Database
    functions: tuple[Function, ...]

    def after(self, event_range: EventRange) -> "DatabaseState":
        """Return it as events have left it; some of them may be in it already."""
        events = [decode_event(row) for row in event_range.rows]
        return DatabaseState(database_after(self.database, events), functions_after(self.functions, events))


def range_without_events(ports: ReadPorts, begin: ReplicaState) -> EventRange:
    """Return a range up to the newest event, whatever the log holds of it. Raises ActNow for another log."""
    return EventRange(begin.position, newest_position(ports.source, begin.position), ())


@dataclass(frozen=True)
class AllTables:
    """The names of a policy's tables and views on both sides, in order.

    compared   those of the source that are replicated, and those of the replica that are ours
    foreign    those of the replica that somebody else made, or of a kind that no policy brings: nothing of them is
               touched
    """

    compared: tuple[str, ...]
    foreign: tuple[str, ...]


def request_all_tables(ports: WritePorts, policy: Policy, state: ReplicaState) -> None:
    """Ask for each table of either side that is not asked for yet."""
    asked, why = requested_tables(ports.replica_files, policy), "all that the policy selects is compared"
    for table in sorted({*read_all_tables(ports, policy, state).compared} - {*asked}):
        request_table(ports.replica_files, policy, table, why, repairs=True)


def read_all_tables(ports: ReadPorts, policy: Policy, state: ReplicaState) -> AllTables:
    """Ask both metastores for the tables that the policy selects.

    One of the source that cannot be read is compared too: that says so, and stops no other.
    """
    database, copy = policy.source.database, policy.replica.database
    found, unreadable = readable_tables(ports.source, database, selected_names(ports.source, policy, database))
    here = {one.name.table for one in found if not policy.left_out(one)} | unreadable.keys()
    known, _ = readable_tables(ports.replica, copy, selected_names(ports.replica, policy, copy))
    there = {one.name.table: one for one in known}
    ours = {name for name, one in there.items() if is_ours(policy, one, state.log_id)}
    return AllTables(tuple(sorted((here - there.keys()) | ours)), tuple(sorted(there.keys() - ours)))


def functions_alone(ports: ReadPorts, policy: Policy) -> list[str]:
    """Say of each function of the replica that the source has not, and that nothing drops, what people can do."""
    database, root = policy.replica.database, managed_root(ports.replica, policy)
    here = {one.name.lower() for one in ports.source.functions(policy.source.database)}
    there = (one for one in ports.replica.functions(database) if one.name.lower() not in here)
    return [said_of_alone(database, one) for one in there if not has_own_files(one, root)]


def read_database(ports: ReadPorts, policy: Policy) -> DatabaseState:
    """Return what the source's database is now. Raises Missing where there is none."""
    database = ports.source.database(policy.source.database)
    if database is None:
        raise Missing(
            f"the source database {policy.source} is gone; no replica is dropped for that",
            found="no such database",
            expected="a source database",
            next_step=f"create it again, or remove the policy file of {policy.name} if nobody needs its replica",
        )
    return DatabaseState(database, tuple(ports.source.functions(policy.source.database)))
