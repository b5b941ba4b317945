"""Make a replica a primary: one call, under the lease, is the point of no return."""

from collections.abc import Callable
from dataclasses import replace

from twinhive.core.model.errors import ActNow, Foreign, Missing
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.next_steps import bootstrap, command
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.parameter_changes import change_database
from twinhive.core.step.promotion_note import PromotionNote, promotion_note, write_promotion_note
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.hive.events.reader import position_at
from twinhive.operations.actions.operation import Holder
from twinhive.operations.failover.left_source import leave_source, refuse_left
from twinhive.operations.failover.promotion import PROMOTED, How, Promotion
from twinhive.operations.failover.released_directories import release_directories
from twinhive.operations.failover.unused_content import remove_from_default_places
from twinhive.replication.external_tables.copy_cancellation import stop_copies
from twinhive.replication.incremental.scope_check import missing_between_scopes
from twinhive.replication.operator_requests.request_files import tables_asked_for
from twinhive.replication.replica.begun_failover import token_of


def replica_alone(ports: ReadPorts, policy: Policy) -> tuple[Database, ReplicaState]:
    """Return a replica that follows, or has taken over, without a question to its source.

    Raises Missing, Foreign, ActNow for a database that is no such thing.
    """
    database = ports.replica.database(policy.replica.database)
    if database is None:
        raise Missing(
            f"there is no replica of policy {policy.name}",
            found=f"no database {policy.replica}",
            expected="a replica that follows its source",
            next_step=f"start the DAG {policy.name}.bootstrap",
        )
    state = ReplicaState.read(database.parameters)
    if state.policy != policy.name:
        raise Foreign(
            f"database {policy.replica} does not belong to policy {policy.name}",
            found=f"the mark of policy {state.policy}" if state.policy else "no mark of any policy",
            expected=f"the mark of policy {policy.name}",
            next_step="correct replica.database in the policy file",
        )
    if state.phase not in (Phase.FOLLOWING, Phase.PROMOTED):
        raise ActNow(
            f"the replica of policy {policy.name} cannot take over: it was never whole",
            found=f"phase {state.phase.value}",
            expected=Phase.FOLLOWING.value,
            next_step=bootstrap(policy.name) + ", or " + Clear("the failed task of its last run"),
        )
    return database, state


def said_of_promoted(ports: ReadPorts, policy: Policy) -> list[str]:
    """Return what there is to say of a replica that has taken over, without a question to its source; else nothing."""
    database = ports.replica.database(policy.replica.database)
    state = ReplicaState.read(database.parameters if database else None)
    if database is None or state.policy != policy.name or state.phase is not Phase.PROMOTED:
        return []
    return taken_over(policy, database)


def promote(
    ports: WritePorts,
    policy: Policy,
    holder: Holder,
    how: How,
    last_look: Callable[[Database, ReplicaState], None],
    ahead: str = "",
) -> list[str]:
    """Open the replica to writers; one that has taken over already stays as it is.

    Whoever changes the replica is waited for: an event that is cut off in its middle would stay so. `last_look` is
    asked under the lease, also just before, and raises what speaks against it. Directories that nothing uses any more
    in Hive's own places go first, if they do: as content of a primary they would come back with the next partition of
    that name. The directories of tables are no longer ours afterwards.
    Right before the call the failover's token is read again: who lets writers in takes it away first.
    Copies of external data that are under way are stopped: they would delete what users write beside them.
    The note in staging comes right before the call, so that there is no promotion without one. `ahead` names what is
    newer than the replica's position.
    """
    with hold_lease(ports, Work(policy, holder=holder), LeaseKind.PROMOTE) as lease:
        database, state = replica_alone(ports, policy)
        if state.phase is Phase.PROMOTED:
            return end_promotion(ports, policy, holder, database)
        last_look(database, state)
        # With a note people may have written it: what its tables do not name may be theirs.
        was_noted = promotion_note(ports.replica_files, policy) is not None
        lines = [] if was_noted else remove_from_default_places(ports, policy, lease)
        log = ports.replica.log_id()
        begin = position_at(ports.replica, ports.replica.current_event_id())
        database, state = replica_alone(ports, policy)
        token = token_of(ports.replica_files, policy)
        last_look(database, state)
        refuse_left(ports, policy)
        said = Promotion(str(state.log_id), state.position, log, begin, how, policy.source.database, ahead)
        asked_for = tables_asked_for(ports.replica_files, policy)
        lease.confirm()
        note = PromotionNote(state.position.event_id, said.marks(asked_for))
        write_promotion_note(ports.replica_files, policy, note)
        lease.confirm()
        _refuse_another_token(ports, policy, token)
        change_database(ports.replica, database.name, lambda found: said.written(found.parameters, asked_for))
        write_promotion_note(ports.replica_files, policy, replace(note, is_done=True))
    database, _ = replica_alone(ports, policy)
    return [*lines, *end_promotion(ports, policy, holder, database)]


def _refuse_another_token(ports: ReadPorts, policy: Policy, token: str) -> None:
    if (now := token_of(ports.replica_files, policy)) != token:
        raise ActNow(
            f"the failover of policy {policy.name} was given up, or begun anew, while the replica was to take over",
            found=f"the token {now or '(none)'}",
            expected=f"the token {token or '(none)'} of the last look",
            next_step="see who did; then look with: " + command("twinhive", "failover", policy.name, "--dry-run"),
        )


def end_promotion(ports: WritePorts, policy: Policy, holder: Holder, database: Database) -> list[str]:
    """Stop what a try that was killed right after the call has left, and say what the replica is now.

    Copies are stopped after the call: none that begins now gets past the mark. The source is told, if it answers.
    """
    return [
        *stop_copies(ports, policy, holder),
        *release_directories(ports, policy),
        *leave_source(ports, policy, database),
        *taken_over(policy, database),
    ]


def taken_over(policy: Policy, database: Database) -> list[str]:
    """Say what a replica is since it took over, and what is left to people."""
    found = Promotion.read(database.parameters)
    if found is None:
        raise ActNow(
            f"database {policy.replica} says that it has taken over, and not since when",
            found=database.parameters.get(PROMOTED) or f"no mark {PROMOTED}",
            expected="the logs and events of both sides",
            next_step="end the policy with: " + command("twinhive", "forget", policy.name),
        )
    missing = missing_between_scopes(ReplicaState.read(database.parameters))
    return [
        f"{policy.replica} has taken over from {policy.source} ({found.how.value}): it holds all up to event "
        f"{found.position.event_id} of the source; its own writers begin after event {found.begin.event_id} of its log",
        *filter(None, [missing]),
        *([f"newer than that event: {found.ahead}"] if found.ahead else []),
        f"now: let clients use {policy.replica} on cluster {policy.replica.cluster}, keep writers away from "
        f"{policy.source}, and pause the DAGs of policy {policy.name}, which refuse to run from now on",
    ]
