"""Tables of Spark's own formats between real clusters: Spark reads the same rows on both sides, each its own files."""

import time
from pathlib import Path
from typing import Any

import pytest
from hive_metastore.ttypes import GetTableRequest

from benchmarks.copy.calls import namenode_calls
from sandbox import Sandbox
from tests.integration.spark_sql import SparkSql, spark_sql
from tests.support.policies import PolicyFiles
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.external_comparison import assert_equal_files
from twinhive.core.model.files import join
from twinhive.core.model.names import TableName
from twinhive.core.model.table_formats import PROVIDER
from twinhive.core.model.thrift_objects import named_locations
from twinhive.core.step.step_base import Work
from twinhive.replication.scan.scan import Scan
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.replication.verify.verify import Verify

pytestmark = [pytest.mark.sandbox, pytest.mark.spark, pytest.mark.thorough]

READ = ("csv_ext", "json_part", "csv_man", "csv_man_part", "parquet_man")


class SparkTables:
    """A database that Spark fills, and a policy that follows it."""

    def __init__(self, policies: PolicyFiles, east: Warehouse, metastore: ThriftSource, log: list[str]) -> None:
        self.policies, self.east, self.metastore, self.log = policies, east, metastore, log
        self.database = east.create_database("formats")
        self.root = f"hdfs://east/data/{self.database}"
        self.policy = policies.add(
            self.database,
            external_tables={"base_directory": f"hdfs://west/ext/{self.database}"},
            options={"second_look_seconds": 0},
        )

    def creations(self) -> list[str]:
        """Return statements that make one table of each format, with rows."""
        name, root = self.database, self.root
        tables = {
            "csv_ext": f"(a INT) USING csv LOCATION '{root}/csv'",
            "json_part": f"(a INT, p INT) USING json PARTITIONED BY (p) LOCATION '{root}/json'",
            "csv_man": "(a INT) USING csv",
            "csv_man_part": "(a INT, p INT) USING csv PARTITIONED BY (p)",
            "parquet_man": "(a INT) USING parquet",
            "delta_ext": f"(a INT) USING parquet LOCATION '{root}/delta'",
            "delta_man": "(a INT) USING parquet",
        }
        return [
            text
            for table, said in tables.items()
            for text in (
                f"CREATE TABLE {name}.{table} {said}",
                f"INSERT INTO {name}.{table} VALUES {'(1, 1), (2, 2)' if 'p INT' in said else '(1), (2)'}",
            )
        ]

    def make_delta(self, table: str) -> None:
        """Let a table be one of Delta's: its log names the files that are there."""
        found = self.table(table)
        files = [one.path for _, page in self.east.files.list_pages([found.location]) for one in page or ()]
        log = join(found.location or "", "_delta_log", f"{0:020d}.json")
        self.east.files.make_directories(join(found.location or "", "_delta_log"))
        self.east.files.write(log, "\n".join(path.rpartition("/")[2] for path in files).encode())
        said = {**found.parameters, PROVIDER: "delta"}
        self.metastore.alter_table(found.name, found.with_parameters(said))

    def table(self, table: str):
        return self.metastore.table(TableName(self.database, table))

    def twin(self, table: str):
        return self.policies.wiring(self.policy).write_ports().replica.table(TableName(self.database, table))

    def bring_all(self) -> None:
        """Follow, copy what lies outside, publish it, and bring what came without an event."""
        wiring = self.policies.wiring(self.policy)
        self.follow()
        self.policies.copy_external(self.policy, self.log.append)
        self.follow()
        scan = Scan(Work(wiring.policy, holder={"run": "scan"}, report=self.log.append), wait=lambda seconds: None)
        assert scan.run(wiring.write_ports()).waiting == ()

    def follow(self) -> None:
        while not self.policies.follow(self.policy, self.log.append)["window"].idle:
            pass

    def verify(self) -> Verified:
        wiring = self.policies.wiring(self.policy)
        work = Work(wiring.policy, holder={"run": "verify"}, report=self.log.append)
        return Verify(work, clock=time.time, wait=lambda seconds: self.follow()).run(wiring.write_ports())

    def rows(self, spark: SparkSql, *tables: str) -> list[Any]:
        """Return what Spark reads, and of which files."""
        answers = spark.ask(
            *(f"SELECT *, input_file_name() FROM {self.database}.{table} ORDER BY a" for table in tables)
        )
        assert not [answer for answer in answers if isinstance(answer, str)], answers
        return answers


