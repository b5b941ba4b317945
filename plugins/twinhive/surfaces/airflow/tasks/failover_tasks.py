"""The tasks of `<policy>.failover`. Each can be cleared alone or with all after it, at any time.

What one task has proved is handed to the next as a value that says of which moment it is; the last one compares them
all. Once the replica has taken over, all of them say so and change nothing.
"""

import time
from typing import Any, NoReturn

from twinhive.core.model.errors import ActNow
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import WritePorts
from twinhive.operations.actions.operation import a_reason
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.promote import said_of_promoted
from twinhive.operations.failover.proof import PROVE_QUIET, Proof
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.surfaces.airflow.dags.params import NOTHING_CHANGED
from twinhive.surfaces.airflow.tasks.stage_task import holder, is_last_try
from twinhive.surfaces.airflow.tasks.switch_task import SAID, SwitchSensor, SwitchTask

PREPARE, CATCH_UP, VERIFY, PROMOTE = "prepare", "catch_up", "verify", "promote"
UNPLANNED = "unplanned"
PushedResult = dict[str, Any] | None


def planned_failover(policy: Policy, context: Any) -> Failover:
    """Return a planned failover of the task that runs."""
    return Failover(policy, holder(context), wait=lambda seconds: time.sleep(seconds))


class FailoverTask(SwitchTask):
    """Be one task of a failover; `_prove` is what a planned one does before the replica takes over."""

    ui_color = "#fde8e8"
    switch = "failover"

    def _do(self, context: Any, form: dict[str, Any], policy: Policy, ports: WritePorts) -> PushedResult:
        if said := said_of_promoted(ports, policy):
            self._say(said)
            return None
        if form["mode"] == UNPLANNED:
            self.log.info("nothing to do: the failover is unplanned, and asks nothing of the source")
            return None
        return self._prove(planned_failover(policy, context), ports, context["ti"])

    def _prove(self, failover: Failover, ports: WritePorts, instance: Any) -> PushedResult:
        raise NotImplementedError

    def _proof_of(self, instance: Any, task_id: str) -> Proof:
        said = self._of(instance, task_id)
        return Proof.read(said) or self._nothing_of(task_id, said)

    def _of(self, instance: Any, task_id: str) -> dict[str, Any]:
        found = instance.xcom_pull(task_ids=task_id)
        return found if isinstance(found, dict) else self._nothing_of(task_id, found)

    def _nothing_of(self, task_id: str, found: object) -> NoReturn:
        raise ActNow(
            f"policy {self.policy}: the task {task_id} has left nothing to go on from",
            found=repr(found),
            expected="what it has proved, in this run of the DAG",
            next_step=Clear(f"the task {task_id} with all tasks after it"),
        )


class PrepareFailover(FailoverTask):
    """Say what stands in the way, or what would be lost; in a dry run that is all."""

    def _do(self, context: Any, form: dict[str, Any], policy: Policy, ports: WritePorts) -> PushedResult:
        unplanned = form["mode"] == UNPLANNED
        planned = planned_failover(policy, context)
        found: PushedResult = None
        if unplanned:
            reason = "a rehearsal" if form["dry_run"] else a_reason(form["reason"] or "", "failover")
            order = UnplannedFailover(policy, 0, reason, holder(context))
            lines, found = order.plan(ports), {"event_id": order.event_now(ports)}
        else:
            lines = planned.plan(ports)
        self._say(lines)
        if form["dry_run"]:
            self.log.info(NOTHING_CHANGED)
            return found
        if not unplanned and not said_of_promoted(ports, policy):
            planned.refuse_unready(ports)
        context["ti"].xcom_push(key=SAID, value="\n".join(f"* {line}" for line in lines))
        return found

    def _is_last(self, form: dict[str, Any]) -> bool:
        return bool(form["dry_run"])


class FenceSource(FailoverTask):
    """Keep writers away from the source, where the policy says how; people do, where it does not."""

    def _prove(self, failover: Failover, ports: WritePorts, instance: Any) -> PushedResult:
        self._say(failover.fence(ports))
        return None


class ProveQuiet(FailoverTask):
    """Prove that nobody writes the source any more."""

    def _prove(self, failover: Failover, ports: WritePorts, instance: Any) -> PushedResult:
        quiet = failover.prove_quiet(ports)
        self.log.info("the source is quiet at event %s", quiet.event.event_id)
        return quiet.written()


class VerifyBoth(FailoverTask):
    """Prove that the replica equals its source."""

    def _prove(self, failover: Failover, ports: WritePorts, instance: Any) -> PushedResult:
        lines, compared = failover.prove_equal(ports, self._proof_of(instance, PROVE_QUIET))
        self._say(lines)
        return compared.written()


class PromoteReplica(FailoverTask):
    """Let the replica take over: the point of no return."""

    def _do(self, context: Any, form: dict[str, Any], policy: Policy, ports: WritePorts) -> PushedResult:
        instance = context["ti"]
        planned = planned_failover(policy, context)
        if ended := planned.ended(ports):
            self._say(ended)
        elif form["mode"] == UNPLANNED:
            event_id = self._of(instance, PREPARE)["event_id"]
            reason, last = form["reason"] or "", is_last_try(instance)
            order = UnplannedFailover(policy, event_id, reason, holder(context), is_last_try=last)
            self._say(order.run(ports))
        else:
            quiet, compared = self._proof_of(instance, PROVE_QUIET), self._proof_of(instance, VERIFY)
            self._say(planned.promote(ports, quiet, compared))
        return None


class CatchUp(SwitchSensor):
    """Wait until the replica has all that its source has logged; the policy's own runs bring it there."""

    ui_color = "#fde8e8"

    def _missing(self, context: Any, form: dict[str, Any], policy: Policy, ports: WritePorts) -> str | None:
        if form["mode"] == UNPLANNED or said_of_promoted(ports, policy):
            return None
        return planned_failover(policy, context).is_behind(ports)
