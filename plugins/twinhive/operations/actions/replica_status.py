"""Collect what a person wants to know of a replica: how far it is, what is wrong, what waits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import SKIPPED, Phase, ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.text import Text, render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.replica_lease import lease_directory
from twinhive.hive.events.reader import position_at, read_events
from twinhive.replication.dump.dump_store import newest_dump, window_at
from twinhive.replication.external_tables.external_status import last_pass, pending_objects
from twinhive.replication.incremental.scope_check import missing_between_scopes
from twinhive.replication.notification_log.event_stream import event_range_after
from twinhive.replication.notification_log.skipped_events import obeyed_skips
from twinhive.replication.operator_requests.request_files import is_paused, requested_tables
from twinhive.replication.replica.held_sets import held_sets
from twinhive.replication.replica.replica_state import shown_state
from twinhive.replication.verify.verification_outcome import Verified, last_outcome

_FIRST_ROWS = 10


@dataclass(frozen=True)
class ReplicaStatus:
    """The state of one replica.

    in_scope   how many of the events behind concern the policy; None when there are too many to look at
    trouble    why the log cannot be read from the position on, None when it can
    skipped    events that were passed over, and those that are to be, with the reasons
    pending    external tables of which something waits for its data: what, and since which event
    external   how far the copies of external tables are, None where there was none yet
    verified   what the last verification came to, None before the first one
    held_sets  sets that are done at the source and not shown yet: why, and what is next
    """

    policy: Policy
    state: ReplicaState
    newest: Position
    in_scope: int | None
    trouble: str | None
    quarantined: Mapping[str, str]
    skipped: Mapping[int, str]
    paused: Text | None
    requested: tuple[str, ...]
    dump: str | None
    holder: str | None
    pending: Mapping[str, str] = field(default_factory=dict)
    external: str | None = None
    verified: Verified | None = None
    held_sets: Mapping[str, str] = field(default_factory=dict)

    @property
    def behind(self) -> int | None:
        """Events of all databases after the position; None for a replica that does not follow."""
        if self.state.phase is not Phase.FOLLOWING:
            return None
        return self.newest.event_id - self.state.position.event_id

    def rows(self) -> list[tuple[str, str]]:
        """Return label and value of each line, in the order to be shown."""
        state = self.state
        position = _event(state.position) if state.phase is Phase.FOLLOWING else "none: the replica does not follow"
        rows = [
            ("policy", self.policy.name),
            ("source", str(self.policy.source)),
            ("replica", str(self.policy.replica)),
            ("phase", state.phase.value),
            ("position", position),
            ("newest event of the source", _event(self.newest)),
            ("events behind", self._behind()),
            ("paused", render(self.paused or "no")),
            ("lease", self.holder or "nobody holds it"),
            ("dump", self.dump or "none"),
        ]
        missing = missing_between_scopes(state)
        rows += [("between two scopes", missing)] if missing else []
        rows += [("external data", self.external)] if self.external else []
        if self.verified is not None:
            rows += [("verified", self.verified.headline), ("compared", self.verified.coverage)]
        rows += [(f"pending: {table}", what) for table, what in sorted(self.pending.items())]
        rows += [(f"set held: {name}", why) for name, why in sorted(self.held_sets.items())]
        rows += [(f"quarantined: {table}", reason) for table, reason in sorted(self.quarantined.items())]
        rows += [(f"waits for resync: {table}", "the next incremental run") for table in self.requested]
        rows += [(f"skipped event {event_id}", reason) for event_id, reason in sorted(self.skipped.items())]
        return rows

    def _behind(self) -> str:
        if self.behind is None:
            return ""
        if self.trouble:
            return f"{self.behind}; {self.trouble}"
        return str(self.behind) if self.in_scope is None else f"{self.behind}, {self.in_scope} in scope"


def read_status(ports: WritePorts, policy: Policy) -> ReplicaStatus:
    """Read the state of a policy's replica; nothing is changed. Raises Foreign."""
    database = ports.replica.database(policy.replica.database)
    state = shown_state(database, policy, ports.source.log_id())
    newest = position_at(ports.source, ports.source.current_event_id())
    parameters = database.parameters if database else {}
    in_scope, trouble = _events_in_scope(ports, policy, state, newest)
    recorded = {
        int(key.removeprefix(SKIPPED)): value
        for key, value in parameters.items()
        if key.startswith(SKIPPED) and key.removeprefix(SKIPPED).isdigit()
    }
    return ReplicaStatus(
        policy=policy,
        state=state,
        newest=newest,
        in_scope=in_scope,
        trouble=trouble,
        quarantined=frozen_tables(parameters),
        skipped={**obeyed_skips(ports, policy), **recorded},
        paused=is_paused(ports.replica_files, policy),
        requested=requested_tables(ports.replica_files, policy),
        dump=_dump(ports, policy, state),
        holder=ports.lease.holder(lease_directory(policy)),
        pending=pending_objects(ports.replica_files, policy),
        external=last_pass(ports, policy),
        verified=last_outcome(ports.replica_files, policy),
        held_sets=held_sets(ports.replica_files, policy),
    )


def _events_in_scope(
    ports: ReadPorts, policy: Policy, state: ReplicaState, newest: Position
) -> tuple[int | None, str | None]:
    """Count what is in scope, as far as one window reaches; of more, look whether the log goes on at all."""
    if state.phase is not Phase.FOLLOWING:
        return None, None
    try:
        if newest.event_id - state.position.event_id > policy.options.window_events:
            next(read_events(ports.source, state.position, first_rows=_FIRST_ROWS), None)
            return None, None
        skipped = obeyed_skips(ports, policy)
        return len(event_range_after(ports.source, policy, state.position, skipped).event_range.rows), None
    except ActNow as error:
        return None, error.words.what


def _dump(ports: ReadPorts, policy: Policy, state: ReplicaState) -> str | None:
    try:
        window = window_at(ports.dump_files, policy, state.position.event_id) if _follows(state) else None
        newest = None if _follows(state) else newest_dump(ports.dump_files, policy)
    except ActNow as error:
        return error.words.what
    if window is not None:
        return f"{window.key} (begun)"
    return newest.key if newest is not None else state.dump


def _follows(state: ReplicaState) -> bool:
    return state.phase is Phase.FOLLOWING


def _event(position: Position) -> str:
    if not position.time:
        return f"event {position.event_id}"
    return f"event {position.event_id} of {datetime.fromtimestamp(position.time, UTC):%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True)
class ShowStatus:
    """Say how far a replica is."""

    policy: Policy

    def plan(self, ports: WritePorts) -> list[str]:
        """Return the lines of the status."""
        return [f"{label}: {value}" for label, value in read_status(ports, self.policy).rows()]

    def run(self, ports: WritePorts) -> list[str]:
        """Return the same: there is nothing to change."""
        return self.plan(ports)
