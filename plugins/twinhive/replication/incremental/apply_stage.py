"""The parts of the stage `apply`: bring the replica to the end of the window, under the policy's lease."""

from dataclasses import dataclass, field, replace

from twinhive.core.model.errors import ActNow
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.next_steps import bootstrap
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear, ResyncTable, Text
from twinhive.core.ports import FileReader
from twinhive.core.step.deferred_work import left_after_last_try
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_parts import LeasedRun
from twinhive.replication.apply.lane import Applied
from twinhive.replication.apply.open_target import open_target
from twinhive.replication.bootstrap.gate import check_window
from twinhive.replication.dump import staging_cleanup
from twinhive.replication.dump.dump_remainder import files_needed_after, is_still_to_apply
from twinhive.replication.dump.dump_store import Dump, of_this_text, window_at, windows_ending_at
from twinhive.replication.incremental.kept_windows import keep_window
from twinhive.replication.incremental.scope_check import refuse_another_scope
from twinhive.replication.incremental.window_apply import Applying
from twinhive.replication.operator_requests.request_files import everything_requested, requested_tables
from twinhive.replication.replica.replica_state import read_state, refuse_taken_over


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
class ApplyStage(LeasedRun):
    """One run of the stage: what its parts have found out, taken, and done so far."""

    log_id: str = ""
    found: tuple[Dump, ReplicaState] | None = None
    lost: dict[int, Text] = field(default_factory=dict)
    opened: Applying | None = None
    applied: Applied = field(default_factory=Applied)
    pending: tuple[str, ...] = ()
    result: WindowApplied | None = None

    @property
    def dump(self) -> Dump:
        """The window, once it is found."""
        assert self.found is not None, "without a window the run has ended"
        return self.found[0]

    @property
    def applying(self) -> Applying:
        """The replica that is being changed, once it is opened."""
        assert self.opened is not None, "the replica is opened before it is changed"
        return self.opened


def refuse_unpublished(run: ApplyStage) -> ApplyStage:
    """Refuse a replica that is not published, before its lease is asked for: a load that is under way keeps it.

    One of another scope is refused too.
    """
    refuse_taken_over(run.ports.replica.database(run.policy.replica.database), run.policy)
    log_id = run.ports.source.log_id()
    _following(run, log_id)
    return replace(run, log_id=log_id)


def take_lease(run: ApplyStage) -> ApplyStage:
    """Take the lease for the rest of the stage. Raises LeaseHeld."""
    return replace(run, taken=run.held.enter_context(hold_lease(run.ports, run.work, LeaseKind.EVENTS)))


def find_window(run: ApplyStage) -> ApplyStage:
    """Find the window after the replica's position; end when all is applied already."""
    state = _following(run, run.log_id)
    dump = _window(run, state)
    if dump is not None:
        return replace(run, found=(dump, state))
    already = f"already applied: the replica is at event {state.position.event_id}"
    run.work.report(already)
    return replace(run, result=WindowApplied(state.position.event_id, already=already))


def check_copied(run: ApplyStage) -> ApplyStage:
    """Compare listed and copied files; lost ones freeze their tables. Raises ActNow when copies are missing."""
    assert run.found is not None, "without a window the run has ended"
    dump, state = run.found
    after = files_needed_after(state, dump.manifest)
    return replace(run, lost=check_window(run.ports, dump, run.policy, after))


def keep_for_salvage(run: ApplyStage) -> ApplyStage:
    """Keep the window where the replica is, before anything of it is applied: an event can be ended without its source.

    A statement's dump is somebody else's to keep.
    """
    if not run.policy.dump_directory:
        run.lease.confirm()
        keep_window(run.ports, run.policy, run.dump)
    return run


def open_replica(run: ApplyStage) -> ApplyStage:
    """Open the replica, to be changed under the lease."""
    target = open_target(run.ports, run.policy, run.log_id, run.lease)
    return replace(run, opened=Applying(run.work, run.ports, run.dump, target))


