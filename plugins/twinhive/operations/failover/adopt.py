"""Make a database that people have filled, with DistCp or from disks in a truck, the replica of a policy.

Nothing of its content is changed: it is stamped, everything is asked for, and the policy is paused, so that people see
what differs before the next window brings that over, and nothing that is equal. That the database may be taken is said
by who filled it, on the database itself.
"""

from dataclasses import dataclass

from twinhive.core.directory_marks.staging import claim_staging
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Foreign, Missing, Refused
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import POLICY, Phase, ReplicaState, Stamp
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Database, Parameters
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.parameter_changes import change_database
from twinhive.core.step.promotion_note import end_promotion_note
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.hive.events.reader import position_at
from twinhive.operations.actions.operation import Holder, look_first, person
from twinhive.replication.dump.dump_ownership import claim_dumps
from twinhive.replication.incremental.full_resync import functions_alone
from twinhive.replication.operator_requests.request_files import pause, request_everything
from twinhive.replication.replica.replica_state import refuse_taken_over
from twinhive.replication.replica.source_scope import each_table
from twinhive.replication.replica.stamping import brings, stamp_everything

SEED = "twinhive.seed"
"""Says on a database for which policy people have filled it."""
_NAMED = 20


@dataclass(frozen=True)
class Adopt:
    """Let a policy follow into a database that people have filled."""

    policy: Policy
    holder: Holder

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what would be done."""
        database = self._found(ports)
        if self._follows(database):
            return self._next(ports)
        tables = sum(brings(self.policy, one) for one in each_table(ports.replica, database.name))
        return [
            *self._left_alone(ports),
            f"would stamp {tables} tables of {self.policy.replica} with their partitions; no content is changed",
            f"would mark {self.policy.replica} as the replica of policy {self.policy.name}, and pause the policy",
        ]

    def run(self, ports: WritePorts) -> list[str]:
        """Stamp, ask for everything, pause, and mark last; a second run goes on where a first one was killed."""
        policy = self.policy
        if self._follows(self._found(ports)):
            return self._next(ports)
        log_id = ports.source.log_id()
        claim_staging(ports.replica_files, policy)
        claim_dumps(ports.dump_files, policy)
        with hold_lease(ports, Work(policy, holder=self.holder), LeaseKind.LOAD) as lease:
            begin = position_at(ports.source, ports.source.current_event_id())
            stamp = Stamp(log_id, begin.event_id)
            tables = stamp_everything(ports, policy, lease, stamp, lambda text: Stamp.log_of(text) == log_id)
            ports.source_marker.mark(policy.source.database, policy.name)
            request_everything(ports.replica_files, policy, person(self.holder))
            pause(ports.replica_files, policy, render(look_first("adopt", policy.name)), person(self.holder))
            end_promotion_note(ports.replica_files, policy)
            database = self._found(ports)
            lease.confirm()
            following = self._state(log_id, begin).written()
            change_database(ports.replica, database.name, lambda found: _without_seed(found.parameters) | following)
        return [f"stamped: {tables} tables of {policy.replica}", *self._next(ports)]

    def _state(self, log_id: str, begin: Position) -> ReplicaState:
        return ReplicaState(Phase.FOLLOWING, self.policy.name, log_id, position=begin)

    def _follows(self, database: Database) -> bool:
        return POLICY in database.parameters

    def _next(self, ports: ReadPorts) -> list[str]:
        policy = self.policy
        return [
            *self._left_alone(ports),
            f"{policy.replica} is the replica of policy {policy.name}",
            f"look at what differs: twinhive resync {policy.name} --all --dry-run",
            f"what differs is replaced by what the source has; to bring it over: twinhive pause {policy.name} --off",
        ]

    def _left_alone(self, ports: ReadPorts) -> list[str]:
        """Name what no policy brings, which stays other people's."""
        there = each_table(ports.replica, self.policy.replica.database)
        names = ", ".join(first_of((one.name.table for one in there if not brings(self.policy, one)), _NAMED))
        lines = [f"left alone, because policy {self.policy.name} does not bring them: {names}"] if names else []
        return [*lines, *functions_alone(ports, self.policy)]

    def _found(self, ports: ReadPorts) -> Database:
        """Return the database. Raises what keeps it from being taken."""
        policy = self.policy
        database = ports.replica.database(policy.replica.database)
        if database is None:
            raise Missing(
                f"there is no database {policy.replica} to adopt",
                found="no such database",
                expected="a database that people have filled with the source's tables",
                next_step=f"fill it, or start the DAG {policy.name}.bootstrap: then all of it is copied",
            )
        refuse_taken_over(database, policy)
        owner, seed = database.parameters.get(POLICY), database.parameters.get(SEED)
        if owner == policy.name:
            return self._following(ports, database)
        if owner is not None or seed != policy.name:
            raise Foreign(
                f"{policy.replica} may not be adopted: nothing of it is touched",
                found=f"the mark of policy {owner}" if owner else f"{SEED} = {seed or '(not set)'}",
                expected=f"{SEED} = {policy.name}, set by who has filled the database for this policy",
                next_step="end that policy first with: " + command("twinhive", "forget", owner)
                if owner
                else "if all of it may be made equal to the source, say so in Hive: ALTER DATABASE "
                f"{policy.replica.database} SET DBPROPERTIES ('{SEED}'='{policy.name}')",
            )
        if policy.external.included:
            raise Refused(
                f"policy {policy.name} brings external tables, whose places nobody has compared",
                found="external_tables.include: true",
                expected="external_tables.include: false until the replica follows",
                next_step="leave external tables out in the policy file, adopt, and take them in afterwards",
            )
        return database

    def _following(self, ports: ReadPorts, database: Database) -> Database:
        state = ReplicaState.read(database.parameters)
        if state.phase is Phase.FOLLOWING and state.log_id == ports.source.log_id():
            return database
        raise Foreign(
            f"{self.policy.replica} of policy {self.policy.name} is being loaded, or follows another source",
            found=f"phase {state.phase.value}, log {state.log_id}",
            expected="a database that people have filled",
            next_step=f"start the DAG {self.policy.name}.bootstrap, or give it up with: "
            + command("twinhive", "forget", self.policy.name),
        )


def _without_seed(parameters: Parameters) -> dict[str, str]:
    return {key: value for key, value in parameters.items() if key != SEED}
