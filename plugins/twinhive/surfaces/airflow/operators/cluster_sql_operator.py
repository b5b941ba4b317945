"""Run a statement as a task, on the cluster where all is that it needs: by that cluster's Spark (seed 000)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import BaseOperator

from twinhive.core.model.errors import TwinhiveError
from twinhive.runtime.settings import Configuration, load_configuration
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.job_outcome import NextSteps
from twinhive.runtime.spark.jobs import Job
from twinhive.runtime.spark.sql_settings import SqlJobSettings
from twinhive.runtime.wiring.job_users import job_user
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint
from twinhive.runtime.wiring.routed_sql import RoutedSql, WaitsForCopy, routed_sql
from twinhive.runtime.wiring.routing_wiring import RoutingWiring, cluster_of_metastore
from twinhive.runtime.wiring.spark_settings import spark_settings
from twinhive.surfaces.airflow.config_directory import config_directory
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.connections.spark_connection import spark_cluster
from twinhive.surfaces.airflow.monitor.task_failures import RETRIES, as_airflow_failures
from twinhive.surfaces.airflow.tasks.log_groups import FoldedLog
from twinhive.surfaces.airflow.triggers.unexplained_errors import kept, odd_answers

_APPLICATION = "run_sql"
_LOOK_AGAIN = timedelta(minutes=1)
_NEXT = NextSteps(
    act_now="mend what is said above, then clear this task",
    unusable="mend the Spark connection of the cluster, then clear this task",
    try_again="look whether the statement was carried out: INSERT INTO inserts again; then clear this task",
    failed="the statement was refused",
    expected="a statement that Spark can run there",
)


@dataclass(frozen=True)
class _Wait:
    """Why the statement cannot run yet: a copy is missing that a placement makes, or a server does not answer."""

    refused: TwinhiveError
    odd: int = 0


class ClusterSqlOperator(BaseOperator):
    """Run `sql` on the cluster to which the tables belong that it writes, or that has all that it reads.

    `cluster` is USE CLUSTER: there, or refused. `metastore` names a cluster whose metastore knows the tables, where
    clusters.yaml has several and no `default_cluster`. With `wait_for_copy` a statement that lacks only copies which a
    placement makes waits for these, at most `copy_timeout`, and takes no worker meanwhile. The task returns `cluster`
    and `why`, and has them in its log, in the name of the Spark application and as `ran_on`, also its map index's name.

    `user` is as whom it runs, without Kerberos; if nobody is named, `job_tracker.user` of clusters.yaml, or the user of
    the cluster's file system. An owner of copies could write into them, and runs statements only when named.

    There is no retry unless the DAG asks for one: an INSERT INTO that is run twice inserts twice.
    """

    template_fields: Sequence[str] = ("sql", "cluster", "database")
    ui_color = "#e6f4ea"

    def __init__(
        self,
        *,
        sql: str,
        cluster: str | None = None,
        database: str = "default",
        metastore: str | None = None,
        wait_for_copy: bool = False,
        copy_timeout: timedelta = timedelta(hours=6),
        user: str | None = None,
        tasks: int = 2,
        spark_conf: Mapping[str, str] | None = None,
        config: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{**RETRIES, "retries": 0, "map_index_template": "{{ task.ran_on }}", **kwargs})
        self.sql = sql
        self.cluster = cluster
        self.database = database
        self.metastore = metastore
        self.wait_for_copy = wait_for_copy
        self.copy_timeout = copy_timeout
        self.user = user
        self.tasks = tasks
        self.spark_conf = dict(spark_conf or {})
        self.config = config
        self.ran_on = "its log says where it runs"

    def execute(self, context: Any) -> dict[str, str]:
        """Find the cluster, submit the statement to it, and wait for its end."""
        del context
        return self._run(time.time() + self.copy_timeout.total_seconds())

    def look_again(self, context: Any, event: Any = None, until: float | None = None, odd: int = 0) -> dict[str, str]:
        """Go on when a copy may be there; `until` is when the waiting ends (Airflow's dag.test loses it)."""
        del event
        return self.execute(context) if until is None else self._run(until, odd)

    def _run(self, until: float, odd: int = 0) -> dict[str, str]:
        with as_airflow_failures():
            configuration = load_configuration(config_directory(self.config))
            wiring = self._wiring(configuration)
            found = self._routed(configuration, wiring, odd)
            if isinstance(found, RoutedSql):
                return self._submit(configuration, wiring, found)
            if time.time() >= until:
                raise found.refused
        self.log.info("a copy is missing, which is waited for: %s", found.refused)
        self.defer(
            trigger=TimeDeltaTrigger(_LOOK_AGAIN),
            method_name="look_again",
            kwargs={"until": until, **kept(found.odd)},
        )

    def _wiring(self, configuration: Configuration) -> RoutingWiring:
        named = self.metastore or self.cluster or None
        return RoutingWiring(configuration, cluster_of_metastore(configuration, named), resolve_from_airflow)

    def _routed(self, configuration: Configuration, wiring: RoutingWiring, odd: int) -> RoutedSql | _Wait:
        try:
            found = routed_sql(configuration, wiring, self.sql, self.database, self.cluster or None)
        except TwinhiveError as error:
            if self.wait_for_copy:
                return _Wait(error, odd_answers(error, odd))
            raise
        if isinstance(found, RoutedSql):
            return found
        if isinstance(found, WaitsForCopy) and self.wait_for_copy:
            return _Wait(found.refused)
        raise found.refused

    def _submit(self, configuration: Configuration, wiring: RoutingWiring, found: RoutedSql) -> dict[str, str]:
        self.ran_on = f"{found.cluster}: {found.why}"
        with FoldedLog(self.log.info) as say:
            say(f"runs on {found.cluster}: {found.why}")
            for line in found.passed_over:
                say(f"passed over {line}")
            settings = SqlJobSettings(found.sql, found.database, f"run SQL on {found.cluster} ({found.why})")
            spark, user = self._spark(configuration, wiring, found.cluster)
            job = Job(_APPLICATION, spark, settings.label, _NEXT, user)
            job.run(settings.to_json(), say)
        return {"cluster": found.cluster, "why": found.why}

    def _spark(
        self, configuration: Configuration, wiring: RoutingWiring, cluster: str
    ) -> tuple[SparkCluster, str | None]:
        """Return the Spark of a cluster, which knows the file systems of all, and who reads and writes there."""
        settings = configuration.clusters[cluster]
        others = [name for name in wiring.clusters.names if name != cluster]
        ends = [
            file_system_endpoint(configuration.clusters[name].file_system, resolve_from_airflow)
            for name in (*others, cluster)
        ]
        metastore = metastore_endpoint(settings.metastore, resolve_from_airflow)
        addresses = [f"thrift://{host}:{port}" for host, port in metastore.addresses]
        uris = ",".join(settings.gateway.uris or addresses)
        conf = {
            "spark.sql.catalogImplementation": "hive",
            **spark_settings(ends, uris),
            "spark.hadoop.fs.defaultFS": ends[-1].root,
            **self.spark_conf,
        }
        user = job_user(configuration, cluster, resolve_from_airflow, self.user)
        return spark_cluster(settings.job_tracker.connection, self.tasks, conf), user