def drop_excluded_tables(run: ApplyStage) -> ApplyStage:
    """Drop the tables that a change of the policy does not select any more."""
    run.applying.drop_excluded()
    return run


def record_skipped_events(run: ApplyStage) -> ApplyStage:
    """Note on the replica which events a person has skipped."""
    run.applying.record_skipped()
    return run


def apply_events(run: ApplyStage) -> ApplyStage:
    """Apply the events in the order of the log; those that are on the replica already are passed over."""
    return replace(run, applied=run.applying.apply_events(run.lost))


def replace_whole_tables(run: ApplyStage) -> ApplyStage:
    """Replace the tables that come whole by what they were at the window's end."""
    run.applying.replace_whole()
    return run


def finish_window(run: ApplyStage) -> ApplyStage:
    """Write the window's end as the replica's position."""
    run.applying.finish()
    return run


def publish_waiting_tables(run: ApplyStage) -> ApplyStage:
    """Publish external tables whose data has come; after the position, so that no event comes again for it."""
    return replace(run, pending=run.applying.publish())


def clean_staging(run: ApplyStage) -> ApplyStage:
    """Remove from staging what is not needed any more; say what became of the window."""
    run.lease.confirm()
    with left_after_last_try(run.work, staging_cleanup.NOT_CLEANED):
        staging_cleanup.clean_staging(run.ports.replica_files, run.policy, run.dump.manifest.end.event_id)
    return replace(run, result=_result(run))


def _following(run: ApplyStage, log_id: str) -> ReplicaState:
    state = read_state(run.ports.replica, run.policy, log_id)
    if state.phase is not Phase.FOLLOWING:
        raise ActNow(
            f"the replica of policy {run.policy.name} is not published yet",
            found=f"phase {state.phase.value}",
            expected=Phase.FOLLOWING.value,
            next_step=bootstrap(run.policy.name) + ", or " + Clear("its failed task"),
        )
    refuse_another_scope(run.policy, state)
    return state


def _window(run: ApplyStage, state: ReplicaState) -> Dump | None:
    dump = window_at(run.ports.dump_files, run.policy, state.position.event_id) or _only_events_applied(run, state)
    if dump is None:
        return None
    of_this_text(dump, run.policy)
    if not dump.layout.is_eventless:
        return dump
    if dump.manifest.statement.scope:
        return dump if is_still_to_apply(state, dump.manifest) else None
    return dump if is_asked_for(run.ports.replica_files, run.policy, dump) else None


def _only_events_applied(run: ApplyStage, state: ReplicaState) -> Dump | None:
    """Return a statement's dump whose last event the replica has, from elsewhere, and not all that it is to bring."""
    if not run.policy.dump_directory:
        return None
    dump = next(windows_ending_at(run.ports.dump_files, run.policy, state.position.event_id), None)
    return dump if dump is not None and is_still_to_apply(state, dump.manifest) else None


def is_asked_for(files: FileReader, policy: Policy, dump: Dump) -> bool:
    """True while something waits for what a window resyncs."""
    window = dump.manifest.window
    asked = everything_requested(files, policy)
    return bool(set(requested_tables(files, policy)) & set(window.snapshots)) or (
        bool(asked) and asked == window.everything
    )


def _result(run: ApplyStage) -> WindowApplied:
    report, end, applied = run.work.report, run.dump.manifest.end.event_id, run.applied
    report(
        f"the replica is at event {end}: {applied.events} events applied in {applied.actions} steps, "
        f"{applied.already} were there before"
    )
    for reason, count in sorted(applied.not_replicated.items()):
        report(f"not replicated: {reason} ({count} events)")
    for table, count in sorted(applied.quarantined.items()):
        report(
            f"QUARANTINED: {table}, {count} events of this window passed over; bring it back with: "
            + ResyncTable(run.policy.name, table)
        )
    return WindowApplied(
        end,
        applied.events,
        applied.actions,
        not_replicated=dict(applied.not_replicated),
        quarantined=dict(applied.quarantined),
        pending=run.pending,
    )
