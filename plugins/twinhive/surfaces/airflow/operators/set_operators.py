"""Say from a DAG that a set of partitions is done, and that it is not (docs/sets.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow.sdk import BaseOperator

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_spec import set_text
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.runtime.settings import ClusterSettings, Configuration, load_configuration
from twinhive.runtime.wiring.cluster_wiring import cluster_metastore
from twinhive.surfaces.airflow.config_directory import config_directory
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.dags.set_assets import announce_sets
from twinhive.surfaces.airflow.monitor.task_failures import RETRIES, as_airflow_failures


@dataclass(frozen=True)
class SetPlace:
    """A table of a cluster, as a DAG names it."""

    configuration: Configuration
    cluster: str
    table: TableName

    @classmethod
    def of(cls, configuration: Configuration, cluster: str | None, policy: str | None, table: str) -> "SetPlace":
        """Find a table by its cluster, or the replica's by its policy. Raises InvalidSettings."""
        if policy is not None:
            replica = configuration.policy(policy).usable().replica
            return cls(configuration, replica.cluster, TableName(replica.database, table.lower()))
        if cluster is None or cluster not in configuration.clusters:
            configuration.refuse_wrong_clusters()
            raise InvalidSettings(
                f"there is no cluster {cluster}",
                found=str(cluster),
                expected=f"one of {', '.join(sorted(configuration.clusters))}",
                next_step="correct the DAG, then clear this task",
            )
        return cls(configuration, cluster, TableName.given(table, "correct the DAG, then clear this task"))

    @property
    def settings(self) -> ClusterSettings:
        """What clusters.yaml says of the cluster."""
        return self.configuration.clusters[self.cluster]


class _SetOperator(BaseOperator):
    template_fields: Sequence[str] = ("cluster", "table", "set", "note")
    ui_color = "#e6f4ea"

    def __init__(
        self,
        *,
        cluster: str,
        table: str,
        set: Mapping[str, str] | str,
        note: str | None = None,
        config: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{**RETRIES, **kwargs})
        self.cluster = cluster
        self.table = table
        self.set = set
        self.note = note
        self.config = config

    def _found(self) -> tuple[TableName, Any, str]:
        configuration = load_configuration(config_directory(self.config))
        place = SetPlace.of(configuration, self.cluster, None, self.table)
        metastore = cluster_metastore(configuration, place.cluster, resolve_from_airflow)
        return place.table, metastore, place.settings.sets.keep


class MarkSetDoneOperator(_SetOperator):
    """Mark a set of partitions as done.

        write >> MarkSetDoneOperator(task_id="done", cluster="east", table="sales.orders", set={"day": "{{ ds }}"})

    `set` are values by keys, or `key=value/key=value`, or `*` for the whole table. A task that is repeated or cleared
    counts once: the mark's token is its DAG, run and task. It returns `set`, `count` and `partitions`, and announces
    the set: asset `twinhive-set://<cluster>/<database>/<table>` has an event with the set as its partition key.
    """

    def execute(self, context: Any) -> dict[str, Any]:
        """Mark it."""
        with as_airflow_failures():
            instance = context["ti"]
            token = f"{instance.dag_id} {instance.run_id} {instance.task_id} {getattr(instance, 'map_index', -1)}"
            table, metastore, keep = self._found()
            by = f"airflow: {instance.dag_id}"
            outcome = MarkSet(table, set_text(self.set), token, by, self.note, keep).run(metastore)
            mark = outcome.mark
            self.log.info("set %s of %s is done%s", mark.spec, table, ", and was before" if outcome.already else "")
            announce_sets(context, self.cluster, table, [mark.spec], count=mark.count)
            return {"set": mark.spec, "count": mark.count, "partitions": mark.partitions}


class UnmarkSetOperator(_SetOperator):
    """Say that a set of partitions is not done any more; one that is not marked is fine."""

    def execute(self, context: Any) -> bool:
        """Take the mark away; return whether there was one."""
        with as_airflow_failures():
            table, metastore, _ = self._found()
            found = UnmarkSet(table, set_text(self.set)).run(metastore)
            self.log.info("the set of %s %s", table, "is not marked any more" if found else "was not marked")
            return found
