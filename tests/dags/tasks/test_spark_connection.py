"""A Spark connection leads to the same Spark whether SparkSubmitOperator submits to it or we do."""

import json
from typing import Any

import pytest

from twinhive.core.model.errors import InvalidSettings, Unreachable
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.surfaces.airflow.connections.spark_connection import spark_cluster


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write the connection west_spark, as fields or as a URI."""

    def write(uri: str | None = None, **fields: Any) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_WEST_SPARK", uri or json.dumps(fields))

    return write


@pytest.mark.parametrize(
    ("connection", "master"),
    [
        ({"conn_type": "spark", "host": "local[2]"}, "local[2]"),
        ({"conn_type": "spark", "host": "yarn"}, "yarn"),
        ({"conn_type": "spark", "host": "spark://m1", "port": 7077}, "spark://m1:7077"),
        ({"uri": "spark://m1:7077"}, "spark://m1:7077"),
    ],
)
def test_the_master_is_found_in_every_form(connect: Any, connection: dict[str, Any], master: str) -> None:
    connect(**connection)
    assert spark_cluster("west_spark", 3, {}) == SparkCluster(master, 3, {})


def test_what_the_connection_says_besides_becomes_settings_and_the_policy_comes_first(connect: Any) -> None:
    extra = {"queue": "slow", "namespace": "etl", "principal": "etl@EAST", "deploy-mode": "client"}
    connect(conn_type="spark", host="yarn", extra=extra)
    assert spark_cluster("west_spark", 1, {"spark.yarn.queue": "quick"}).conf == {
        "spark.yarn.queue": "quick",
        "spark.kubernetes.namespace": "etl",
        "spark.kerberos.principal": "etl@EAST",
    }


@pytest.mark.parametrize(
    ("extra", "said"), [({"deploy-mode": "cluster"}, "deploy-mode cluster"), ({"spark-home": "/opt"}, "spark-home")]
)
def test_what_cannot_be_used_names_the_connection(connect: Any, extra: dict[str, str], said: str) -> None:
    connect(conn_type="spark", host="yarn", extra=extra)
    with pytest.raises(InvalidSettings, match="connection west_spark cannot be used") as caught:
        spark_cluster("west_spark", 1, {})
    assert said in str(caught.value)


def test_kubernetes_needs_its_provider_for_us_as_for_the_operator(connect: Any) -> None:
    connect(conn_type="spark", host="k8s://https://m1:443")
    with pytest.raises(InvalidSettings, match="the package apache-airflow-providers-cncf-kubernetes"):
        spark_cluster("west_spark", 1, {})


def test_an_unknown_connection_is_not_taken_for_yarn() -> None:
    with pytest.raises(Unreachable, match="Airflow gave no connection nowhere"):
        spark_cluster("nowhere", 1, {})
