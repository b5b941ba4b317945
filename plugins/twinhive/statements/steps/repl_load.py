"""Run a REPL LOAD: bring a replica to the event of a dump (seed 002, 'REPL LOAD').

A dump of a whole scope is copied and loaded as a bootstrap is, a dump of events as a window is; both go on where an
earlier try was killed. The dump itself is only read, so that other replicas can load it too; what a replica has copied
and how far it is stands in its own staging directory and on its own database.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from twinhive.core.directory_marks.staging import claim_staging, foreign_staging, own_staging
from twinhive.core.model.errors import Refused, together
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.objects import Database
from twinhive.core.ports import WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.preflight import Preflight, check_external_tables, check_file_systems
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.loader_notes import note_loaded, note_loading
from twinhive.replication.dump.repl_dump_description import open_sealed
from twinhive.replication.external_tables.publish_pending import publish_between_windows
from twinhive.replication.incremental import apply_stage
from twinhive.replication.incremental.apply_stage import ApplyStage
from twinhive.replication.notification_log.log_access_check import report_replica
from twinhive.replication.replica.root_directories import check_staging_root
from twinhive.replication.scan.sweep import last_swept, sweep
from twinhive.runtime.pipeline.phases import APPLY, LOAD
from twinhive.runtime.pipeline.runner import run_passes
from twinhive.statements.steps.copy_execution import IN_THIS_PROCESS, CopyingPlace
from twinhive.statements.steps.dump_compatibility import refuse_overtaken, refuse_unfit, state_before
from twinhive.statements.steps.hive_locations import move_to_hives_places
from twinhive.statements.steps.load_lease import under_way
from twinhive.statements.steps.take_over import adopt, is_of_hive

# A sweep reads all partitions of the replica.
_SWEEP_EVERY_SECONDS = 3_600


@dataclass(frozen=True)
class DumpLoaded:
    """Where the replica is now; `already` says that it was there before."""

    event_id: int
    already: str | None = None


@dataclass(frozen=True)
class ReplLoad:
    """Load one dump; the policy of `work` is made from it: its source, its scope, where it lies.

    `file_scope` is what a policy file selects for this replica, None for one that no file has.
    """

    work: Work
    dump: Dump
    hive_places: bool = False
    copying: CopyingPlace = IN_THIS_PROCESS
    file_scope: str | None = None
    clock: Callable[[], float] = time.time

    def run(self, ports: WritePorts) -> DumpLoaded:
        """Return the event. Raises before anything is changed when the dump does not fit the replica."""
        manifest = self.dump.manifest
        state = state_before(ports.replica, self.work.policy, manifest)
        already = refuse_unfit(state, manifest, self.dump.key, self.work.policy, self.file_scope)
        if not already:
            self.check(ports)
            claim_staging(ports.replica_files, self.work.policy)
            with under_way(ports, self.work):
                self._need(ports, state.position.event_id)
                self._load(ports) if manifest.kind is not DumpKind.INCREMENTAL else self._apply(ports)
        else:
            self.work.report(already)
        policy, end = self.work.policy, manifest.end.event_id
        if self.hive_places:
            self._move(ports, end)
        note_loaded(ports.dump_files, policy, manifest.log_id, end)
        if not already:
            self._say_other_scope(ports)
            self.sweep_unused(ports)
        return DumpLoaded(end, already)

    def _say_other_scope(self, ports: WritePorts) -> None:
        database = self._database(ports)
        scope = ReplicaState.read(database.parameters if database else None).scope
        if scope is not None and self.file_scope not in (None, scope):
            self.work.report(
                f"the replica is of scope {scope} now, and the file of policy {self.work.policy.name} selects "
                f"{self.file_scope}: nothing follows by that file until it selects the same"
            )

    def check(self, ports: WritePorts) -> None:
        """Raise what keeps a dump that fits from being loaded; say who we are to the replica's metastore."""
        report_replica(ports.replica, self.work.report)
        # With a base directory the pass that brings the data checks the external tables by itself.
        checks = (check_file_systems, *(() if self.work.policy.external.brings_data else (check_external_tables,)))
        problems = [one for check in checks for one in check(Preflight(self.work), ports)]
        problems += filter(None, [foreign_staging(ports.replica_files, self.work.policy)])
        if own_staging(ports.replica_files, self.work.policy) is None:
            # One that is there and ours stays in use, wherever it lies.
            problems += check_staging_root(ports, self.work.policy)
        if problems:
            raise together(problems, f"database {self.work.policy.replica} cannot be loaded: {len(problems)} problems")

    @property
    def _part(self) -> Work:
        return replace(self.work, part_of=LeaseKind.STATEMENT)

    def _database(self, ports: WritePorts) -> Database | None:
        return ports.replica.database(self.work.policy.replica.database)

    def _adopt(self, ports: WritePorts) -> "ReplLoad":
        """Take a replica over that is of Hive; return who judges it then: what its file selects says nothing of it."""
        policy = self.work.policy
        if is_of_hive(self._database(ports)):
            with hold_lease(ports, self.work, LeaseKind.STATEMENT) as lease:
                if is_of_hive(self._database(ports)):
                    adopt(ports, policy, lease, self.work.report)
                    return replace(self, file_scope=None)
        return self

    def _need(self, ports: WritePorts, event_id: int) -> None:
        """Say beside the dump that this replica needs it. Raises Missing when it was cleaned away meanwhile."""
        policy = self.work.policy
        note_loading(ports.dump_files, policy, self.dump.manifest.log_id, event_id)
        open_sealed(ports.dump_files, policy.dumps)

    def _load(self, ports: WritePorts) -> None:
        self._copy(ports)
        self._bring_external(ports)
        LOAD(self._part).run(ports)

    def _apply(self, ports: WritePorts) -> None:
        judging = self._adopt(ports)
        self._copy(ports)
        under_lease = APPLY.parts.index(apply_stage.take_lease) + 1
        parts = (*APPLY.parts[:under_lease], judging._judge_again, *APPLY.parts[under_lease:])
        replace(APPLY, parts=parts)(self._part).run(ports)
        if self._bring_external(ports):
            publish_between_windows(self._part, ports, self.dump.manifest.log_id)

    def _judge_again(self, run: ApplyStage) -> ApplyStage:
        """Judge the dump under the lease too: while its files were copied others may have changed the replica."""
        state = state_before(run.ports.replica, run.policy, self.dump.manifest)
        refuse_overtaken(state, self.dump.manifest, self.dump.key, run.policy, self.file_scope)
        return run

    def _bring_external(self, ports: WritePorts) -> bool:
        """Bring the data of external tables, which no dump holds, as it is now; False when none is copied."""
        policy = self.work.policy
        if policy.external.brings_data:
            run_passes(policy, ports, self.work.holder, self.work.report, execute=self.copying)
        return policy.external.brings_data

    def _move(self, ports: WritePorts, event_id: int) -> None:
        """Hand the replica back to Hive: everything goes to where Hive's own load will look for it."""
        policy, log_id = self.work.policy, self.dump.manifest.log_id
        with hold_lease(ports, self.work, LeaseKind.STATEMENT) as lease:
            moved = move_to_hives_places(ports, policy, log_id, event_id, lease)
        self.work.report(f"{moved} tables and partitions were moved to where Hive looks for them")

    def sweep_unused(self, ports: WritePorts) -> None:
        """Remove what nobody has used since the grace: no scan does it for a replica that has no policy file."""
        now = self.clock()
        if now - (last_swept(ports.replica_files, self.work.policy) or 0) >= _SWEEP_EVERY_SECONDS:
            try:
                sweep(ports, self.work)
            except Refused as error:
                # The dump is loaded; the sweep after the next one tries again.
                self.work.report(f"not all that nobody uses could be removed: {error}")

    def _copy(self, ports: WritePorts) -> None:
        for batch in self.dump.manifest.batches:
            work = Work(self.work.policy, batch.name, self.dump.key, self.work.holder, self.work.report)
            self.copying.batch(work, ports)


def replicated_event(database: Database | None) -> int | None:
    """Return what REPL STATUS says of a database: its replicated event id, None when no replication knows it."""
    if database is None:
        return None
    state = ReplicaState.read(database.parameters)
    if state.policy is not None and state.phase is not Phase.FOLLOWING:
        return None
    return state.position.event_id or None
