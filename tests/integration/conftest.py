"""Give integration tests two warehouses, policies over them, and a running Airflow."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox
from tests.integration.airflow_fixtures import RunningAirflow
from tests.integration.oncall_fixtures import assert_twin, databases, oncall, runbook_policies, users, writers
from tests.integration.one_policy import finished, followed
from tests.integration.spark_sql import SparkSql, spark_sql
from tests.support.policies import PolicyFiles
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles

__all__ = ["assert_twin", "databases", "finished", "followed", "oncall", "runbook_policies", "users", "writers"]


@pytest.fixture
def east(sandbox: Sandbox) -> Iterator[Warehouse]:
    warehouse = Warehouse(sandbox.clusters["east"])
    yield warehouse
    warehouse.close()


@pytest.fixture
def west(sandbox: Sandbox) -> Iterator[Warehouse]:
    warehouse = Warehouse(sandbox.clusters["west"])
    yield warehouse
    warehouse.close()


@pytest.fixture(scope="session")
def north(sandbox: Sandbox) -> Iterator[HadoopFiles]:
    """Start the third file system; those who do not ask for it need not pay for it."""
    sandbox.up("north")
    os.environ.update(sandbox.environment())
    cluster = sandbox.north
    files = HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
    yield files
    files.close()


@pytest.fixture
def source_metastore(sandbox: Sandbox) -> Iterator[ThriftSource]:
    """Return the metastore of east as users of a source call it."""
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    yield metastore
    metastore.close()


@pytest.fixture(scope="session")
def airflow(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningAirflow]:
    """Return the one Airflow of the session; tests add policies to it."""
    # One that TWINHIVE_KEEP left running has another configuration.
    sandbox.stop("airflow")
    running = RunningAirflow(sandbox, tmp_path_factory.mktemp("airflow") / "config")
    running.start()
    yield running
    if not os.environ.get("TWINHIVE_KEEP"):
        sandbox.stop("airflow")


@pytest.fixture(scope="session")
def east_spark(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSql]:
    """Return users of east with one Spark session, for all tests that need no settings from its start on."""
    with spark_sql("east", tmp_path_factory.mktemp("spark") / "log", {}) as session:
        yield session


@pytest.fixture
def policies(sandbox: Sandbox, tmp_path: Path) -> PolicyFiles:
    """Return a configuration directory of the test's own."""
    return PolicyFiles(tmp_path / "config")


@pytest.fixture
def log() -> list[str]:
    """Collect what steps report."""
    return []


@pytest.fixture
def report(log: list[str]) -> Callable[[str], None]:
    return log.append
