"""Make the forms of a policy, each of which changes nothing by default: `<policy>.operate`, `<policy>.give_up`.

They are two DAGs because Airflow gives rights by DAG: what mends can be left to everybody on call, what gives something
up (an event, a replica, the fence of a holder) to fewer. That one wants the policy's name typed as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param

from twinhive.core.model.errors import InvalidSettings
from twinhive.operations.operation_kinds import GIVING_UP, MENDING, OperationFields, OperationKind, operation_of
from twinhive.runtime.settings import PolicyEntry, load_configuration
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.dags.dag_arguments import dag_arguments, with_form
from twinhive.surfaces.airflow.dags.params import NOTHING_CHANGED, dry_run_first
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.dags.task_resources import TaskKind
from twinhive.surfaces.airflow.monitor.recording import recorded_task
from twinhive.surfaces.airflow.monitor.task_failures import as_airflow_failures
from twinhive.surfaces.airflow.tasks.stage_task import StageOf, holder

OPERATE, GIVE_UP = "operate", "give_up"
"""The DAGs' names after the policy's, and their tasks'."""
_CONFIRM = "confirm"


@dataclass(frozen=True)
class Form:
    """One of the two forms: its operations, the one that a thoughtless trigger names, and what it says of itself."""

    name: str
    kinds: Mapping[str, OperationKind]
    first: str | None
    purpose: str


FORMS: Mapping[str, Form] = {
    OPERATE: Form(OPERATE, MENDING, "status", "Mend"),
    GIVE_UP: Form(GIVE_UP, GIVING_UP, None, "Give something up of"),
}


def form_dag(entry: PolicyEntry, config: Path, form: Form) -> DAG:
    """Build the DAG of a form. A policy that cannot be used gives the same DAG, whose task fails with the reason."""
    with DAG(
        description=f"{form.name}: {', '.join(form.kinds)}",
        doc_md=_documentation(entry, form),
        # Not as phases are: of two different requests within seconds, none may be taken for a second click.
        schedule=None,
        is_paused_upon_creation=False,
        **dag_arguments(entry, config, form.name, TaskKind.FORMS),
    ) as dag:
        OperateOperator(task_id=form.name, config=str(config), policy=entry.name, kinds=list(form.kinds))
    return with_form(dag, _params(form))


def _documentation(entry: PolicyEntry, form: Form) -> str:
    rows = [f"| `{kind.name}` | {kind.purpose} | {', '.join(kind.needs)} |" for kind in form.kinds.values()]
    problem = f"\n\n```\n{entry.error}\n```" if entry.error else ""
    table = "\n".join(["| operation | what it does | needs |", "|---|---|---|", *rows])
    intro = f"{form.purpose} policy **{entry.name}**. `dry_run` is the default: the log says what would be done."
    if form.name == GIVE_UP:
        intro += f" With `dry_run` off, `{_CONFIRM}` must be `{entry.name}`."
    return f"{intro}\n\n{table}{problem}"


def _params(form: Form) -> dict[str, Param]:
    """Return the form's fields: those that its operations need."""
    needed = {field for kind in form.kinds.values() for field in kind.needs}
    fields = {name: param for name, param in _fields(form).items() if name in needed}
    if form.name == GIVE_UP:
        fields[_CONFIRM] = Param(
            None,
            type=["null", "string"],
            title="Type the policy's name",
            description="Asked for when dry_run is off",
        )
    return {"operation": _operation(form), **fields, "dry_run": dry_run_first()}


def _operation(form: Form) -> Param:
    names: list[str | None] = list(form.kinds) if form.first else [None, *form.kinds]
    return Param(
        form.first,
        type="string" if form.first else ["null", "string"],
        enum=names,
        title="What to do",
        description="What each does, and which of the fields below it needs, stands in the DAG's documentation",
    )


def _those(form: Form, field: str) -> str:
    return "For " + ", ".join(kind.name for kind in form.kinds.values() if field in kind.needs)


def _fields(form: Form) -> dict[str, Param]:
    return {
        "table": Param(None, type=["null", "string"], title="Table", description=f"{_those(form, 'table')}: its name"),
        "event_id": Param(
            None,
            type=["null", "integer"],
            minimum=1,
            title="Event",
            description=f"{_those(form, 'event_id')}: the id, as the failed task, or the failover, names it",
        ),
        "reason": Param(
            None, type=["null", "string"], title="Reason", description=f"{_those(form, 'reason')}: tells others why"
        ),
    }


class OperateOperator(BaseOperator):
    """Plan or run one operation; the lines go to the task's log and are what the task returns."""

    ui_color = "#fff4e5"

    def __init__(self, *, config: str, policy: str, kinds: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.policy = policy
        self.kinds = kinds

    def execute(self, context: Any) -> list[str]:
        """Do what the form says."""
        with as_airflow_failures():
            form = checked_form(context)
            wiring = Wiring.of(load_configuration(Path(self.config)), self.policy, resolve_from_airflow)
            self._refuse(form)
            fields = OperationFields(form.get("table"), form.get("event_id"), form.get("reason"))
            operation = operation_of(form["operation"], wiring.policy, holder(context), fields)
            ports = wiring.write_ports()
            with recorded_task(self._stage(context), context):
                lines = operation.plan(ports) if form["dry_run"] else operation.run(ports)
        for line in lines:
            self.log.info(line)
        if form["dry_run"]:
            self.log.info(NOTHING_CHANGED)
        return lines

    def _stage(self, context: Any) -> StageOf:
        task_id = str(context["ti"].task_id)
        return StageOf(self.config, self.policy, task_id, task_id)

    def _refuse(self, form: Mapping[str, Any]) -> None:
        """Raise InvalidSettings for a form that names no operation, or does not confirm what cannot be undone."""
        if form["operation"] not in self.kinds:
            raise InvalidSettings(
                "operation: nothing chosen",
                found=repr(form["operation"]),
                expected=f"one of {', '.join(self.kinds)}",
                next_step="choose one of these",
            )
        if _CONFIRM in form and not form["dry_run"] and form[_CONFIRM] != self.policy:
            raise InvalidSettings(
                f"{_CONFIRM}: {form['operation']} cannot be undone, so it wants the policy's name",
                found=repr(form[_CONFIRM]),
                expected=self.policy,
                next_step=f"look at a run with dry_run on; then trigger again with {_CONFIRM}={self.policy}",
            )
