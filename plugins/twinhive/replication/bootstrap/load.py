"""The parts of the stage `load`: build the replica from a dump whose files are staged, and publish it at one event id.

Files are placed, objects registered, and `repl.last.id` is written last, all under the policy's lease.
"""

from dataclasses import dataclass, field, replace

from twinhive.core.model.constraints import foreign_keys, without_foreign_keys
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.step.deferred_work import left_after_last_try
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Detail
from twinhive.core.step.step_parts import LeasedRun
from twinhive.replication.apply.external.pending_publication import Published
from twinhive.replication.bootstrap.gate import check_copied, consolidated_dump
from twinhive.replication.bootstrap.loading_dump import LoadingDump
from twinhive.replication.bootstrap.open_replica import open_replica as opened_for
from twinhive.replication.dump import staging_cleanup
from twinhive.replication.dump.dump_store import window_at
from twinhive.replication.replica import replica_state
from twinhive.replication.replica.replica_state import already_published, read_state


@dataclass(frozen=True)
class Loaded:
    """What the replica holds now, and the event at which it equals the source."""

    event_id: int
    tables: int = 0
    partitions: int = 0
    views: int = 0
    files: int = 0
    bytes: int = 0
    pending: tuple[str, ...] = ()
    already: str | None = None


@dataclass(frozen=True)
class LoadStage(LeasedRun):
    """One run of the stage: what its parts have found out, taken, and done so far."""

    log_id: str = ""
    opened: LoadingDump | None = None
    loaded: Loaded = field(default_factory=lambda: Loaded(0))
    external: Published | None = None
    result: Loaded | None = None

    @property
    def loading(self) -> LoadingDump:
        """The load under way, once the replica is opened."""
        assert self.opened is not None, "the replica is opened before it is changed"
        return self.opened


def refuse_taken_over(run: LoadStage) -> LoadStage:
    """Refuse a replica that has taken over from its source. Raises Promoted."""
    replica_state.refuse_taken_over(run.ports.replica.database(run.policy.replica.database), run.policy)
    return replace(run, log_id=run.ports.source.log_id())


def take_lease(run: LoadStage) -> LoadStage:
    """Take the lease for the rest of the stage. Raises LeaseHeld."""
    return replace(run, taken=run.held.enter_context(hold_lease(run.ports, run.work, LeaseKind.LOAD)))


def stop_when_published(run: LoadStage) -> LoadStage:
    """End for a replica that is published already: it is left as it is."""
    state = read_state(run.ports.replica, run.policy, run.log_id)
    if not (already := already_published(state)):
        return run
    run.work.report(already)
    return clean_staging(replace(run, loaded=Loaded(state.position.event_id, already=already)))


def open_replica(run: LoadStage) -> LoadStage:
    """Find the dump, check that all of it is staged, and make the database, or take up the one that was begun."""
    ports, policy = run.ports, run.policy
    dump = consolidated_dump(ports, policy)
    copied = check_copied(ports, dump, policy.staging)
    root = opened_for(ports, policy, dump, run.lease, run.work.report)
    loading = LoadingDump(run.work, ports, dump, root, run.lease)
    return replace(run, opened=loading, loaded=Loaded(0, files=copied.files, bytes=copied.bytes))


def place_files(run: LoadStage) -> LoadStage:
    """Rename staged files into the directories of managed tables."""
    run.loading.place()
    return run


def register_tables(run: LoadStage) -> LoadStage:
    """Create managed tables and their partitions."""
    tables, partitions = run.loading.register()
    return replace(run, loaded=replace(run.loaded, tables=tables, partitions=partitions))


def add_constraints(run: LoadStage) -> LoadStage:
    """Add the constraints of managed tables, but for those that need other tables."""
    run.loading.constrain(without_foreign_keys)
    return run


def register_external_tables(run: LoadStage) -> LoadStage:
    """Note external tables as pending, and create those whose data is there."""
    external, loaded = run.loading.register_external(), run.loaded
    tables, partitions = loaded.tables + external.tables, loaded.partitions + external.partitions
    counted = replace(loaded, tables=tables, partitions=partitions, pending=external.left)
    return replace(run, external=external, loaded=counted)


def add_foreign_keys(run: LoadStage) -> LoadStage:
    """Add foreign keys, which need all tables and their keys."""
    run.loading.constrain(foreign_keys)
    return run


def register_views(run: LoadStage) -> LoadStage:
    """Create the views, after all tables."""
    return replace(run, loaded=replace(run.loaded, views=run.loading.register_views()))


def register_functions(run: LoadStage) -> LoadStage:
    """Create the functions, with their files."""
    run.loading.register_functions()
    return run


def publish(run: LoadStage) -> LoadStage:
    """Say on the database that it follows the source from now on: `repl.last.id` and the phase, by one call."""
    loaded, report = replace(run.loaded, event_id=run.loading.publish()), run.work.report
    report(
        f"published at event {loaded.event_id}: {loaded.tables} tables, {loaded.partitions} partitions, "
        f"{loaded.views} views"
    )
    if loaded.pending:
        report(f"{len(loaded.pending)} external tables wait for their data: {', '.join(loaded.pending)}")
    for left in run.external.left_out if run.external else ():
        report(Detail("What is left out", f"left out: {left}"))
    for entry in run.loading.dump.manifest.left_out:
        report(Detail("What is left out", f"left out: {entry.name}: {entry.reason}"))
    return replace(run, loaded=loaded)


def clean_staging(run: LoadStage) -> LoadStage:
    """Remove what only an unpublished bootstrap needs; late copies of a killed try go here too."""
    if window_at(run.ports.dump_files, run.policy, run.loaded.event_id) is None:
        run.lease.confirm()
        with left_after_last_try(run.work, staging_cleanup.NOT_CLEANED):
            staging_cleanup.clean_staging(run.ports.replica_files, run.policy, run.loaded.event_id)
    return replace(run, result=run.loaded)
