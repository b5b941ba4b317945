"""Let copies change a directory of external data only while the replica is one, as it is seen under their lease.

A replica may take over at any moment, also between the look that a copy begins with and its lease. What its users have
written since would be replaced and deleted.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from twinhive.core.model.errors import LeaseLost
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, LeaseKeeper, MetastoreReader
from twinhive.replication.replica.replica_state import refuse_promoted


@dataclass(frozen=True)
class CopyPermission:
    """The right to change the places of a policy's external tables: `began` is what the replica was at first."""

    replica: MetastoreReader
    policy: Policy
    began: ReplicaState

    def confirm(self) -> None:
        """Look at the replica's database. Raises Promoted, and LeaseLost for one that is not the policy's any more."""
        policy = self.policy
        database = self.replica.database(policy.replica.database)
        state = ReplicaState.read(database.parameters if database else None)
        # Data may be copied before the database is there: by a bootstrap.
        was_there = self.began.phase is not Phase.ABSENT
        if state.policy != policy.name and (was_there or state.policy is not None):
            raise LeaseLost(
                f"database {policy.replica} is not the replica of policy {policy.name} any more: nothing is copied",
                found=f"the mark of policy {state.policy}" if state.policy else "no mark of any policy",
                expected=f"the mark of policy {policy.name}, as when this copy began",
                next_step=RETRIES,
            )
        refuse_promoted(state, policy)

    def leases(self, keeper: LeaseKeeper) -> LeaseKeeper:
        """Return the keeper of directories' leases; each of them is good only while this right is."""
        return _Leases(keeper, self.confirm)


@dataclass(frozen=True)
class _Leases:
    keeper: LeaseKeeper
    look: Callable[[], None]

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> Iterator[Lease]:
        with self.keeper.hold(directory, holder, kind) as lease:
            held = _Held(lease, self.look)
            self.look()
            yield held

    def holder(self, directory: str) -> str | None:
        return self.keeper.holder(directory)

    def is_held(self, directory: str) -> bool:
        return self.keeper.is_held(directory)


@dataclass(frozen=True)
class _Held:
    lease: Lease
    look: Callable[[], None]

    def confirm(self) -> None:
        self.lease.confirm()
        self.look()
