"""Whether a replica holds what the source's log said up to an event, of one table or of the whole database."""

from dataclasses import dataclass
from enum import Enum

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import ActNow, Foreign, InvalidSettings, Promoted, TryAgain
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Parameters
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.text import Again, ResyncTable, Text
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.event_message import names_touched
from twinhive.replication.notification_log.log_pages import rows_between
from twinhive.replication.operator_requests.request_files import is_paused, requested_tables, with_way_on
from twinhive.replication.replica.pending_files import pending_names
from twinhive.replication.replica.replica_state import state_of


@dataclass(frozen=True)
class Wanted:
    """What somebody waits for: all up to the event `as_of` of the source's log.

    table     only events that concern this table of the source, and the table must be there
    position  only the position counts: tables that are quarantined or wait for their data do not matter
    """

    as_of: int
    table: str | None = None
    position: bool = False


class Where(Enum):
    """Where it shows that what is missing has come."""

    SOURCE = "source"
    """The source's log has to reach the event."""
    REPLICA = "replica"
    """The replica's database has to reach it."""
    LATER = "later"
    """Files and tables have to be looked at again."""


@dataclass(frozen=True)
class Lack:
    """What is missing: where its coming shows, the event that brings it, and `why`, for people."""

    where: Where
    event_id: int
    why: Text


def what_is_missing(ports: ReadPorts, policy: Policy, wanted: Wanted) -> Lack | None:
    """Return what the replica lacks, None when everything that is wanted is there.

    Raises ActNow when nothing but a person can bring it: a replica that is not (or no more) the policy's, a log with a
    gap, a table that is not replicated. Raises TryAgain when a server does not answer.
    """
    newest = ports.source.current_event_id()
    if newest < wanted.as_of:
        return Lack(Where.SOURCE, wanted.as_of, f"the source is at event {newest}: {wanted.as_of} is still to come")
    database = ports.replica.database(policy.replica.database)
    parameters = database.parameters if database else None
    state = state_of(database, policy, ports.source.log_id())
    if missing := _not_reached(ports, policy, wanted, state):
        return missing
    return (
        missing_of_database(policy.name, parameters, 0, wanted.table, position=wanted.position)
        or _comes_whole(ports, policy, wanted)
        or _pending(ports, policy, wanted)
        or _no_table(ports, policy, wanted)
    )


def _not_reached(ports: ReadPorts, policy: Policy, wanted: Wanted, state: ReplicaState) -> Lack | None:
    if state.phase is not Phase.FOLLOWING:
        return Lack(Where.REPLICA, 0, _does_not_follow(policy.name, state) + _paused(ports, policy))
    last = 0
    for row in rows_between(ports.source, policy, state.position, wanted.as_of):
        if wanted.table is None or _concerns(row, policy, wanted.table):
            last = row.event_id
    if not last:
        return None
    return Lack(Where.REPLICA, last, _behind(state.position.event_id, last) + _paused(ports, policy))


def missing_of_database(
    policy: str, parameters: Parameters | None, event_id: int, table: str | None, *, position: bool
) -> Lack | None:
    """Return what the parameters of the replica's database say that is missing up to an event. Raises ActNow."""
    state = ReplicaState.read(parameters)
    if parameters is not None and state.policy != policy:
        raise Foreign(
            f"the replica is not (or no more) that of policy {policy}",
            found=f"the mark of policy {state.policy}" if state.policy else "no mark of any policy",
            expected=f"the mark of policy {policy}",
            next_step="look with: " + command("twinhive", "status", policy),
        )
    if state.phase is Phase.PROMOTED:
        raise _has_taken_over(policy)
    if state.phase is not Phase.FOLLOWING:
        return Lack(Where.REPLICA, event_id, _does_not_follow(policy, state))
    if state.position.event_id < event_id:
        return Lack(Where.REPLICA, event_id, _behind(state.position.event_id, event_id))
    frozen = frozen_tables(parameters or {})
    held = [name for name in sorted(frozen) if table in (None, name)]
    if not held or position:
        return None
    return Lack(
        Where.REPLICA,
        event_id,
        f"{_some(held)} is quarantined ({frozen[held[0]]}); a person must bring it back: "
        + ResyncTable(policy, held[0]),
    )


