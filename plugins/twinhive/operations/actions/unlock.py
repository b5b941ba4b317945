"""Take the lease from a holder that is dead, so that the next run need not wait for it."""

from dataclasses import dataclass

from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.core.step.replica_lease import lease_directory
from twinhive.operations.actions.operation import Holder


@dataclass(frozen=True)
class Unlock:
    """Take the lease over and release it. A holder that is alive after all is fenced, and tries again."""

    policy: Policy
    holder: Holder

    def plan(self, ports: WritePorts) -> list[str]:
        """Say who has the lease."""
        there = ports.lease.holder(lease_directory(self.policy))
        if there is None:
            return [self._free]
        return [
            self._held_by(there),
            "it would be taken over and released; a holder that is alive stops at its next change, and tries again",
        ]

    def run(self, ports: WritePorts) -> list[str]:
        """Take it over and release it."""
        directory = lease_directory(self.policy)
        there = ports.lease.holder(directory)
        if there is None:
            return [self._free]
        with ports.lease.hold(directory, self.holder, LeaseKind.UNLOCK):
            pass
        return [self._held_by(there), "it was taken over and released: the next run need not wait"]

    @property
    def _free(self) -> str:
        return f"nobody holds the lease of policy {self.policy.name}: nothing to do"

    def _held_by(self, there: str) -> str:
        return f"the lease of policy {self.policy.name} is held by {there}"
