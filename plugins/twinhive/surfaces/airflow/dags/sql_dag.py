"""Make the DAG `twinhive.sql`: statements from a form that changes nothing by default."""

from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param

from twinhive.runtime.settings import Configuration, load_configuration
from twinhive.statements.execution import plan_statement, run_statement
from twinhive.surfaces.airflow.dags.dag_arguments import ALWAYS, with_form
from twinhive.surfaces.airflow.dags.params import NOTHING_CHANGED, dry_run_first
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.failure_callbacks import failure_callbacks
from twinhive.surfaces.airflow.monitor.recording import recorded_task
from twinhive.surfaces.airflow.monitor.task_failures import RETRIES, as_airflow_failures
from twinhive.surfaces.airflow.operators.statement_operator import said, statement_place
from twinhive.surfaces.airflow.tasks.log_groups import FoldedLog
from twinhive.surfaces.airflow.tasks.stage_task import StageOf, holder

SQL = "twinhive.sql"


def sql_dag(config: Path, configuration: Configuration) -> DAG:
    """Build the DAG; the form offers the clusters and policies there are."""
    with DAG(
        dag_id=SQL,
        description="REPL DUMP, LOAD, STATUS; EXPORT, IMPORT TABLE; remotes",
        doc_md=_documentation(configuration),
        # Of two different statements within seconds, none may be taken for a second click.
        schedule=None,
        is_paused_upon_creation=False,
        tags={"twinhive"},
        default_args={**RETRIES, **failure_callbacks(config, *SQL.split("."))},
        **ALWAYS,
    ) as dag:
        FormStatementOperator(task_id="sql", config=str(config))
    return with_form(dag, _params(configuration))


def _documentation(configuration: Configuration) -> str:
    clusters = ", ".join(f"`{name}`" for name in sorted(configuration.clusters))
    return (
        "Say `REPL DUMP`, `LOAD` or `STATUS` (docs/repl.md), `EXPORT TABLE` or `IMPORT TABLE` (docs/export.md), or "
        "statements about remotes (docs/remotes.md) to a cluster: the source of a DUMP, the replica of a LOAD or "
        f"STATUS. Clusters: {clusters or 'none'}. `dry_run` is the default: the log says what would be "
        "done."
    )


def _params(configuration: Configuration) -> dict[str, Param]:
    clusters, policies = sorted(configuration.clusters), sorted(configuration.policies)
    return {
        "statement": Param(
            "",
            type="string",
            minLength=len("REPL STATUS x"),
            title="Statement",
            description="REPL DUMP sales.['[a-z]+'] FROM 200  or  REPL LOAD sales FROM '...'  or  REPL STATUS sales",
        ),
        "cluster": Param(
            None,
            type=["null", "string"],
            enum=[None, *clusters],
            title="Cluster",
            description="The source of a DUMP, the replica of a LOAD or STATUS; the policy's when a policy is named",
        ),
        "policy": Param(
            None,
            type=["null", "string"],
            enum=[None, *policies],
            title="Policy",
            description="Run it under this policy: its clusters, hive_conf, options and marks",
        ),
        "dry_run": dry_run_first(),
    }


class FormStatementOperator(BaseOperator):
    """Plan or run the statement of the form."""

    ui_color = "#e6f4ea"

    def __init__(self, *, config: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config

    def execute(self, context: Any) -> dict[str, Any] | list[str]:
        """Do what the form says."""
        with as_airflow_failures(), FoldedLog(self.log.info) as say:
            form = checked_form(context)
            configuration = load_configuration(Path(self.config))
            place = statement_place(configuration, form["cluster"], form["policy"], context)
            stage = StageOf(self.config, form["policy"] or SQL, "sql", "sql")
            with recorded_task(stage, context):
                if not form["dry_run"]:
                    return said(run_statement(form["statement"], place, holder(context), say), say)
                lines = plan_statement(form["statement"], place)
            for line in (*lines, NOTHING_CHANGED):
                say(line)
            return lines