def table_in_scope(policy: Policy, table: str) -> str:
    """Return a table's name without its database, in lower case. Raises InvalidSettings for one out of scope.

    What comes before the first dot is a database: a name that holds a dot is given with its own.
    """
    database, dot, name = table.lower().partition(".")
    name = name if dot else database
    if policy.selects(name) and (database == policy.source.database or not dot):
        return name
    raise InvalidSettings(
        f"policy {policy.name} does not replicate table {table}",
        found=table,
        expected=f"a table of {policy.source.database} that tables.include and tables.exclude select",
        next_step="correct the sensor's table, then " + Again(),
    )


def _comes_whole(ports: ReadPorts, policy: Policy, wanted: Wanted) -> Lack | None:
    """Return what comes whole with a window: its events are not applied one by one, and the position may be past them.

    The request is there before the window is cut, and until the table is; so it is looked for after the position.
    """
    asked = () if wanted.position else requested_tables(ports.replica_files, policy)
    waiting = [table for table in asked if wanted.table in (None, table)]
    if not waiting:
        return None
    return Lack(Where.LATER, 0, f"{_some(waiting)} is resynced by the DAG {policy.name}.incremental")


def _pending(ports: ReadPorts, policy: Policy, wanted: Wanted) -> Lack | None:
    if wanted.position or not policy.external.brings_data:
        return None
    waiting = [name for name in pending_names(ports.replica_files, policy) if wanted.table in (None, name)]
    if not waiting:
        return None
    return Lack(Where.LATER, 0, f"{_some(waiting)} waits for its data, which the DAG {policy.name}.external brings")


def _no_table(ports: ReadPorts, policy: Policy, wanted: Wanted) -> Lack | None:
    if wanted.table is None or ports.replica.table(TableName(policy.replica.database, wanted.table)) is not None:
        return None
    there = ports.source.table(TableName(policy.source.database, wanted.table))
    if there is None:  # it was dropped on both sides
        return None
    if reason := policy.left_out(there):
        raise ActNow(
            f"table {wanted.table} of policy {policy.name} is not replicated",
            found=reason,
            expected="a table that has a twin",
            next_step="take the sensor out of the DAG, or let it wait for another table; then " + Again(),
        )
    return Lack(Where.LATER, 0, f"the replica has no table {wanted.table}, though the source has one")


def _concerns(row: EventRow, policy: Policy, table: str) -> bool:
    try:
        return TableName(policy.source.database, table) in names_touched(row)
    except ActNow:  # a message that cannot be read may be about any
        return True


def _does_not_follow(policy: str, state: ReplicaState) -> str:
    return (
        f"the replica does not follow yet (phase {state.phase.value}); "
        f"if nobody builds it, a person must start the DAG {policy}.bootstrap"
    )


def _has_taken_over(policy: str) -> Promoted:
    return Promoted(
        f"the replica of policy {policy} has taken over: no event reaches it any more",
        found=f"phase {Phase.PROMOTED.value}",
        expected="a replica that follows its source",
        next_step="wait for nothing here: what is written is there at once; see: "
        + command("twinhive", "status", policy),
    )


def _behind(position: int, event_id: int) -> str:
    return f"the replica is at event {position}; event {event_id} is to come"


def _paused(ports: ReadPorts, policy: Policy) -> Text:
    try:
        reason = is_paused(ports.replica_files, policy)
    except TryAgain:
        return ""
    return "; a person holds the policy back: " + with_way_on(policy, reason) if reason else ""


def _some(names: list[str]) -> str:
    more = len(names) - 1
    return f"{names[0]} (and {more} more)" if more else names[0]
