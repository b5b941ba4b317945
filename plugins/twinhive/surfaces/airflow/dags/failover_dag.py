"""Make the DAG `<policy>.failover`: the replica takes over, task by task, with a person's approval in between."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param

from twinhive.operations.failover.fence.fencing import FENCE
from twinhive.operations.failover.proof import PROVE_QUIET
from twinhive.runtime.settings import PolicyEntry
from twinhive.surfaces.airflow.dags.dag_arguments import dag_arguments, with_form
from twinhive.surfaces.airflow.dags.lane_priorities import EXTERNAL_LANE
from twinhive.surfaces.airflow.dags.params import dry_run_first
from twinhive.surfaces.airflow.dags.switch_approval import APPROVE, approval
from twinhive.surfaces.airflow.dags.task_resources import TaskKind
from twinhive.surfaces.airflow.tasks.failover_tasks import (
    CATCH_UP,
    PREPARE,
    PROMOTE,
    UNPLANNED,
    VERIFY,
    CatchUp,
    FenceSource,
    PrepareFailover,
    PromoteReplica,
    ProveQuiet,
    VerifyBoth,
)
from twinhive.surfaces.airflow.tasks.start_lane import START_EXTERNAL, StartLane, wants_external

FAILOVER = "failover"
PLANNED = "planned"
_CAUGHT_UP_WITHIN = timedelta(hours=12)
_TASKS = f"""
| task | what it does | cleared, it |
|---|---|---|
| `{PREPARE}` | says what stands in the way; of an unplanned failover, what is lost | says it as it is now |
| `{APPROVE}` | waits four hours for a person, who stops all writers of the source before | asks again |
| `{FENCE}` | keeps writers away as `failover.fence` of the policy says; without it people do | does it again |
| `{START_EXTERNAL}` | where external data is copied: starts `external` behind the fence | starts it again |
| `{CATCH_UP}` | waits until the replica has all that the source logged, and external data | waits again |
| `{PROVE_QUIET}` | the source logs nothing of the policy for `failover.quiet_seconds` | proves it again |
| `{VERIFY}` | compares all that is replicated | compares again |
| `{PROMOTE}` | asks once more whether anything came; then one call lets the replica take over | says that it has |

Before `{PROMOTE}` nothing is changed but the fence: to give up, mark the run failed and start the operation
`failover-abort` of `operate`, which lets the writers in again. An unplanned failover does without the source, and
passes over what proves it equal. The same from a terminal: `twinhive failover` (docs/failover.md).
"""


def failover_dag(entry: PolicyEntry, config: Path) -> DAG:
    """Build the DAG. A policy that cannot be used gives the same tasks, and the first fails with the reason."""
    of_policy: dict[str, Any] = {"config": str(config), "policy": entry.name}
    with DAG(
        description="the replica takes over from its source",
        doc_md=_documentation(entry),
        schedule=None,
        is_paused_upon_creation=False,
        **dag_arguments(entry, config, FAILOVER, TaskKind.FORMS),
    ) as dag:
        approve = approval(f"Let the replica of {entry.name} take over ({{{{ params.mode }}}})?")
        catch_up = CatchUp(task_id=CATCH_UP, timeout=_CAUGHT_UP_WITHIN.total_seconds(), **of_policy)
        fence = FenceSource(task_id=FENCE, **of_policy)
        quiet, verify = ProveQuiet(task_id=PROVE_QUIET, **of_policy), VerifyBoth(task_id=VERIFY, **of_policy)
        promote = PromoteReplica(task_id=PROMOTE, **of_policy)
        PrepareFailover(task_id=PREPARE, **of_policy) >> approve >> fence
        behind: BaseOperator = fence
        if wants_external(entry):
            behind = StartLane(task_id=START_EXTERNAL, phase=EXTERNAL_LANE, **of_policy)
            fence >> behind
        behind >> catch_up >> quiet >> verify >> promote
    return with_form(dag, _params())


def _documentation(entry: PolicyEntry) -> str:
    problem = f"\n\n```\n{entry.error}\n```" if entry.error else ""
    return f"Let the replica of policy **{entry.name}** take over. `dry_run` is the default.\n{_TASKS}{problem}"


def _params() -> dict[str, Param]:
    return {
        "mode": Param(
            PLANNED,
            type="string",
            enum=[PLANNED, UNPLANNED],
            title="Planned or unplanned",
            description="Planned: the source answers, nothing is lost. Unplanned: it is gone, nothing is asked of it",
        ),
        "reason": Param(
            None, type=["null", "string"], title="Reason", description="Of an unplanned failover: tells others why"
        ),
        "dry_run": dry_run_first(),
    }
