"""Pass an event over that the replica can do without."""

from dataclasses import dataclass
from datetime import UTC, datetime

from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import ActNow, InvalidSettings, Missing
from twinhive.core.model.marks import Phase
from twinhive.core.model.next_steps import bootstrap, command
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import ResyncTable, Text
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.hive.events.database_drop import drops_database
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_scope import in_scope
from twinhive.operations.actions.operation import Holder, a_reason, following_state, person
from twinhive.replication.dump.dump_store import newest_dump
from twinhive.replication.notification_log.event_stream import saved_events_after
from twinhive.replication.notification_log.skipped_events import obeyed_skips
from twinhive.replication.operator_requests.request_files import skip_event
from twinhive.replication.replica.replica_state import state_now


@dataclass(frozen=True)
class SkipEvent:
    """Ask for an event not to be applied; the replica records it with the reason when it passes it."""

    policy: Policy
    event_id: int
    reason: str
    holder: Holder

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what the event is, and that it would not be applied."""
        reason, row = a_reason(self.reason, "skip-event"), self._checked(ports)
        return [*self._said(ports, row), f"it would be passed over, and recorded on the replica: {reason}"]

    def run(self, ports: WritePorts) -> list[str]:
        """Write the request down."""
        reason, row = a_reason(self.reason, "skip-event"), self._checked(ports)
        lines, by, log_id = self._said(ports, row), person(self.holder), ports.source.log_id()
        skip_event(ports.replica_files, self.policy, self.event_id, reason, by, row.position, log_id)
        return [*lines, f"the next run passes it over, and records it on the replica: {reason}"]

    def _checked(self, ports: ReadPorts) -> EventRow:
        """Return the event. Raises InvalidSettings, Missing, ActNow for one that cannot be skipped."""
        policy, event_id = self.policy, self.event_id
        reached = _read_up_to(ports, policy)
        position = reached.event_id
        newest = ports.source.current_event_id()
        if event_id <= position:
            raise InvalidSettings(
                f"event_id: event {event_id} is behind the replica's position already",
                found=f"{reached.held_by} is at event {position}",
                expected=f"an event after {position}, up to {newest}",
                next_step=reached.if_behind,
            )
        if event_id > newest:
            raise InvalidSettings(
                f"event_id: there is no event {event_id} yet",
                found=f"the newest event of {policy.source.cluster} is {newest}",
                expected=f"an event after {position}, up to {newest}",
                next_step="take the id from the error of the failed task",
            )
        row = _row(ports, policy, position, event_id)
        if row is None:
            raise Missing(
                f"event_id: the log of {policy.source.cluster} does not hold event {event_id} any more",
                found="no such row: it has expired, and others with it may have",
                expected="a row of the notification log",
                next_step=reached.if_expired,
            )
        if not _concerns(row, policy):
            raise InvalidSettings(
                f"event_id: event {event_id} is not in the scope of policy {policy.name}, and is passed over anyway",
                found=_described(row),
                expected=f"an event of {policy.source} and the tables that the policy selects",
                next_step="take the id from the error of the failed task",
            )
        return row

    def _said(self, ports: ReadPorts, row: EventRow) -> list[str]:
        """Return what the event is, and whether it is to be passed over already."""
        there = obeyed_skips(ports, self.policy).get(row.event_id)
        with_it = "the drops of tables and functions right before it are passed over with it"
        return [
            _described(row),
            *([with_it] if drops_database(row) else []),
            *([f"it is to be passed over already: {there}"] if there else []),
        ]


@dataclass(frozen=True)
class _Reached:
    """The event behind which the log is still read, what is at it, and what to do about an event that is not there.

    if_behind   about one before it
    if_expired  about one after it that the log does not hold any more
    """

    event_id: int
    held_by: str
    if_behind: Text
    if_expired: Text


def _read_up_to(ports: ReadPorts, policy: Policy) -> _Reached:
    """Return where windows go on, or rounds before there is a replica."""
    state = state_now(ports, policy)
    dump = None if state.phase is Phase.FOLLOWING else newest_dump(ports.dump_files, policy)
    if dump is not None:
        anew = f"start the DAG {policy.name}.bootstrap with again=true"
        return _Reached(dump.manifest.end.event_id, f"the dump {dump.key}", bootstrap(policy.name), anew)
    position = following_state(ports, policy, "skip-event").position.event_id
    return _Reached(
        position,
        f"the replica of policy {policy.name}",
        "a table that is wrong since then is brought over with: " + ResyncTable(policy.name, None),
        "ask for what differs, and for that alone, with " + command("twinhive", "resync", policy.name, "--all"),
    )


def _row(ports: ReadPorts, policy: Policy, position: int, event_id: int) -> EventRow | None:
    """Return a row of the log, or of what was saved from it while the replica was loaded."""
    saved = (row for some in saved_events_after(ports.dump_files, policy, Position(position)) for row in some.rows)
    rows = (*ports.source.events_after(event_id - 1, 1), *(row for row in saved if row.event_id == event_id))
    return next((row for row in rows if row.event_id == event_id), None)


def _concerns(row: EventRow, policy: Policy) -> bool:
    """True for what a window would hold; a message that cannot be read may say anything."""
    try:
        return in_scope(row, policy)
    except ActNow:
        return True


def _described(row: EventRow) -> str:
    when = datetime.fromtimestamp(row.time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    names = ".".join(filter(None, (row.database, row.table))) or "no database"
    try:
        tables = sorted(map(str, tables_of(decode_event(row).change)))
    except ActNow as error:
        return f"event {row.event_id} of {when}: {row.event_type} of {names}; {error.words.what}"
    return f"event {row.event_id} of {when}: {row.event_type} of {', '.join(tables) or names}"
