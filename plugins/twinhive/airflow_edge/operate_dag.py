"""Make the DAG `<policy>.operate`: what on-call asks of a policy, from a form that changes nothing by default."""

from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param

from twinhive.airflow_edge.connections import resolve_from_airflow
from twinhive.airflow_edge.failures import RETRIES, as_airflow_failures
from twinhive.airflow_edge.forms import checked_form
from twinhive.airflow_edge.lanes import priority_of
from twinhive.airflow_edge.params import NOTHING_CHANGED, dry_run_first
from twinhive.airflow_edge.stage_task import holder
from twinhive.settings import PolicyEntry, load_configuration
from twinhive.steps.operations import KINDS, Fields, operation_of
from twinhive.wiring import Wiring

OPERATE = "operate"
"""The DAG's name after the policy's, and its task's."""


def operate_dag(entry: PolicyEntry, config: Path) -> DAG:
    """Build the DAG. A policy that cannot be used gives the same DAG, whose task fails with the reason."""
    with DAG(
        dag_id=f"{entry.name}.{OPERATE}",
        description=f"{OPERATE}: {', '.join(KINDS)}",
        doc_md=_documentation(entry),
        # Not as phases are: of two different wishes within seconds, none may be taken for a second click.
        schedule=None,
        catchup=False,
        max_active_runs=1,
        is_paused_upon_creation=False,
        tags={"twinhive", entry.name, *(["invalid"] if entry.error else [])},
        default_args={**RETRIES, **priority_of(OPERATE)},
        params=_params(),
    ) as dag:
        OperateOperator(task_id=OPERATE, config=str(config), policy=entry.name)
    return dag


def _documentation(entry: PolicyEntry) -> str:
    rows = [f"| `{kind.name}` | {kind.purpose} | {', '.join(kind.needs)} |" for kind in KINDS.values()]
    problem = f"\n\n```\n{entry.error}\n```" if entry.error else ""
    table = "\n".join(["| operation | what it does | needs |", "|---|---|---|", *rows])
    intro = f"Mend policy **{entry.name}**. `dry_run` is the default: the log says what would be done."
    return f"{intro}\n\n{table}{problem}"


def _params() -> dict[str, Param]:
    """Return the form: the thoughtless trigger shows the status."""
    return {
        "operation": Param(
            "status",
            type="string",
            enum=list(KINDS),
            title="What to do",
            description="What each does, and which of the fields below it needs, stands in the DAG's documentation",
        ),
        "table": Param(None, type=["null", "string"], title="Table", description="For resync: its name"),
        "event_id": Param(
            None,
            type=["null", "integer"],
            minimum=1,
            title="Event",
            description="For skip-event: the id, as the failed task names it",
        ),
        "reason": Param(
            None, type=["null", "string"], title="Reason", description="For skip-event and pause: tells others why"
        ),
        "dry_run": dry_run_first(),
    }


class OperateOperator(BaseOperator):
    """Plan or run one operation; the lines go to the task's log and are what the task returns."""

    ui_color = "#fff4e5"

    def __init__(self, *, config: str, policy: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.policy = policy

    def execute(self, context: Any) -> list[str]:
        """Do what the form says."""
        with as_airflow_failures():
            form = checked_form(context)
            wiring = Wiring.of(load_configuration(Path(self.config)), self.policy, resolve_from_airflow)
            fields = Fields(form["table"], form["event_id"], form["reason"])
            operation = operation_of(form["operation"], wiring.policy, holder(context), fields)
            ports = wiring.write_ports()
            lines = operation.plan(ports) if form["dry_run"] else operation.run(ports)
        for line in lines:
            self.log.info(line)
        if form["dry_run"]:
            self.log.info(NOTHING_CHANGED)
        return lines