@pytest.fixture
def formats(policies: PolicyFiles, east: Warehouse, source_metastore: ThriftSource, log: list[str]) -> SparkTables:
    return SparkTables(policies, east, source_metastore, log)


def assert_read_alike(formats: SparkTables, sandbox: Sandbox, spark: SparkSql, twin: SparkSql, *tables: str) -> None:
    """Assert that both Sparks read the same rows, the one of the replica without opening a file of the source."""
    ours = formats.rows(spark, *tables)
    before = namenode_calls(sandbox, "east")["GetBlockLocations"]
    theirs = formats.rows(twin, *tables)
    assert namenode_calls(sandbox, "east")["GetBlockLocations"] == before
    assert [[row[:-1] for row in rows] for rows in ours] == [[row[:-1] for row in rows] for rows in theirs]
    assert all(rows for rows in ours)
    assert {row[-1].split("/")[2] for rows in theirs for row in rows} == {"west"}


def test_rows_are_copied_from_where_spark_reads_them(
    formats: SparkTables, sandbox: Sandbox, east_spark: SparkSql, west: Warehouse, tmp_path: Path
) -> None:
    database = formats.database
    east_spark.run(formats.creations())
    formats.make_delta("delta_ext")
    formats.make_delta("delta_man")
    result = formats.policies.run(formats.policy, report=formats.log.append)
    assert result
    with spark_sql("west", tmp_path / "west.log", {}) as west_spark:
        assert_read_alike(formats, sandbox, east_spark, west_spark, *READ)
        for table in ("csv_ext", "json_part"):
            twin, source = formats.twin(table), formats.table(table)
            assert named_locations(source)[0].endswith("-__PLACEHOLDER__")
            assert named_locations(twin) == (twin.location, twin.location)
            assert twin.location == f"hdfs://west/ext/{database}{source.location.removeprefix('hdfs://east')}"

        ports, external = formats.policies.wiring(formats.policy).write_ports(), formats.table("delta_ext")
        assert formats.twin("delta_ext") is not None
        assert_equal_files(ports, external.location, formats.twin("delta_ext").location)
        assert formats.twin("delta_man") is None
        assert any(f"{database}.delta_man" in line and "Delta" in line for line in formats.log), formats.log
        assert formats.verify().findings == ()

        east_spark.run(
            [
                f"INSERT INTO {database}.csv_ext VALUES (3)",
                f"INSERT INTO {database}.csv_man VALUES (3)",
                f"INSERT INTO {database}.json_part VALUES (3, 3)",
                f"INSERT INTO {database}.csv_man_part VALUES (3, 3)",
                f"CREATE TABLE {database}.text_late (a STRING) USING text LOCATION '{formats.root}/late'",
                f"INSERT INTO {database}.text_late VALUES ('x')",
                f"ALTER TABLE {database}.csv_ext SET TBLPROPERTIES ('note'='x')",
            ]
        )
        formats.bring_all()
        tables = ("csv_ext", "json_part", "csv_man", "csv_man_part", "parquet_man", "text_late")
        west_spark.run(f"REFRESH TABLE {database}.{table}" for table in tables)
        assert_read_alike(formats, sandbox, east_spark, west_spark, *tables)
        assert formats.verify().findings == ()

        east_spark.run([f"ALTER TABLE {database}.csv_ext SET LOCATION '{formats.root}/late'"])
        formats.bring_all()
        west_spark.run([f"REFRESH TABLE {database}.csv_ext"])
        assert formats.twin("csv_ext").location.endswith("/late")

    there = west.client.get_table_req(GetTableRequest(dbName=database, tblName="json_part")).table
    there.sd.serdeInfo.parameters["path"] = formats.table("json_part").location
    west.client.alter_table(database, "json_part", there)
    formats.verify()
    found = formats.verify()
    assert "json_part" in str(found.findings)
    assert "location" in str(found.findings)
