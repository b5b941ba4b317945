"""The tasks of `<policy>.failback`: the old primary becomes the replica of this policy, which is the reverse one.

Each can be cleared alone or with all after it, at any time. Once the old primary follows, all before `follow` say so
and change nothing.
"""

import time
from collections.abc import Sequence
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.operations.actions.pause import Unpause
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.old_primary import QuietOldPrimary
from twinhive.replication.external_tables.sync_status import why_data_is_older
from twinhive.replication.operator_requests.request_files import everything_requested
from twinhive.surfaces.airflow.dags.params import NOTHING_CHANGED
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.task_failures import as_airflow_failures
from twinhive.surfaces.airflow.tasks.failover_tasks import planned_failover
from twinhive.surfaces.airflow.tasks.stage_task import holder
from twinhive.surfaces.airflow.tasks.switch_task import SAID, SwitchSensor, SwitchTask, wired

QUIET, DIVERGENCE, ADOPT = "prove_quiet", "divergence", "adopt"
FOLLOW, VERIFY, SWITCH_BACK = "follow", "verify", "switch_back"
FAILBACK = "failback"


class FailbackTask(SwitchTask):
    """Be one task of a failback: do what `_lines` does, and say what was done."""

    ui_color = "#e8f0fd"
    switch = FAILBACK

    def _do(self, context: Any, form: dict[str, Any], policy: Policy, ports: WritePorts) -> None:
        self._say(self._lines(context, policy, ports))

    def _lines(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        raise NotImplementedError


class PrepareFailback(FailbackTask):
    """Say what parted the two, and what would be done; in a dry run that is all."""

    def _lines(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        lines = Failback(policy, holder(context)).plan(ports)
        context["ti"].xcom_push(key=SAID, value="\n".join(f"* {line}" for line in lines))
        return [*lines, *([NOTHING_CHANGED] if checked_form(context)["dry_run"] else [])]

    def _is_last(self, form: dict[str, Any]) -> bool:
        return bool(form["dry_run"])


class ProveOldPrimaryQuiet(FailbackTask):
    """Prove that nobody writes the old primary any more."""

    def _lines(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        failback = Failback(policy, holder(context))
        return failback.followed(ports) or QuietOldPrimary(policy, wait=lambda seconds: time.sleep(seconds)).run(ports)


class KeepDiverged(FailbackTask):
    """Copy what only the old primary has into a database of its own."""

    def _lines(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        failback = Failback(policy, holder(context))
        return failback.followed(ports) or failback.keep(ports)


class AdoptOldPrimary(FailbackTask):
    """Stamp and mark the old primary as the replica of this policy, and pause the policy."""

    def _lines(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
        return Failback(policy, holder(context), wait=lambda seconds: time.sleep(seconds)).run(ports)


class Follow(SwitchSensor):
    """Let the policy go on, and wait until its runs have brought over all that differs."""

    ui_color = "#e8f0fd"

    def _begin(self, policy: Policy, ports: WritePorts) -> Sequence[str]:
        return Unpause(policy).run(ports)

    def _missing(self, context: Any, form: dict[str, Any], policy: Policy, ports: WritePorts) -> str | None:
        if everything_requested(ports.replica_files, policy):
            return "what differs has not been brought over yet"
        began = getattr(context["dag_run"], "start_date", None)
        lacking = planned_failover(policy, context).lacks_events(ports)
        return lacking or why_data_is_older(ports, policy, began.timestamp() if began else 0.0)


class VerifyFollowing(FailbackTask):
    """Prove that the old primary equals the new one; without `switch_back` that is the end."""

    def _lines(self, context: Any, policy: Policy, ports: WritePorts) -> Sequence[str]:
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
            wired(self.config, self.policy)
        super().execute(context)
