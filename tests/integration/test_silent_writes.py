"""Spark writes in every way it knows, with and without a word to the metastore; log and scan together follow."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.twin import assert_equal_twin
from twinhive.scan.scan import Scan, Scanned
from twinhive.step.base import Work

pytestmark = pytest.mark.sandbox

PROGRAM = Path(__file__).with_name("spark_sql.py")
ROOT = Path(__file__).parents[2]
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


def spark(statements: list[str], **settings: str) -> None:
    """Run statements on the east cluster."""
    command = [sys.executable, str(PROGRAM), "east", *(f"{key}={value}" for key, value in settings.items())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins")])}
    done = subprocess.run(
        command, input="\n;\n".join(statements), text=True, capture_output=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]


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


@pytest.mark.parametrize("settings", [{}, EVENTS], ids=["as Spark is", "with dml.events"])
def test_spark_writes_of_every_kind_reach_the_twin(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, log, report, settings: dict[str, str]
) -> None:
    database = east.create_database("sparked")
    spark(creations(database), **DYNAMIC, **settings)
    policy = policies.add(database)
    policies.run(policy)
    assert_equal_twin(east, database, west)
    scan(policies, policy, report)

    # With events once is enough: Spark takes its time to start.
    for statements in [writes(database), more_writes(database)][: 1 if settings else 2]:
        spark(statements, **DYNAMIC, **settings)
        follow_all(policies, policy, report)
        scanned = scan(policies, policy, report)
        assert scanned.waiting == (), log
        assert_equal_twin(east, database, west)
    if not settings:
        assert any("changed without an event, brought over" in line for line in log)
    assert scan(policies, policy, report).suspects == 0
