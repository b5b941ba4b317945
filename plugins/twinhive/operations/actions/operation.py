"""What an operation is: something that a person asks of a policy, outside of its phases."""

from typing import Protocol

from twinhive.core.model.errors import ActNow, InvalidSettings
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.next_steps import bootstrap, command
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear, Text
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.replication.replica.replica_state import state_now

Holder = dict[str, str]
"""Who asks, for people and for the lease: run, task, by."""


class Operation(Protocol):
    """A frozen value that can be planned and run; both refuse what makes no sense."""

    def plan(self, ports: WritePorts) -> list[str]:
        """Say in sentences what a run would do. Reads only."""
        ...

    def run(self, ports: WritePorts) -> list[str]:
        """Do it, and say what was done. A second run finds what a first one has done."""
        ...


def person(holder: Holder) -> str:
    """Return who asks."""
    return holder.get("by") or holder.get("run", "")


def following_state(ports: ReadPorts, policy: Policy, request: str) -> ReplicaState:
    """Return the state of a replica that follows its source. Raises ActNow for one that does not."""
    state = state_now(ports, policy)
    if state.phase is not Phase.FOLLOWING:
        raise ActNow(
            f"{request} needs a replica that follows its source; the one of policy {policy.name} does not",
            found=f"phase {state.phase.value}",
            expected=Phase.FOLLOWING.value,
            next_step=bootstrap(policy.name) + ", or " + Clear("the failed task of its last run"),
        )
    return state


def a_reason(reason: str, operation: str) -> str:
    """Return the reason on one line. Raises InvalidSettings for an empty one."""
    text = " ".join(reason.split())
    if not text:
        raise InvalidSettings(
            f"{operation}: reason is missing",
            found=repr(reason),
            expected="a sentence that tells others why",
            next_step="give the reason and run it again",
        )
    return text


def look_first(operation: str, policy: str) -> Text:
    """Return how an operation goes on that has only begun: people see what differs before anything is changed."""
    return (
        f"{operation}: look at what differs with: "
        + command("twinhive", "resync", policy, "--all", "--dry-run")
        + "; then bring it over with: "
        + command("twinhive", "pause", policy, "--off")
    )
