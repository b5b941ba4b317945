"""Spark writes in every way it knows, with and without a word to the metastore; log and scan together follow."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.spark_sql import SparkSql, spark_sql
from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.core.step.step_base import Work
from twinhive.replication.scan.scan import Scan, Scanned

pytestmark = [pytest.mark.sandbox, pytest.mark.spark]

KINDS = {"parquet": "STORED AS PARQUET", "orc": "STORED AS ORC", "text": "STORED AS TEXTFILE", "own": "USING PARQUET"}
DYNAMIC = {
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
}
EVENTS = {
    "spark.hadoop.hive.metastore.dml.events": "true",
    "spark.sql.hive.convertMetastoreParquet": "false",
    "spark.sql.hive.convertMetastoreOrc": "false",
}


def creations(database: str) -> list[str]:
    statements = []
    for name, kind in KINDS.items():
        key = "day INT" if name != "own" else None
        statements += [
            f"CREATE TABLE {database}.plain_{name} (a INT) {kind}",
            f"INSERT INTO {database}.plain_{name} VALUES (1), (2)",
            f"CREATE TABLE {database}.parts_{name} (a INT{', day INT' if key is None else ''}) {kind} "
            f"PARTITIONED BY ({'day' if key is None else key})",
            f"INSERT INTO {database}.parts_{name} PARTITION (day) VALUES (1, 1), (2, 2), (3, 3)",
        ]
    return statements


def writes(database: str) -> list[str]:
    statements = []
    for name in KINDS:
        statements += [
            f"INSERT INTO {database}.plain_{name} VALUES (3)",
            f"INSERT INTO {database}.parts_{name} PARTITION (day) VALUES (4, 1), (5, 9)",
            f"INSERT OVERWRITE TABLE {database}.parts_{name} PARTITION (day) VALUES (6, 2), (7, 8)",
            f"CREATE TABLE {database}.ctas_{name} {KINDS[name]} AS SELECT * FROM {database}.plain_{name}",
        ]
    return statements


def more_writes(database: str) -> list[str]:
    statements = [f"INSERT OVERWRITE TABLE {database}.plain_{name} VALUES (10)" for name in KINDS]
    return [*statements, f"TRUNCATE TABLE {database}.parts_parquet", f"TRUNCATE TABLE {database}.ctas_orc"]


def scan(policies: PolicyFiles, policy: str, report) -> Scanned:
    wiring = policies.wiring(policy)
    return Scan(Work(wiring.policy, holder={"run": "scan"}, report=report), wait=lambda seconds: None).run(
        wiring.write_ports()
    )


def follow_all(policies: PolicyFiles, policy: str, report) -> None:
    while not policies.follow(policy, report)["window"].idle:
        pass


@dataclass
class WrittenBySpark:
    """A policy over what Spark writes."""

    east: Warehouse
    west: Warehouse
    policies: PolicyFiles
    log: list[str]

    def assert_all_arrives(self, spark: SparkSql) -> None:
        """Let Spark write in all ways; each time the replica is equal in the end."""
        database, report = self.east.create_database("sparked"), self.log.append
        spark.run(creations(database))
        policy = self.policies.add(database)
        self.policies.run(policy)
        assert_equal_twin(self.east, database, self.west)
        scan(self.policies, policy, report)

        for statements in (writes(database), more_writes(database)):
            spark.run(statements)
            follow_all(self.policies, policy, report)
            scanned = scan(self.policies, policy, report)
            assert scanned.waiting == (), self.log
            assert_equal_twin(self.east, database, self.west)
        assert scan(self.policies, policy, report).suspects == 0


@pytest.fixture
def followed_spark(east: Warehouse, west: Warehouse, policies: PolicyFiles, log: list[str]) -> WrittenBySpark:
    return WrittenBySpark(east, west, policies, log)


@pytest.mark.thorough
def test_spark_writes_of_every_kind_reach_the_twin(followed_spark: WrittenBySpark, east_spark: SparkSql) -> None:
    east_spark.run(f"SET {key.removeprefix('spark.hadoop.')}={value}" for key, value in DYNAMIC.items())
    try:
        followed_spark.assert_all_arrives(east_spark)
    finally:
        east_spark.run(["RESET"])
    assert any("changed without an event, brought over" in line for line in followed_spark.log)


@pytest.mark.nightly(
    "tests/integration/phases/test_silent_writes.py::test_spark_writes_of_every_kind_reach_the_twin",
    "tests/integration/phases/test_incremental.py::test_every_kind_of_change_reaches_the_twin",
)
def test_spark_writes_with_events_of_every_kind_reach_the_twin(followed_spark: WrittenBySpark, tmp_path: Path) -> None:
    with spark_sql("east", tmp_path / "spark.log", {**DYNAMIC, **EVENTS}) as spark:
        followed_spark.assert_all_arrives(spark)
