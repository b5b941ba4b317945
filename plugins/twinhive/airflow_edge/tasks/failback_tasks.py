"""The tasks of `<policy>.failback`: the old primary becomes the replica of this policy, which is the reverse one.

Each can be cleared alone or with all after it, at any time. Once the old primary follows, all before `follow` say so
and change nothing.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import BaseOperator, BaseSensorOperator, SkipMixin

from twinhive.airflow_edge.connections import resolve_from_airflow
from twinhive.airflow_edge.dags.forms import checked_form
from twinhive.airflow_edge.dags.params import NOTHING_CHANGED
from twinhive.airflow_edge.monitor.failures import as_airflow_failures
from twinhive.airflow_edge.monitor.recording import recorded_task
from twinhive.airflow_edge.tasks.failover_tasks import SAID, planned_failover
from twinhive.airflow_edge.tasks.stage_task import StageOf, holder
from twinhive.model.policy import Policy
from twinhive.operations.failback import Failback
from twinhive.operations.old_primary import QuietOldPrimary
from twinhive.operations.pausing import Unpause
from twinhive.ports import WritePorts
from twinhive.requests.request_files import everything_requested
from twinhive.settings import load_configuration
from twinhive.wiring.policies import Wiring

PREPARE, APPROVE, QUIET, DIVERGENCE, ADOPT = "prepare", "approve", "prove_quiet", "divergence", "adopt"
FOLLOW, VERIFY, SWITCH_BACK = "follow", "verify", "switch_back"
FAILBACK = "failback"


class FailbackOperator(BaseOperator, SkipMixin):
    """Be one task of a failback; `_do` is what the task is called."""

    ui_color = "#e8f0fd"
    inherits_from_skipmixin = True

    def __init__(self, *, config: str, policy: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.policy = policy

    def execute(self, context: Any) -> None:
        """Do the task's part, and say what was done."""
        with as_airflow_failures():
            form = checked_form(context)
            wiring = Wiring.of(load_configuration(Path(self.config)), self.policy, resolve_from_airflow)
            stage = StageOf(self.config, self.policy, FAILBACK, self.task_id)
            with recorded_task(stage, context):
                lines = self._do(context, wiring.policy, wiring.write_ports())
        for line in lines:
            self.log.info(line)
        if self._is_last(form):
            self.skip(context["ti"], [context["dag"].get_task(one) for one in sorted(self._after(context))])

    def _do(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        raise NotImplementedError

    def _is_last(self, form: dict[str, Any]) -> bool:
        return False

    @staticmethod
    def _after(context: Any) -> set[str]:
        return set(context["task"].get_flat_relative_ids(upstream=False))


class PrepareFailback(FailbackOperator):
    """Say what parted the two, and what would be done; in a dry run that is all."""

    def _do(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        lines = Failback(policy, holder(context)).plan(ports)
        context["ti"].xcom_push(key=SAID, value="\n".join(f"* {line}" for line in lines))
        return [*lines, *([NOTHING_CHANGED] if checked_form(context)["dry_run"] else [])]

    def _is_last(self, form: dict[str, Any]) -> bool:
        return bool(form["dry_run"])


class ProveOldPrimaryQuiet(FailbackOperator):
    """Prove that nobody writes the old primary any more."""

    def _do(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        failback = Failback(policy, holder(context))
        return failback.followed(ports) or QuietOldPrimary(policy, wait=lambda seconds: time.sleep(seconds)).run(ports)


class KeepDiverged(FailbackOperator):
    """Copy what only the old primary has into a database of its own."""

    def _do(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        failback = Failback(policy, holder(context))
        return failback.followed(ports) or failback.keep(ports)


class AdoptOldPrimary(FailbackOperator):
    """Stamp and mark the old primary as the replica of this policy, and pause the policy."""

    def _do(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        return Failback(policy, holder(context)).run(ports)


class Follow(BaseSensorOperator):
    """Let the policy go on, and wait until its runs have brought over all that differs."""

    ui_color = "#e8f0fd"

    def __init__(self, *, config: str, policy: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.policy = policy

    def poke(self, context: Any) -> bool:
        """Tell whether nothing is missing any more."""
        with as_airflow_failures():
            wiring = Wiring.of(load_configuration(Path(self.config)), self.policy, resolve_from_airflow)
            ports, policy = wiring.write_ports(), wiring.policy
            for line in Unpause(policy).run(ports):
                self.log.info(line)
            waits = bool(everything_requested(ports.replica_files, policy))
            missing = None if waits else planned_failover(policy, context).is_behind(ports)
        if waits or missing:
            self.log.info("%s", missing or "what differs has not been brought over yet")
        return not waits and missing is None


class VerifyFollowing(FailbackOperator):
    """Prove that the old primary equals the new one; without `switch_back` that is the end."""

    def _do(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        return planned_failover(policy, context).compare(ports)

    def _is_last(self, form: dict[str, Any]) -> bool:
        return not form["switch_back"]


class SwitchBack(TriggerDagRunOperator):
    """Start the planned failover of the reverse policy, which asks for an approval of its own."""

    ui_color = "#e8f0fd"

    def __init__(self, *, config: str, policy: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.policy = policy

    def execute(self, context: Any) -> None:
        """Refuse a policy that cannot be used, then start the DAG."""
        with as_airflow_failures():
            Wiring.of(load_configuration(Path(self.config)), self.policy, resolve_from_airflow)
        super().execute(context)
