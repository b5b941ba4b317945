"""Find the Spark that a connection leads to."""

from collections.abc import Mapping

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow

_SETTINGS = {
    "queue": "spark.yarn.queue",
    "namespace": "spark.kubernetes.namespace",
    "principal": "spark.kerberos.principal",
    "keytab": "spark.kerberos.keytab",
}
"""What a connection may say besides its master, by Spark's own names."""


def spark_cluster(connection_id: str, tasks: int, conf: Mapping[str, str]) -> SparkCluster:
    """Return the Spark of a connection, read as SparkSubmitOperator reads it; `conf` of the policy comes first.

    Raises InvalidSettings for a connection that Airflow does not know, or that asks for cluster mode: the driver
    reads a file of the worker, and has to end with the task.
    """
    # The hook takes an unknown id for YARN without a word.
    resolve_from_airflow(connection_id)
    try:
        said = SparkSubmitHook(conn_id=connection_id)._connection
    except ValueError as error:
        raise _unusable(connection_id, str(error), "what the Spark provider accepts") from error
    except NameError as error:
        # That is how the hook says it.
        package = "apache-airflow-providers-cncf-kubernetes"
        raise _unusable(connection_id, "a k8s master", f"the package {package} on this worker") from error
    if said["deploy_mode"] not in (None, "client"):
        raise _unusable(connection_id, f"deploy-mode {said['deploy_mode']}", "client, or no deploy-mode")
    own = {name: str(said[key]) for key, name in _SETTINGS.items() if said.get(key)}
    return SparkCluster(said["master"], tasks, {**own, **conf})


def _unusable(connection_id: str, found: str, expected: str) -> InvalidSettings:
    return InvalidSettings(
        f"connection {connection_id} cannot be used for copies",
        found=found,
        expected=expected,
        next_step=f"correct connection {connection_id}, then clear this task",
    )
