"""Read what the replica says of itself, and refuse a database that is not this policy's."""

from twinhive.core.model.errors import ActNow, Foreign, Promoted
from twinhive.core.model.marks import FORMAT, FORMAT_NOW, Phase, ReplicaState
from twinhive.core.model.next_steps import BOOTSTRAP_AGAIN, command
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear, Either
from twinhive.core.ports import MetastoreReader, ReadPorts
from twinhive.replication.dump.dump_layout import DumpKind


def read_state(replica: MetastoreReader, policy: Policy, source_log: str) -> ReplicaState:
    """Return the state of the policy's replica. Raises Foreign for somebody else's database, Promoted."""
    return state_of(replica.database(policy.replica.database), policy, source_log)


def state_now(ports: ReadPorts, policy: Policy) -> ReplicaState:
    """Return the state of the policy's replica. Raises Foreign, Promoted.

    One that has taken over is told before the source is asked for anything: it may be gone for good.
    """
    database = ports.replica.database(policy.replica.database)
    refuse_taken_over(database, policy)
    return state_of(database, policy, ports.source.log_id())


def refuse_taken_over(database: Database | None, policy: Policy) -> None:
    """Raise Promoted for a replica of the policy that has taken over, whatever its source may be. Raises Promoted."""
    state = ReplicaState.read(database.parameters if database else None)
    if state.policy == policy.name:
        refuse_promoted(state, policy)


def state_of(database: Database | None, policy: Policy, source_log: str) -> ReplicaState:
    """Return what the replica's database says, None for one that is not there.

    Raises Foreign, Promoted, ActNow for one that another version has made.
    """
    state = shown_state(database, policy, source_log)
    refuse_promoted(state, policy)
    if is_of_other_format(state):
        raise ActNow(
            f"the replica {policy.replica} of policy {policy.name} was made by another version of twinhive",
            found=f"{FORMAT} = {state.format or '(not set)'}",
            expected=f"{FORMAT} = {FORMAT_NOW}",
            next_step="bootstrap again: " + BOOTSTRAP_AGAIN,
        )
    return state


def is_of_other_format(state: ReplicaState) -> bool:
    """True for a replica that another version has made: this one can only build it again."""
    return state.phase is not Phase.ABSENT and state.format != FORMAT_NOW


def shown_state(database: Database | None, policy: Policy, source_log: str) -> ReplicaState:
    """Return it for those who only show it, also where the replica has taken over. Raises Foreign."""
    state = ReplicaState.read(database.parameters if database else None)
    if state.phase is not Phase.ABSENT:
        _refuse_foreign(state, policy, source_log)
    return state


def refuse_promoted(state: ReplicaState, policy: Policy) -> None:
    """Let nothing be brought into a replica that users write. Raises Promoted."""
    if state.phase is Phase.PROMOTED:
        raise Promoted(
            f"the replica {policy.replica} of policy {policy.name} has taken over: nothing is brought into it any more",
            found=f"phase {state.phase.value}: users write it",
            expected="a replica",
            next_step=Either(f"pause the DAGs of policy {policy.name}; ", "load into another database (INTO); ")
            + "see since when with: "
            + command("twinhive", "status", policy.name)
            + Either("; if it stays the primary for good, end the policy with: ", "")
            + Either(command("twinhive", "forget", policy.name), ""),
        )


def _refuse_foreign(state: ReplicaState, policy: Policy, source_log: str) -> None:
    if state.policy == policy.name and state.log_id == source_log:
        return
    owner = f"the mark of policy {state.policy}" if state.policy else "no mark of any policy"
    if state.policy == policy.name:
        owner = f"the mark of this policy, but of source log {state.log_id}"
    raise Foreign(
        f"database {policy.replica.database} on {policy.replica.cluster} does not belong to policy {policy.name}",
        found=owner,
        expected=f"no such database, or the mark {policy.name} of source log {source_log}",
        next_step=Either("name another replica database in the policy file", "load into another database (INTO)")
        + f", or drop that one (DROP DATABASE {policy.replica.database} CASCADE) if nobody needs it; then "
        + Clear("the task"),
    )


def already_at(state: ReplicaState, dump: str) -> str | None:
    """Return a sentence when the replica holds all of a dump (by its key), else None."""
    kind, _, rest = dump.partition("-")
    if kind != DumpKind.INCREMENTAL or state.phase is not Phase.FOLLOWING:
        return already_published(state)
    begin, end = map(int, rest.split("-")[:2])
    # The position does not tell whether a window without events is applied: what it copies is copied again.
    if state.position.event_id < end or state.position.event_id == begin == end:
        return None
    return f"already applied: the replica is at event {state.last_event_id}, the window ends at {end}"


def already_published(state: ReplicaState) -> str | None:
    """Return a sentence when a bootstrap has nothing left to do, else None."""
    if state.phase is not Phase.FOLLOWING:
        return None
    return f"already applied: the replica is published at event {state.last_event_id} (dump {state.dump})"
