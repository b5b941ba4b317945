"""Run a REPL statement as a task, for the DAGs of those who have such statements already."""

from collections.abc import Sequence
from typing import Any

from airflow.sdk import BaseOperator

from twinhive.core.model.policy import Options
from twinhive.runtime.settings import Configuration, load_configuration
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.statements.execution import Answer, StatementPlace, run_statement
from twinhive.surfaces.airflow.config_directory import config_directory
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.connections.spark_connection import spark_cluster
from twinhive.surfaces.airflow.monitor.task_failures import RETRIES, as_airflow_failures
from twinhive.surfaces.airflow.tasks.log_groups import FoldedLog
from twinhive.surfaces.airflow.tasks.stage_task import holder


class ReplStatementOperator(BaseOperator):
    """Run REPL DUMP, REPL LOAD or REPL STATUS; return `columns` and `rows` as `twinhive sql --json` prints them.

    `sql`, `cluster` and `policy` are templates, so that a LOAD can name what a DUMP has returned:
    `REPL LOAD sales FROM '{{ ti.xcom_pull("dump")["rows"][0][0] }}'`. `config` is the configuration directory; None:
    `TWINHIVE_CONFIG`, else the DAGs folder. Connections are Airflow's; large copies of a LOAD are made by the Spark of
    its cluster. A task that was killed is cleared: LOAD goes on where it was, DUMP begins a new dump, statements about
    remotes pass over what is made just so, and what is dropped.
    """

    template_fields: Sequence[str] = ("sql", "cluster", "policy")
    ui_color = "#e6f4ea"

    def __init__(
        self,
        *,
        sql: str,
        cluster: str | None = None,
        policy: str | None = None,
        config: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{**RETRIES, **kwargs})
        self.sql = sql
        self.cluster = cluster
        self.policy = policy
        self.config = config

    def execute(self, context: Any) -> dict[str, Any]:
        """Run the statement; each row is a line of the log."""
        with as_airflow_failures(), FoldedLog(self.log.info) as say:
            configuration = load_configuration(config_directory(self.config))
            place = statement_place(configuration, self.cluster, self.policy, context)
            return said(run_statement(self.sql, place, holder(context), say), say)


def statement_place(
    configuration: Configuration, cluster: str | None, policy: str | None, context: Any
) -> StatementPlace:
    """Return where a task runs statements: the connections of Airflow, the Spark of the cluster that loads."""

    def spark(name: str, options: Options) -> SparkCluster:
        connection = configuration.clusters[name].job_tracker.connection
        return spark_cluster(connection, options.spark_tasks, options.spark_conf)

    is_rerun = context["ti"].try_number > 1
    return StatementPlace(configuration, resolve_from_airflow, cluster or None, policy or None, spark, is_rerun)


def said(answer: Answer, say: Any) -> dict[str, Any]:
    """Say an answer in the log, and return it as XCom holds it."""
    for row in answer.rows:
        say("\t".join(f"{column}: {value}" for column, value in zip(answer.columns, row, strict=True)))
    return {"columns": list(answer.columns), "rows": [list(row) for row in answer.rows]}
