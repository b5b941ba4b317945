"""Apply a window to the replica, event by event, under the policy's lease."""

from dataclasses import dataclass, field

from twinhive.apply.lane import Applied
from twinhive.apply.open_target import open_target
from twinhive.bootstrap.gate import check_window
from twinhive.dump.cleaning import clean_staging
from twinhive.dump.eventless import is_still_to_apply
from twinhive.dump.store import Dump, of_this_text, window_at
from twinhive.incremental.applying import Applying
from twinhive.model.errors import ActNow
from twinhive.model.lease_kinds import LeaseKind
from twinhive.model.marks import Phase, ReplicaState
from twinhive.model.next_steps import bootstrap, clear, resync_request
from twinhive.ports import WritePorts
from twinhive.replica.replica_state import read_state
from twinhive.requests.request_files import requested_tables
from twinhive.step.base import Work
from twinhive.step.holding import hold_lease


@dataclass(frozen=True)
class WindowApplied:
    """What became of a window: the position now, events applied and not, tables that are frozen.

    `pending` are the external tables that wait for data since this window: who brings it is to be told.
    """

    event_id: int
    events: int = 0
    calls: int = 0
    already: str | None = None
    not_replicated: dict[str, int] = field(default_factory=dict)
    quarantined: dict[str, int] = field(default_factory=dict)
    pending: tuple[str, ...] = ()


@dataclass(frozen=True)
class Apply:
    """Bring the replica from where it is to the end of the window."""

    work: Work

    def run(self, ports: WritePorts) -> WindowApplied:
        """Return what was applied. Events that are on the replica already are passed over."""
        policy, report = self.work.policy, self.work.report
        log_id = ports.source.log_id()
        # Before it is asked for: a load that is under way keeps it.
        self._refuse_unpublished(read_state(ports.replica, policy, log_id))
        with hold_lease(ports, self.work, LeaseKind.EVENTS) as lease:
            state = read_state(ports.replica, policy, log_id)
            dump = self._window(ports, state)
            if dump is None:
                already = f"already applied: the replica is at event {state.position.event_id}"
                report(already)
                return WindowApplied(state.position.event_id, already=already)
            lost = check_window(ports, dump, policy, state.position.event_id)
            applying = Applying(self.work, ports, dump, open_target(ports, policy, log_id, lease))
            applied = applying.run(lost)
            pending = applying.publish()
            lease.confirm()
            clean_staging(ports.replica_files, policy, dump.manifest.end.event_id)
        return self._said(dump, applied, pending)

    def _refuse_unpublished(self, state: ReplicaState) -> None:
        if state.phase is not Phase.FOLLOWING:
            raise ActNow(
                f"the replica of policy {self.work.policy.name} is not published yet",
                found=f"phase {state.phase.value}",
                expected=Phase.FOLLOWING.value,
                next_step=bootstrap(self.work.policy.name) + ", or " + clear("its failed task"),
            )

    def _window(self, ports: WritePorts, state: ReplicaState) -> Dump | None:
        self._refuse_unpublished(state)
        dump = window_at(ports.dump_files, self.work.policy, state.position.event_id)
        if dump is None:
            return None
        of_this_text(dump, self.work.policy)
        if not dump.layout.is_eventless:
            return dump
        if dump.manifest.scope:
            return dump if is_still_to_apply(state, dump.manifest) else None
        waiting = set(requested_tables(ports.replica_files, self.work.policy))
        return dump if waiting & set(dump.manifest.snapshots) else None

    def _said(self, dump: Dump, applied: Applied, pending: tuple[str, ...]) -> WindowApplied:
        report, end = self.work.report, dump.manifest.end.event_id
        report(
            f"the replica is at event {end}: {applied.events} events applied in {applied.actions} steps, "
            f"{applied.already} were there before"
        )
        for reason, count in sorted(applied.not_replicated.items()):
            report(f"not replicated: {reason} ({count} events)")
        for table, count in sorted(applied.quarantined.items()):
            report(
                f"QUARANTINED: {table}, {count} events of this window passed over; bring it back with: "
                + resync_request(self.work.policy.name, table)
            )
        return WindowApplied(
            end,
            applied.events,
            applied.actions,
            not_replicated=dict(applied.not_replicated),
            quarantined=dict(applied.quarantined),
            pending=pending,
        )
