"""What a window takes in that brings over all that differs: where it ends, its tables, the database, its functions.

It reads no events before its end, so that it goes on where the log has a gap (`twinhive resync POLICY --all`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from twinhive.bootstrap.folded_manifest import database_after, functions_after
from twinhive.dump.event_range import EventRange
from twinhive.events.decoder import decode_event
from twinhive.events.reader import newest_position
from twinhive.model.errors import Missing
from twinhive.model.marks import STAMP, ReplicaState, Stamp
from twinhive.model.objects import Database, Function, Table
from twinhive.model.policy import Policy
from twinhive.ports import MetastoreReader, ReadPorts, WritePorts
from twinhive.requests.request_files import request_table, requested_tables

_PER_CALL = 300


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


def request_all_tables(ports: WritePorts, policy: Policy, state: ReplicaState) -> None:
    """Ask for each table of either side that is not asked for yet."""
    asked, why = requested_tables(ports.replica_files, policy), "all that the policy selects is compared"
    for table in sorted(all_tables(ports, policy, state) - set(asked)):
        request_table(ports.replica_files, policy, table, why, repairs=True)


def all_tables(ports: ReadPorts, policy: Policy, state: ReplicaState) -> frozenset[str]:
    """Return the tables of the source that are replicated, and those of the replica that are ours.

    A table of somebody else on the replica is none: nothing of it is touched.
    """
    here = {one.name.table for one in _tables(ports.source, policy, policy.source.database) if not policy.left_out(one)}
    there = {one.name.table: one for one in _tables(ports.replica, policy, policy.replica.database)}
    ours = {name for name, one in there.items() if _is_ours(one, state)}
    return frozenset((here - there.keys()) | ours)


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


def _tables(metastore: MetastoreReader, policy: Policy, database: str) -> Iterator[Table]:
    names = sorted(filter(policy.selects, metastore.table_names(database)))
    for some in _pages(names):
        yield from metastore.tables(database, some)


def _pages(names: Sequence[str]) -> Iterable[Sequence[str]]:
    return (names[start : start + _PER_CALL] for start in range(0, len(names), _PER_CALL))


def _is_ours(table: Table, state: ReplicaState) -> bool:
    stamp = Stamp.parse(table.parameters.get(STAMP))
    return stamp is not None and stamp.log_id == state.log_id


def foreign_tables(ports: ReadPorts, policy: Policy, state: ReplicaState) -> list[str]:
    """Return the replica's tables that the policy selects and did not make."""
    found = _tables(ports.replica, policy, policy.replica.database)
    return [one.name.table for one in found if not _is_ours(one, state)]
