"""Hold a policy's runs back, and let them go on."""

from dataclasses import dataclass

from twinhive.core.directory_marks.staging import make_staging
from twinhive.core.model.errors import ActNow
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.operations.actions.operation import Holder, a_reason, person
from twinhive.replication.operator_requests.request_files import forgetting_has_begun, is_paused, pause, unpause


@dataclass(frozen=True)
class Pause:
    """Let no run begin another window or scan; one that is under way comes to its end."""

    policy: Policy
    reason: str
    holder: Holder

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what would be held back."""
        reason = a_reason(self.reason, "pause")
        return [*self._before(ports), f"policy {self.policy.name} would begin no further window or scan: {reason}"]

    def run(self, ports: WritePorts) -> list[str]:
        """Write it down."""
        lines, reason = self._before(ports), a_reason(self.reason, "pause")
        make_staging(ports.replica_files, self.policy)
        pause(ports.replica_files, self.policy, reason, person(self.holder))
        name = self.policy.name
        return [
            *lines,
            f"policy {name} begins no further window or scan: {reason}",
            "the source's log is kept for a limited time only; go on with: "
            + render(command("twinhive", "pause", name, "--off")),
        ]

    def _before(self, ports: ReadPorts) -> list[str]:
        reason = is_paused(ports.replica_files, self.policy)
        return [f"it is paused already: {render(reason)}"] if reason else []


@dataclass(frozen=True)
class Unpause:
    """Let runs go on."""

    policy: Policy

    def plan(self, ports: WritePorts) -> list[str]:
        """Say whether anything is held back."""
        reason = self._checked(ports)
        return [f"policy {self.policy.name} would go on; it is paused: {reason}" if reason else self._nothing]

    def run(self, ports: WritePorts) -> list[str]:
        """Take the note away."""
        reason = self._checked(ports)
        if not unpause(ports.replica_files, self.policy):
            return [self._nothing]
        return [f"policy {self.policy.name} goes on with its next run; it was paused: {reason}"]

    @property
    def _nothing(self) -> str:
        return f"policy {self.policy.name} is not paused: nothing to do"

    def _checked(self, ports: ReadPorts) -> str | None:
        name = self.policy.name
        if forgetting_has_begun(ports.replica_files, self.policy):
            raise ActNow(
                f"policy {name} cannot go on: forgetting it has begun",
                found="some of the replica's marks are gone",
                expected="a replica with all its marks",
                next_step="bring that to its end: " + command("twinhive", "forget", name),
            )
        reason = is_paused(ports.replica_files, self.policy)
        return None if reason is None else render(reason)
