"""Write many partitions of a table in one task: the rows of a query, by the Spark of the table's cluster."""

from collections.abc import Mapping, Sequence
from typing import Any

from airflow.sdk import BaseOperator

from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_spec import set_text
from twinhive.publishing.partition_writes.write_request import PartitionWrite, SmallFiles
from twinhive.publishing.sets.done_sets import sets_there
from twinhive.publishing.sets.set_waiting import wanted_set
from twinhive.runtime.settings import Configuration, load_configuration
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.job_outcome import NextSteps
from twinhive.runtime.spark.jobs import Job
from twinhive.runtime.spark.write_settings import RowsOf, WriteJobSettings
from twinhive.runtime.wiring.cluster_wiring import cluster_metastore
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint
from twinhive.surfaces.airflow.config_directory import config_directory
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.connections.spark_connection import spark_cluster
from twinhive.surfaces.airflow.dags.set_assets import announce_sets
from twinhive.surfaces.airflow.monitor.task_failures import RETRIES, as_airflow_failures
from twinhive.surfaces.airflow.tasks.log_groups import FoldedLog

_APPLICATION = "write_partitions"
_NEXT = NextSteps(
    act_now="mend what is said above, then clear this task",
    unusable="mend the Spark connection of the cluster, then clear this task",
    try_again="this task is tried again; what is written is not written again",
)


class WritePartitionsOperator(BaseOperator):
    """Write the rows of `sql` as partitions of `table` on `cluster`, by the Spark of that cluster's `job_tracker`.

    `inputs` are files that the query names as views: `{"raw": {"format": "json", "path": "hdfs://east/raw/{{ ds }}"}}`.
    `mode`, `small_files` (`{"at_least": 16, "below": 67108864}`, None: files stay as they are written), `set_done`
    (`{"day": "{{ ds }}"}`) and `job` are those of `write_partitions`. A task that was killed is cleared: the same run
    is the same job, and goes on. One that had ended well and is cleared writes its rows again. The set is announced as
    `MarkSetDoneOperator` announces it, if it is marked when the job has ended.
    """

    template_fields: Sequence[str] = ("sql", "inputs", "table", "cluster", "job", "set_done")
    ui_color = "#e6f4ea"

    def __init__(
        self,
        *,
        cluster: str,
        table: str,
        sql: str,
        inputs: Mapping[str, Mapping[str, str]] | None = None,
        mode: str = "add",
        small_files: Mapping[str, int] | None = {},
        set_done: Mapping[str, str] | str | None = None,
        job: str = "{{ dag.dag_id }}/{{ task.task_id }}/{{ run_id }}/{{ ti.map_index }}",
        tasks: int = 2,
        spark_conf: Mapping[str, str] | None = None,
        config: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{**RETRIES, **kwargs})
        self.cluster = cluster
        self.table = table
        self.sql = sql
        self.inputs = dict(inputs or {})
        self.mode = mode
        self.small_files = small_files
        self.job = job
        self.set_done = set_done
        self.tasks = tasks
        self.spark_conf = dict(spark_conf or {})
        self.config = config

    def execute(self, context: Any) -> None:
        """Submit the job and wait for its end; its lines are lines of the log."""
        with as_airflow_failures(), FoldedLog(self.log.info) as say:
            rule = None if self.small_files is None else SmallFiles(**self.small_files)
            PartitionWrite.of(
                self.table, self.mode, self.job, rule, self._set
            )  # what means nothing is said before Spark starts
            configuration = load_configuration(config_directory(self.config))
            settings = self._settings(configuration, rule, _clearing(context))
            job = Job(_APPLICATION, self._spark(configuration), settings.label, _NEXT, settings.user)
            job.run(settings.to_json(), say)
            if self._set is not None:
                announce_sets(
                    context, self.cluster, TableName.parse(self.table), self._marked(configuration, self._set)
                )

    def _marked(self, configuration: Configuration, text: str) -> list[str]:
        """Return the set if it is marked: a job marks it once, and others may have unmarked it before a repetition."""
        metastore = cluster_metastore(configuration, self.cluster, resolve_from_airflow)
        wanted = wanted_set(metastore, TableName.parse(self.table), text)
        mark = sets_there(metastore, [wanted], configuration.clusters[self.cluster].sets.keep).get(wanted)
        if mark is not None and mark.spec == str(wanted.spec):
            return [mark.spec]
        self.log.info("set %s of %s is not announced: it is not marked any more", wanted.spec, wanted.table)
        return []

    def _settings(self, configuration: Configuration, rule: SmallFiles | None, clearing: int) -> WriteJobSettings:
        if self.cluster not in configuration.clusters:
            configuration.refuse_wrong_clusters()
            raise ActNow(
                f"{self.table} cannot be written: there is no such cluster",
                found=self.cluster,
                expected=f"one of {', '.join(sorted(configuration.clusters))}",
                next_step="correct `cluster`, or add it to clusters.yaml; then clear this task",
            )
        metastore = metastore_endpoint(configuration.clusters[self.cluster].metastore, resolve_from_airflow)
        uris = ",".join(f"thrift://{host}:{port}" for host, port in metastore.addresses)
        rows = RowsOf(self.sql, self.inputs)
        user = file_system_endpoint(configuration.clusters[self.cluster].file_system, resolve_from_airflow).user
        return WriteJobSettings(
            rows, self.table, uris, self.mode, self.job, user or metastore.user, rule, self._set, clearing
        )

    @property
    def _set(self) -> str | None:
        return None if self.set_done is None else set_text(self.set_done)

    def _spark(self, configuration: Configuration) -> SparkCluster:
        settings = configuration.clusters[self.cluster]
        files = file_system_endpoint(settings.file_system, resolve_from_airflow)
        hadoop = {f"spark.hadoop.{key}": value for key, value in files.properties.items()}
        conf = {"spark.hadoop.fs.defaultFS": files.root, **hadoop, **self.spark_conf}
        return spark_cluster(settings.job_tracker.connection, self.tasks, conf)


def _clearing(context: Any) -> int:
    """Return how many tries the task had when a person cleared it last: tries after that do not change it.

    Airflow counts tries on when a task is cleared, and allows as many retries as before on top of them.
    """
    return int(context["ti"].max_tries) - int(context["ti"].task.retries or 0)
