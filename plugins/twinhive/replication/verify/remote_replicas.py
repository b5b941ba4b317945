"""Which replicas are twins of a remote, and whether each of them equals it now (seed 004: divergent tables)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.marks import Phase
from twinhive.core.model.policy import Policy
from twinhive.core.model.remotes.definitions import Definition, RemoteDatabase
from twinhive.core.model.text import Text
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.replica.replica_state import read_state
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.replication.verify.verify import Verify


@dataclass(frozen=True)
class Replication:
    """A policy with its ports, and the identity of its source's metastore."""

    policy: Policy
    ports: WritePorts
    source_id: str


@dataclass(frozen=True)
class RemoteTwin:
    """A replica of what a remote stands for: what was proved of it now, or why nothing was."""

    policy: str
    replica: str
    verified: Verified | None = None
    trouble: Text = ""
    is_left_out: bool = False
    """True for a table that the policy selects, and does not replicate: nobody has to do anything about it."""

    @property
    def is_equal(self) -> bool:
        """True when all of it was judged and is equal."""
        return self.verified is not None and self.verified.is_equal

    @property
    def is_damaged(self) -> bool:
        """True when it differs, and nothing is on its way that would mend it."""
        return self.verified is not None and self.verified.found > 0


def replications_of(definition: Definition, identity: str, all_of: Iterable[Replication]) -> Iterator[Replication]:
    """Yield those that copy what a remote stands for. A metastore is known by its identity, not by an address."""
    return (one for one in all_of if one.source_id == identity and may_replicate(one.policy, definition))


def may_replicate(policy: Policy, definition: Definition) -> bool:
    """True for a policy of a database, and a table, with the remote's names; its metastore may be another one."""
    if isinstance(definition, RemoteDatabase):
        return policy.source.database == definition.remote.lower()
    there = definition.remote
    return policy.source.database == there.database.lower() and policy.selects(there.table.lower())


def twin_of(definition: Definition, one: Replication) -> RemoteTwin:
    """Compare a replica with what the remote stands for, as they are now; changes nothing but what is remembered."""
    policy = one.policy
    tables = () if isinstance(definition, RemoteDatabase) else (definition.remote.table.lower(),)
    table = f".{tables[0]}" if tables else ""
    replica = f"{policy.replica.cluster}/{policy.replica.database}{table}"
    try:
        state = read_state(one.ports.replica, policy, one.source_id)
        if state.phase is not Phase.FOLLOWING:
            return RemoteTwin(policy.name, replica, trouble=f"the replica is {state.phase.value}")
        verified = Verify(Work(policy, holder={"run": "remotes check"}), tables).run(one.ports)
        for why in verified.left_out.values() if tables else ():
            return RemoteTwin(policy.name, replica, trouble=f"the policy leaves it out: {why}", is_left_out=True)
        return RemoteTwin(policy.name, replica, verified)
    except TwinhiveError as error:
        return RemoteTwin(policy.name, replica, trouble=error.words.what)
