"""Make the database that was failed over from the replica of what took over: the first step of the reverse policy.

What only it has is copied into a database of its own first. Nothing of its content is changed: it is stamped, and
marked as following from the event after which the users of the new primary began. The policy is paused then, with
everything asked for: people look at what differs before it goes on, and the next window brings that over, and nothing
that is equal.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from twinhive.core.directory_marks.staging import claim_staging
from twinhive.core.model.errors import ActNow, Foreign, Missing, Promoted, Refused
from twinhive.core.model.external.modes import NO_BASE
from twinhive.core.model.failover.fence import FenceMark
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import (
    EXTERNAL_BASE,
    PHASE,
    POLICY,
    SOURCE_FOR,
    Phase,
    ReplicaState,
    Stamp,
    own_marks,
    replicated_by,
)
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Database, Parameters
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import Lease, ReadPorts, WritePorts
from twinhive.core.step.parameter_changes import change_database
from twinhive.core.step.promotion_note import end_promotion_note
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.operation import Holder, look_first, person
from twinhive.operations.failover.divergence.diverged_backup import Keeper, old_primary_log, plan_kept
from twinhive.operations.failover.divergence.kept_note import read_kept_note
from twinhive.operations.failover.fence.fence_removal import let_files_in
from twinhive.operations.failover.fence.fence_snapshots import delete_snapshots
from twinhive.operations.failover.fence.note import note_of
from twinhive.operations.failover.old_primary import QuietOldPrimary, still_written
from twinhive.operations.failover.old_primary_content import OldPrimary
from twinhive.operations.failover.promotion import PROMOTED, Promotion
from twinhive.replication.dump.dump_ownership import claim_dumps
from twinhive.replication.operator_requests.request_files import pause, request_everything
from twinhive.replication.replica.pending_files import remove_pending, remove_purges
from twinhive.replication.replica.set_checkpoint import forget_looked
from twinhive.replication.replica.stamping import stamp_everything

_PASSES = 3
"""So often what users write meanwhile is kept, before they are named."""


@dataclass(frozen=True)
class Failback:
    """Let the reverse policy follow: its source is the primary that took over, its replica the database before that."""

    policy: Policy
    holder: Holder
    wait: Callable[[float], None] = time.sleep

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what would be done."""
        promotion, database = self._found(ports)
        if self._follows(database, promotion):
            return self._next(ports, promotion)
        old = OldPrimary(ports, self.policy, promotion)
        return [
            f"{self.policy.source} has taken over from {self.policy.replica} after event {promotion.begin.event_id} of "
            "its own log",
            *plan_kept(ports, self.policy, promotion),
            *old.definitions(),
            *old.left_alone(),
            *self._others(ports, database),
            f"would stamp {old.stamped_count()} tables of {self.policy.replica} with their partitions; no content is "
            "changed",
            f"would mark {self.policy.replica} as the replica of policy {self.policy.name}, and pause the policy",
        ]

    def followed(self, ports: ReadPorts) -> list[str]:
        """Return what there is to say where the old primary follows already; else nothing."""
        promotion, database = self._found(ports)
        return self._next(ports, promotion) if self._follows(database, promotion) else []

    def prove_quiet(self, ports: ReadPorts) -> list[str]:
        """Prove that nobody writes the old primary any more, unless it follows already. Raises ActNow."""
        return self.followed(ports) or QuietOldPrimary(self.policy, wait=self.wait).run(ports)

    def keep(self, ports: WritePorts) -> list[str]:
        """Copy what only the old primary has into a database of its own; nothing else is changed."""
        policy = self.policy
        self._found(ports)
        claim_staging(ports.replica_files, policy)
        with hold_lease(ports, Work(policy, holder=self.holder), LeaseKind.LOAD) as lease:
            promotion, database = self._found(ports)
            if self._follows(database, promotion):
                return self._next(ports, promotion)
            kept = self._keeper(ports, promotion, lease).keep()
        return kept or [f"{policy.replica} has nothing alone that is not kept already"]

    def run(self, ports: WritePorts) -> list[str]:
        """Keep, stamp, ask for everything, pause, and mark; a second run goes on where a first one was killed.

        The last look for writers is under the lease, right before the mark; one more comes after it, for those who
        wrote in that moment: the policy is paused, so that nothing of theirs is replaced yet.
        """
        policy = self.policy
        promotion, database = self._found(ports)
        if self._is_done(ports, promotion, database):
            return self._next(ports, promotion)
        claim_staging(ports.replica_files, policy)
        claim_dumps(ports.dump_files, policy)
        with hold_lease(ports, Work(policy, holder=self.holder), LeaseKind.LOAD) as lease:
            promotion, database = self._found(ports)
            keeper, lines = self._keeper(ports, promotion, lease), list[str]()
            if not self._follows(database, promotion):
                lines += [*keeper.keep(), *OldPrimary(ports, policy, promotion).definitions()]
                stamped = self._stamp(ports, promotion, lease)
                lines += self._keep_until_quiet(keeper, policy.quiet_seconds)
                lines += [*self._open(ports, database, lease), stamped]
                self._mark(ports, promotion, lease)
            lines += self._keep_until_quiet(keeper)
            keeper.end()
        return [*lines, *self._others(ports, database), *self._next(ports, promotion)]

    def _keeper(self, ports: WritePorts, promotion: Promotion, lease: Lease) -> Keeper:
        return Keeper(ports, self.policy, promotion, old_primary_log(ports, self.policy, promotion), lease)

    def _keep_until_quiet(self, keeper: Keeper, seconds: float = 0.0) -> list[str]:
        """Keep what comes late, until nothing comes for so long. Raises ActNow with those who do not stop."""
        lines: list[str] = []
        written = None
        for _ in range(_PASSES):
            if seconds:
                self.wait(seconds)
            written = keeper.written_since()
            if written is not None and not written:
                return lines
            lines += keeper.keep()
        raise still_written(self.policy, written)

    def _stamp(self, ports: WritePorts, promotion: Promotion, lease: Lease) -> str:
        """Stamp all tables, and let the policy wait for people, with everything asked for."""
        policy, stamp = self.policy, Stamp(promotion.log, promotion.begin.event_id)
        was_held = OldPrimary(ports, policy, promotion).was_held()
        tables = stamp_everything(
            ports, policy, lease, stamp, lambda text: Stamp.log_of(text) == promotion.log, was_held
        )
        lease.confirm()
        ports.source_marker.mark(policy.source.database, policy.name)
        request_everything(ports.replica_files, policy, person(self.holder))
        # What waited when it was a replica before is nothing of this time: people have written both sides since.
        remove_pending(ports.replica_files, policy)
        remove_purges(ports.replica_files, policy)
        # The new primary's log tells nothing of what was marked here.
        forget_looked(ports.replica_files, policy)
        pause(ports.replica_files, policy, render(look_first("failback", policy.name)), person(self.holder))
        return f"stamped: {tables} tables of {policy.replica}"

    def _mark(self, ports: WritePorts, promotion: Promotion, lease: Lease) -> None:
        """Make the old primary the replica, unless it has become something else meanwhile."""

        def marked(database: Database) -> Parameters:
            self._refuse_primary(database, promotion)
            gone = own_marks(database.parameters).keys() - {SOURCE_FOR}
            stays = {key: value for key, value in database.parameters.items() if key not in gone}
            return {**stays, **self._state(promotion).written()}

        # It was a primary by this policy once, if it has a note; from the mark on it is none any more.
        end_promotion_note(ports.replica_files, self.policy)
        self._found(ports)
        lease.confirm()
        change_database(ports.replica, self.policy.replica.database, marked)

    def _open(self, ports: WritePorts, database: Database, lease: Lease) -> list[str]:
        """Let files into the old primary again, from now on those of the replication; its mark goes with the others."""
        mark = FenceMark.read(database.parameters)
        if mark is None:
            return []
        note = note_of(ports.source_files, mark)
        # The operator's command is not run: it lets users in, who stay away from a replica.
        lines = let_files_in(note, ports.trees.replica, lease.confirm)
        delete_snapshots(note, ports.trees.replica, lease.confirm)
        return lines

    def _others(self, ports: ReadPorts, database: Database) -> list[str]:
        """Name the other policies that replicate the old primary: theirs is a replica of a replica from now on."""
        source = ports.source.database(self.policy.source.database)
        ours = {self.policy.name, source.parameters.get(POLICY) if source else None}
        if others := [name for name in replicated_by(database.parameters) if name not in ours]:
            return [
                f"also replicated from {self.policy.replica}: {', '.join(others)}; what is a replica itself has none "
                f"that takes over: end these policies, or give them {self.policy.source} as their source"
            ]
        return []

    def _state(self, promotion: Promotion) -> ReplicaState:
        external = self.policy.external
        base = external.base_mark if external.included else None
        return ReplicaState(
            Phase.FOLLOWING, self.policy.name, promotion.log, position=promotion.begin, external_base=base
        )

    def _is_done(self, ports: ReadPorts, promotion: Promotion, database: Database) -> bool:
        """True for one that follows, with nobody who wrote in the moment of the mark."""
        note = read_kept_note(ports.replica_files, self.policy, promotion)
        return self._follows(database, promotion) and (note.until is None or note.is_final)

    def _follows(self, database: Database, promotion: Promotion) -> bool:
        state = ReplicaState.read(database.parameters) if POLICY in database.parameters else None
        return state is not None and state.phase is Phase.FOLLOWING and state.log_id == promotion.log

    def _next(self, ports: ReadPorts, promotion: Promotion) -> list[str]:
        policy = self.policy
        return [
            *OldPrimary(ports, policy, promotion).left_alone(),
            f"{policy.replica} is the replica of policy {policy.name} since event {promotion.begin.event_id} of "
            f"{policy.source}",
            f"look at what differs: twinhive resync {policy.name} --all --dry-run",
            "what only the old primary had is kept where the lines above say, and is replaced by what the new one has; "
            "to bring that over: "
            f"twinhive pause {policy.name} --off",
        ]

    def _found(self, ports: ReadPorts) -> tuple[Promotion, Database]:
        """Return since when the source is the primary, and the old one. Raises what keeps the two from being these."""
        policy = self.policy
        source = ports.source.database(policy.source.database)
        if source is None:
            raise Missing(
                f"there is no source database {policy.source}",
                found="no such database",
                expected="a database that has taken over from another one",
                next_step="correct source.database in the policy file",
            )
        promotion = Promotion.read(source.parameters)
        if promotion is None or promotion.log != ports.source.log_id():
            raise ActNow(
                f"{policy.source} has not taken over from {policy.replica}",
                found=f"{PROMOTED} = {source.parameters.get(PROMOTED) or '(not set)'}",
                expected=f"the mark of a failover, with the log {ports.source.log_id()}",
                next_step="fail over first, by the policy that replicates into it; or give the two sides of the policy "
                "file the other way round",
            )
        self._refuse_other_places(source)
        database = self._old_primary(ports, promotion)
        self._refuse_primary(database, promotion)
        return promotion, database

    def _refuse_other_places(self, source: Database) -> None:
        """Refuse to bring external tables elsewhere than to where the old primary has them."""
        external, made_with = self.policy.external, source.parameters.get(EXTERNAL_BASE, NO_BASE)
        if external.included and external.undone_mark.rstrip("/") != made_with.rstrip("/"):
            raise Refused(
                f"policy {self.policy.name} would not bring external tables back to where they were",
                found=f"in the policy file: {external.undone_mark}; {self.policy.source} says: {made_with}",
                expected="the base directory with which they were brought over, as external_tables.return_from",
                next_step="correct external_tables of the policy that fails back (failover.reverse does it by itself), "
                "or leave external tables out: external_tables.include: false",
            )

    def _refuse_primary(self, database: Database, promotion: Promotion) -> None:
        """Refuse a replica that has taken over since: what its users write would be replaced."""
        theirs = Promotion.read(database.parameters)
        is_later = (
            theirs is not None
            and theirs.source_log == promotion.log
            and theirs.position.event_id >= promotion.begin.event_id
        )
        if is_later and database.parameters.get(PHASE) == Phase.PROMOTED.value:
            raise Promoted(
                f"{self.policy.replica} is the primary: it has taken over from {self.policy.source} since",
                found=f"{PROMOTED} = {theirs}",
                expected=f"an old primary, written by nobody since {self.policy.source} took over",
                next_step="nothing is to be done in this direction; the other policy of the two makes "
                f"{self.policy.source} its replica",
            )

    def _old_primary(self, ports: ReadPorts, promotion: Promotion) -> Database:
        policy = self.policy
        database = ports.replica.database(policy.replica.database)
        if database is None:
            raise Missing(
                f"the old primary {policy.replica} is not there any more",
                found="no such database",
                expected="the database that was failed over from",
                next_step=f"start the DAG {policy.name}.bootstrap: all of it is copied",
            )
        was = (promotion.source_log, promotion.source)
        if was != (ports.replica.log_id(), policy.replica.database):
            raise Foreign(
                f"{policy.replica} is not what {policy.source} has taken over from: nothing of it is touched",
                found=f"database {policy.replica.database}, log {ports.replica.log_id()}",
                expected=f"database {promotion.source}, log {promotion.source_log}",
                next_step="correct replica in the policy file",
            )
        owner = database.parameters.get(POLICY)
        if owner not in (None, policy.name):
            raise Foreign(
                f"{policy.replica} belongs to another policy",
                found=f"{POLICY} = {owner}",
                expected=f"no mark, or that of policy {policy.name}",
                next_step="end that policy first with: " + command("twinhive", "forget", owner),
            )
        return database
