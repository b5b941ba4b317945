"""Ask a person before a switch."""

from datetime import timedelta

from airflow.providers.standard.operators.hitl import ApprovalOperator

from twinhive.surfaces.airflow.tasks.failover_tasks import PREPARE
from twinhive.surfaces.airflow.tasks.switch_task import SAID

APPROVE = "approve"
_ANSWER_WITHIN = timedelta(hours=4)


def approval(subject: str) -> ApprovalOperator:
    """Return the task that waits for a person, who reads what `prepare` has said; nobody's silence is a yes."""
    return ApprovalOperator(
        task_id=APPROVE,
        subject=subject,
        body=f"{{{{ ti.xcom_pull(task_ids='{PREPARE}', key='{SAID}') }}}}",
        ignore_downstream_trigger_rules=True,
        response_timeout=_ANSWER_WITHIN,
        execution_timeout=None,
    )
