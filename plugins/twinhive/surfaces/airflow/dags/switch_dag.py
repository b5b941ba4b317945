"""Make the DAGs `<policy>.failover` and `<policy>.failback` of their stages: task by task, with a person's approval."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import assert_never

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import DAG, BaseOperator, Param, chain

from twinhive.operations.failover.switch_steps import PLANNED, PREPARE, UNPLANNED
from twinhive.runtime.pipeline.switches import (
    FAILBACK,
    FAILOVER,
    SWITCHES,
    Approve,
    StartRun,
    SwitchStage,
    SwitchStep,
    WaitUntil,
)
from twinhive.runtime.settings import PolicyEntry
from twinhive.surfaces.airflow.dags.dag_arguments import dag_arguments, with_form
from twinhive.surfaces.airflow.dags.lane_priorities import brings_data
from twinhive.surfaces.airflow.dags.params import dry_run_first
from twinhive.surfaces.airflow.dags.task_resources import TaskKind
from twinhive.surfaces.airflow.tasks.stage_task import StageOf
from twinhive.surfaces.airflow.tasks.switch_task import SAID, SwitchSensor, SwitchStart, SwitchTask

_ANSWER_WITHIN = timedelta(hours=4)


_DESCRIPTIONS = {
    FAILOVER: "the replica takes over from its source",
    FAILBACK: "the old primary becomes the replica of what took over from it",
}
_TEXTS = {
    FAILOVER: """Let the replica of policy **{}** take over. `dry_run` is the default.

| task | what it does | cleared, it |
|---|---|---|
| `prepare` | says what stands in the way; of an unplanned failover, what is lost | says it as it is now |
| `approve` | waits four hours for a person, who stops all writers of the source before | asks again |
| `fence` | keeps writers away as `failover.fence` of the policy says; without it people do | does it again |
| `start_external` | where external data is copied: starts `external` behind the fence | starts it again |
| `catch_up` | waits until the replica has all that the source logged, and external data | waits again |
| `prove_quiet` | the source logs nothing of the policy for `failover.quiet_seconds` | proves it again |
| `verify` | compares all that is replicated | compares again |
| `promote` | asks once more whether anything came; then one call lets the replica take over | says that it has |

Before `promote` nothing is changed but the fence: to give up, mark the run failed and start the operation
`failover-abort` of `operate`, which lets the writers in again. An unplanned failover does without the source, and
passes over what proves it equal. The same from a terminal: `twinhive failover` (docs/failover.md).
""",
    FAILBACK: """Make the old primary the replica of policy **{}**. `dry_run` is the default.

| task | what it does | cleared, it |
|---|---|---|
| `prepare` | says since when the two are parted, and what only the old primary has | says it as it is now |
| `approve` | waits four hours for a person, who keeps users away from the old primary | asks again |
| `prove_quiet` | the old primary logs nothing of its tables for `failover.quiet_seconds` | proves it again |
| `divergence` | copies what only the old primary has into a database of its own | keeps what came since |
| `adopt` | stamps it, keeps what came late, refuses writers that go on, marks it as the replica | says that it is |
| `start_incremental` | lets the policy go on, and starts `incremental` | starts it again |
| `start_external` | where external data is copied: starts `external` | starts it again |
| `follow` | waits until `incremental` has brought over what differs | waits again |
| `verify` | compares both sides | compares again |
| `switch_back` | with `switch_back`: starts this policy's failover, planned; a person approves it | starts it again |

Only where this policy's source has taken over from its replica. The same from a terminal: `twinhive failback`
(docs/failover.md).
""",
}


def switch_dag(entry: PolicyEntry, config: Path, switch: str) -> DAG:
    """Build the DAG. A policy that cannot be used gives the same tasks, and the first fails with the reason."""
    with DAG(
        description=_DESCRIPTIONS[switch],
        doc_md=_documentation(entry, switch),
        schedule=None,
        is_paused_upon_creation=False,
        **dag_arguments(entry, config, switch, TaskKind.FORMS),
    ) as dag:
        stages = [stage for stage in SWITCHES[switch] if _has(entry, stage)]
        chain(*(_task(stage, StageOf(str(config), entry.name, switch, stage.name)) for stage in stages))
    return with_form(dag, {**_PARAMS[switch](), "dry_run": dry_run_first()})


def _has(entry: PolicyEntry, stage: SwitchStage) -> bool:
    """Tell whether a policy has a stage; one that cannot be used has no external data to copy."""
    if not isinstance(stage, StartRun) or not stage.is_for_data:
        return True
    return entry.settings is not None and not entry.error and brings_data(entry.settings)


def _task(stage: SwitchStage, of: StageOf) -> BaseOperator:
    match stage:
        case SwitchStep():
            return SwitchTask(task_id=stage.name, stage=of)
        case WaitUntil():
            return SwitchSensor(task_id=stage.name, timeout=stage.within.total_seconds(), stage=of)
        case StartRun():
            return SwitchStart(task_id=stage.name, stage=of)
        case Approve():
            # Nobody's silence is a yes.
            return ApprovalOperator(
                task_id=stage.name,
                subject=stage.question.format(of.policy),
                body=f"{{{{ ti.xcom_pull(task_ids='{PREPARE}', key='{SAID}') }}}}",
                ignore_downstream_trigger_rules=True,
                response_timeout=_ANSWER_WITHIN,
                execution_timeout=None,
            )
        case _:
            assert_never(stage)


def _documentation(entry: PolicyEntry, switch: str) -> str:
    problem = f"\n\n```\n{entry.error}\n```" if entry.error else ""
    return _TEXTS[switch].format(entry.name) + problem


_PARAMS: Mapping[str, Callable[[], dict[str, Param]]] = {
    FAILOVER: lambda: {
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
    },
    FAILBACK: lambda: {
        "switch_back": Param(
            False,
            type="boolean",
            title="Switch back",
            description="When both sides are equal, start the planned failover of this policy: a person approves it",
        )
    },
}
