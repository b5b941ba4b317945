"""Make the DAG `<policy>.failback`: of a reverse policy, the old primary becomes its replica, and more if asked for."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param

from twinhive.runtime.settings import PolicyEntry
from twinhive.surfaces.airflow.dags.dag_arguments import dag_arguments, with_form
from twinhive.surfaces.airflow.dags.failover_dag import FAILOVER, PLANNED
from twinhive.surfaces.airflow.dags.lane_priorities import EVENT_LANE, EXTERNAL_LANE
from twinhive.surfaces.airflow.dags.params import dry_run_first
from twinhive.surfaces.airflow.dags.switch_approval import APPROVE, approval
from twinhive.surfaces.airflow.dags.task_resources import TaskKind
from twinhive.surfaces.airflow.tasks.failback_tasks import (
    ADOPT,
    DIVERGENCE,
    FAILBACK,
    FOLLOW,
    QUIET,
    SWITCH_BACK,
    VERIFY,
    AdoptOldPrimary,
    Follow,
    KeepDiverged,
    PrepareFailback,
    ProveOldPrimaryQuiet,
    SwitchBack,
    VerifyFollowing,
)
from twinhive.surfaces.airflow.tasks.failover_tasks import PREPARE
from twinhive.surfaces.airflow.tasks.start_lane import START_EXTERNAL, START_INCREMENTAL, StartLane, wants_external

_CAUGHT_UP_WITHIN = timedelta(days=7)
_TASKS = f"""
| task | what it does | cleared, it |
|---|---|---|
| `{PREPARE}` | says since when the two are parted, and what only the old primary has | says it as it is now |
| `{APPROVE}` | waits four hours for a person, who keeps users away from the old primary | asks again |
| `{QUIET}` | the old primary logs nothing of its tables for `failover.quiet_seconds` | proves it again |
| `{DIVERGENCE}` | copies what only the old primary has into a database of its own | keeps what came since |
| `{ADOPT}` | stamps it, keeps what came late, refuses writers that go on, marks it as the replica | says that it is |
| `{START_INCREMENTAL}` | lets the policy go on, and starts `incremental` | starts it again |
| `{START_EXTERNAL}` | where external data is copied: starts `external` | starts it again |
| `{FOLLOW}` | waits until `incremental` has brought over what differs | waits again |
| `{VERIFY}` | compares both sides | compares again |
| `{SWITCH_BACK}` | with `switch_back`: starts this policy's failover, planned; a person approves it | starts it again |

Only where this policy's source has taken over from its replica. The same from a terminal: `twinhive failback`
(docs/failover.md).
"""


def failback_dag(entry: PolicyEntry, config: Path) -> DAG:
    """Build the DAG. A policy that cannot be used gives the same tasks, and the first fails with the reason."""
    of_policy: dict[str, Any] = {"config": str(config), "policy": entry.name}
    with DAG(
        description="the old primary becomes the replica of what took over from it",
        doc_md=_documentation(entry),
        schedule=None,
        is_paused_upon_creation=False,
        **dag_arguments(entry, config, FAILBACK, TaskKind.FORMS),
    ) as dag:
        approve = approval(f"Make the old primary the replica of {entry.name}?")
        follow = Follow(task_id=FOLLOW, timeout=_CAUGHT_UP_WITHIN.total_seconds(), **of_policy)
        quiet, keep = ProveOldPrimaryQuiet(task_id=QUIET, **of_policy), KeepDiverged(task_id=DIVERGENCE, **of_policy)
        adopt, verify = AdoptOldPrimary(task_id=ADOPT, **of_policy), VerifyFollowing(task_id=VERIFY, **of_policy)
        back = SwitchBack(
            task_id=SWITCH_BACK,
            trigger_dag_id=f"{entry.name}.{FAILOVER}",
            trigger_run_id="after-failback-{{ run_id }}",
            conf={"mode": PLANNED, "dry_run": False},
            reset_dag_run=True,
            **of_policy,
        )
        PrepareFailback(task_id=PREPARE, **of_policy) >> approve >> quiet >> keep >> adopt
        before: BaseOperator = StartLane(task_id=START_INCREMENTAL, phase=EVENT_LANE, goes_on=True, **of_policy)
        adopt >> before
        if wants_external(entry):
            external = StartLane(task_id=START_EXTERNAL, phase=EXTERNAL_LANE, **of_policy)
            before >> external
            before = external
        before >> follow >> verify >> back
    return with_form(dag, _params())


def _documentation(entry: PolicyEntry) -> str:
    problem = f"\n\n```\n{entry.error}\n```" if entry.error else ""
    return f"Make the old primary the replica of policy **{entry.name}**. `dry_run` is the default.\n{_TASKS}{problem}"


def _params() -> dict[str, Param]:
    return {
        "switch_back": Param(
            False,
            type="boolean",
            title="Switch back",
            description="When both sides are equal, start the planned failover of this policy: a person approves it",
        ),
        "dry_run": dry_run_first(),
    }
