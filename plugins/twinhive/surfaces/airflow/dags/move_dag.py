"""Make the DAG `twinhive.move_primary`: a form that lets a table belong to another cluster of its metastore."""

from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param

from twinhive.core.model.policy import Options
from twinhive.federation.placement.move_primary import MovePrimary
from twinhive.runtime.settings import Configuration, load_configuration
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.wiring.table_move import MoveWiring
from twinhive.statements.execution.moving_primary import by_spark, planned
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.connections.spark_connection import spark_cluster
from twinhive.surfaces.airflow.dags.dag_arguments import ALWAYS, with_form
from twinhive.surfaces.airflow.dags.params import NOTHING_CHANGED, dry_run_first
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.failure_callbacks import failure_callbacks
from twinhive.surfaces.airflow.monitor.recording import recorded_task
from twinhive.surfaces.airflow.monitor.task_failures import RETRIES, as_airflow_failures
from twinhive.surfaces.airflow.tasks.log_groups import FoldedLog
from twinhive.surfaces.airflow.tasks.stage_task import StageOf, holder

MOVE = "twinhive.move_primary"
_TASK = "move"


def sharing_clusters(configuration: Configuration) -> list[str]:
    """Return the clusters that share their metastore with others: tables can be moved between these."""
    names = sorted(configuration.clusters)
    return [name for name in names if len(configuration.clusters_of_metastore(name)) > 1]


def move_dag(config: Path, configuration: Configuration) -> DAG:
    """Build the DAG; the form offers the clusters that a table can be moved to."""
    with DAG(
        dag_id=MOVE,
        description="let a table belong to another cluster of its metastore",
        doc_md=_DOCUMENTATION,
        # Of two different tables within seconds, none may be taken for a second click.
        schedule=None,
        is_paused_upon_creation=False,
        tags={"twinhive"},
        default_args={**RETRIES, **failure_callbacks(config, *MOVE.split("."))},
        **ALWAYS,
    ) as dag:
        MovePrimaryOperator(task_id=_TASK, config=str(config))
    return with_form(dag, _params(sharing_clusters(configuration)))


_DOCUMENTATION = (
    "Copy a table to another cluster, fence it, and let it belong there by one call; the old place becomes a copy "
    "(docs/copies.md). Large copies are made by the Spark of that cluster. Killed at any moment, clear the task: it "
    "goes on. Stop the jobs first that write the table without being routed. `dry_run` is the default."
)


def _params(clusters: list[str]) -> dict[str, Param]:
    return {
        "table": Param("", type="string", minLength=len("a.b"), title="Table", description="DATABASE.TABLE"),
        "cluster": Param(
            None,
            type=["null", "string"],
            enum=[None, *clusters],
            title="Cluster",
            description="Where it is to be at home",
        ),
        "root": Param(
            None,
            type=["null", "string"],
            title="Root",
            description="Below which its directory is made; empty: below the database's twinhive.root.CLUSTER",
        ),
        "dry_run": dry_run_first(),
    }


class MovePrimaryOperator(BaseOperator):
    """Plan or carry out the move of the form."""

    ui_color = "#fff4e5"

    def __init__(self, *, config: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config

    def execute(self, context: Any) -> list[str]:
        """Do what the form says; the lines go to the task's log and are what the task returns."""
        with as_airflow_failures(), FoldedLog(self.log.info) as say:
            form = checked_form(context)
            configuration = load_configuration(Path(self.config))
            target, root = form["cluster"] or "", form["root"] or None
            wiring = MoveWiring.of(configuration, resolve_from_airflow, form["table"], target, root)

            def spark(name: str, options: Options) -> SparkCluster:
                connection = configuration.clusters[name].job_tracker.connection
                return spark_cluster(connection, options.spark_tasks, options.spark_conf)

            moving = by_spark(MovePrimary(wiring.policy, wiring.name, holder(context), say), wiring, spark)
            with recorded_task(StageOf(self.config, MOVE, _TASK, _TASK), context):
                ports = wiring.write_ports()
                lines = planned(moving, ports) if form["dry_run"] else moving.run(ports)
            for line in (*lines, *([NOTHING_CHANGED] if form["dry_run"] else [])):
                say(line)
            return lines
