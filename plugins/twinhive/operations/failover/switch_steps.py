"""The steps of a failover and of a failback. Each can be run again, alone or with all after it, at any time.

What one step has proved is handed to the next as a value that says of which moment it is; the last one compares them
all. Once the replica has taken over, or the old primary follows, the steps before say so and change nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from twinhive.core.model.errors import ActNow
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.operation import a_reason
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.promote import said_of_promoted
from twinhive.operations.failover.proof import PROVE_QUIET, Proof
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.replication.external_tables.sync_status import why_data_is_older
from twinhive.replication.operator_requests.request_files import everything_requested

PLANNED, UNPLANNED = "planned", "unplanned"
PREPARE, VERIFY = "prepare", "verify"
HandedOn = dict[str, Any] | None
"""What later steps need of a step, as plain values."""


@dataclass(frozen=True)
class Switch:
    """One run of a failover or a failback, as one of its steps sees it.

    work    its policy, who runs it, who takes its lines, whether the step is tried again
    form    what the run was told: dry_run; of a failover mode and reason, of a failback switch_back
    handed  returns what the step of a name has handed on in this run
    began   when the run began, in seconds since 1970
    said    the lines of this step so far
    """

    work: Work
    form: Mapping[str, Any]
    handed: Callable[[str], object]
    began: float
    wait: Callable[[float], None]
    said: list[str] = field(default_factory=list)

    @property
    def policy(self) -> Policy:
        """The policy whose sides are switched."""
        return self.work.policy

    @property
    def failover(self) -> Failover:
        """A planned failover."""
        return Failover(self.policy, self.work.holder, wait=self.wait)

    @property
    def failback(self) -> Failback:
        """A failback."""
        return Failback(self.policy, self.work.holder, wait=self.wait)

    def say(self, lines: Sequence[str]) -> HandedOn:
        """Tell people what was done; hand nothing on."""
        for line in lines:
            self.work.report(line)
            self.said.append(line)
        return None

    def why_not(self, ports: WritePorts) -> Sequence[str]:
        """Return why nothing is to be done before the replica takes over: it has, or nobody asks the source."""
        if said := said_of_promoted(ports, self.policy):
            return said
        is_unplanned = self.form.get("mode") == UNPLANNED
        return ["nothing to do: the failover is unplanned, and asks nothing of the source"] if is_unplanned else ()

    def proof_of(self, step: str) -> Proof:
        """Return what a step has proved. Raises ActNow."""
        said = self.values_of(step)
        return Proof.read(said) or self._nothing_of(step, said)

    def values_of(self, step: str) -> dict[str, Any]:
        """Return what a step has handed on. Raises ActNow."""
        found = self.handed(step)
        return found if isinstance(found, dict) else self._nothing_of(step, found)

    def _nothing_of(self, step: str, found: object) -> NoReturn:
        raise ActNow(
            f"policy {self.policy.name}: the task {step} has left nothing to go on from",
            found=repr(found),
            expected="what it has proved, in this run",
            next_step=Clear(f"the task {step} with all tasks after it"),
        )


def prepare_failover(switch: Switch, ports: WritePorts) -> HandedOn:
    """Say what stands in the way, or what would be lost."""
    is_dry = switch.form["dry_run"]
    if switch.form["mode"] == UNPLANNED:
        reason = "a rehearsal" if is_dry else a_reason(switch.form["reason"] or "", "failover")
        order = UnplannedFailover(switch.policy, 0, reason, switch.work.holder)
        switch.say(order.plan(ports))
        return {"event_id": order.event_now(ports)}
    switch.say(switch.failover.plan(ports))
    if not is_dry and not said_of_promoted(ports, switch.policy):
        switch.failover.refuse_unready(ports)
    return None


def prove_quiet(switch: Switch, ports: WritePorts) -> HandedOn:
    """Prove that nobody writes the source any more."""
    if said := switch.why_not(ports):
        return switch.say(said)
    quiet = switch.failover.prove_quiet(ports)
    switch.say([f"the source is quiet at event {quiet.event.event_id}"])
    return quiet.written()


def prove_equal(switch: Switch, ports: WritePorts) -> HandedOn:
    """Prove that the replica equals its source."""
    if said := switch.why_not(ports):
        return switch.say(said)
    lines, compared = switch.failover.prove_equal(ports, switch.proof_of(PROVE_QUIET))
    switch.say(lines)
    return compared.written()


def promote(switch: Switch, ports: WritePorts) -> HandedOn:
    """Let the replica take over: the point of no return."""
    planned, form, work = switch.failover, switch.form, switch.work
    if ended := planned.ended(ports):
        return switch.say(ended)
    if form["mode"] == UNPLANNED:
        at, reason = switch.values_of(PREPARE)["event_id"], form["reason"] or ""
        order = UnplannedFailover(switch.policy, at, reason, work.holder, is_last_try=work.is_last_try)
        return switch.say(order.run(ports))
    return switch.say(planned.promote(ports, switch.proof_of(PROVE_QUIET), switch.proof_of(VERIFY)))


def lacks_changes(switch: Switch, ports: WritePorts) -> str | None:
    """Return what the old primary lacks of the new one, None when it lacks nothing."""
    if everything_requested(ports.replica_files, switch.policy):
        return "what differs has not been brought over yet"
    return switch.failover.lacks_events(ports) or why_data_is_older(ports, switch.policy, switch.began)
