"""North's port of the gateway on real servers: Spark of north reads copies on north's HDFS, and writes only its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hive_metastore import ttypes

from sandbox import Sandbox
from sandbox.gateway import running_gateway
from sandbox.ports import free_ports
from sandbox.spark import spark_conf, spark_submit_environment
from tests.integration.test_copies import north  # noqa: F401
from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from tests.support.wire_metastore import client_of
from tests.support.worlds.copies_world import contents
from twinhive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.pipeline.phases import COPIES
from twinhive.pipeline.runner import run_phase

pytestmark = pytest.mark.sandbox
ROOT = Path(__file__).parents[2]
DAYS = ("2026-01-01", "2026-01-02")


class Ports:
    """A database of east with a placement on north, and a gateway with a port for north."""

    def __init__(self, policies: PolicyFiles, east: Warehouse, own: int, of_north: int) -> None:
        self.policies, self.east, self.own, self.of_north = policies, east, own, of_north
        self.database = east.create_database("trade")
        kind = {"kind": "EXTERNAL_TABLE"}
        east.create_table(self.database, "orders", files={"f": b"x,1\ny,2\n"}, **kind)
        self.days = east.create_table(self.database, "days", keys=("day",), **kind)
        for day in DAYS:
            east.add_partition(self.days, day, files={"f": f"{day},7\n".encode()})
        east.create_table(self.database, "left_out", files={"f": b"z,3\n"}, **kind)
        self.name = f"near_{self.database}"
        clusters = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
        connections = {"file_system": {"connection": "north_hdfs"}, "job_tracker": {"connection": "north_spark"}}
        clusters["clusters"]["north"] = {"metastore": {"of": "east"}, **connections, "gateway": {"port": of_north}}
        policies.write("clusters.yaml", clusters)
        (policies.directory / "placements").mkdir()
        tables = {"exclude": ["left_out"]}
        placement = {"placement": self.name, "database": self.database, "cluster": "north", "tables": tables}
        policies.write("placements/near.yaml", {**placement, "options": {"copy_threads": 4}})

    def settle(self) -> None:
        wiring = self.policies.wiring(self.name)
        ports = wiring.write_ports()
        while not run_phase(COPIES, wiring.policy, ports, {"run": "test"}, lambda line: None)["list_copies"].idle:
            pass


@pytest.fixture
def ports(
    sandbox: Sandbox,
    policies: PolicyFiles,
    east: Warehouse,
    north: HadoopFiles,  # noqa: F811
) -> Iterator[Ports]:
    made = Ports(policies, east, *free_ports(2))
    with running_gateway(policies.directory, made.own, others=(made.of_north,)):
        yield made
    east.client.drop_database(made.database, False, True)


_SPARK = """
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").appName("ports")
for key, value in json.loads(sys.argv[1]).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
said = []
for text in json.loads(sys.argv[2]):
    try:
        said.append([list(row) for row in spark.sql(text).collect()])
    except Exception as error:
        said.append(str(error))
print(json.dumps(said))
"""


def _spark(sandbox: Sandbox, cluster: str, port: int, *statements: str, user: str | None = None) -> Any:
    """Run statements with Spark of one cluster, which knows no other file system; an error is its text."""
    chosen = sandbox.north if cluster == "north" else sandbox.clusters[cluster]
    uri = f"thrift://127.0.0.1:{port}"
    conf = {**spark_conf(chosen), "spark.hadoop.hive.metastore.uris": uri, "spark.hadoop.metastore.thrift.uris": uri}
    command = [sys.executable, "-c", _SPARK, json.dumps(conf), json.dumps(statements)]
    environment = {**os.environ, **spark_submit_environment(chosen)}
    if user is not None:
        environment["HADOOP_USER_NAME"] = user
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def _asked(database: str, table: str) -> ttypes.GetTableRequest:
    return ttypes.GetTableRequest(dbName=database, tblName=table)


ABSENT = "absent-on-north.run-on-east-or-see-twinhive-copies"


def test_spark_of_north_reads_copies_and_is_told_where_the_rest_is(ports: Ports, sandbox: Sandbox) -> None:
    named = ports.database
    made = _spark(
        sandbox,
        "east",
        ports.own,
        f"CREATE TABLE {named}.fast (a STRING, day STRING) USING parquet PARTITIONED BY (day)",
        f"INSERT INTO {named}.fast VALUES ('p', '1'), ('q', '2')",
        f"CREATE TABLE {named}.whole USING parquet LOCATION 'hdfs://east/outside/whole_{named}' AS SELECT 'w' AS a",
    )
    assert made == [[], [], []], made
    ports.settle()
    orders, days, pruned, joined, fast, whole, left_out, described = _spark(
        sandbox,
        "north",
        ports.of_north,
        f"SELECT a, b FROM {named}.orders ORDER BY a",
        f"SELECT a, day FROM {named}.days ORDER BY day",
        f"SELECT count(*) FROM {named}.days WHERE day > '{DAYS[0]}'",
        f"SELECT o.a FROM {named}.orders o CROSS JOIN {named}.days d WHERE d.day = '{DAYS[0]}' ORDER BY o.a",
        f"SELECT a, day FROM {named}.fast ORDER BY a",
        f"SELECT a FROM {named}.whole",
        f"SELECT * FROM {named}.left_out",
        f"DESCRIBE {named}.left_out",
    )
    assert orders == [["x", 1], ["y", 2]]
    assert days == [[day, day] for day in DAYS]
    assert pruned == [[1]]
    assert joined == [["x"], ["y"]]
    assert fast == [["p", "1"], ["q", "2"]]
    assert whole == [["w"]]
    assert ABSENT in left_out, left_out
    assert ["a", "string", None] in described


def test_a_stale_copy_is_not_read_and_a_new_one_is(ports: Ports, sandbox: Sandbox, east: Warehouse) -> None:
    ports.settle()
    with client_of(ports.of_north) as client:
        before = client.get_table_req(_asked(ports.database, "orders")).table.sd.location
        assert before.startswith("hdfs://north/twinhive/copies/")
        place = client_location(ports.own, ports.database, "orders")
        assert place.startswith("hdfs://east/")
        east.files.write(f"{place}/late", b"late,3\n")
        assert client.get_table_req(_asked(ports.database, "orders")).table.sd.location.startswith(ABSENT)
        ports.settle()
        after = client.get_table_req(_asked(ports.database, "orders")).table.sd.location
        assert after.startswith("hdfs://north/twinhive/copies/")
        assert after != before
    [[count]], *_ = _spark(sandbox, "north", ports.of_north, f"SELECT count(*) FROM {ports.database}.orders")
    assert count == 3


def client_location(port: int, database: str, table: str) -> str:
    with client_of(port) as client:
        return str(client.get_table_req(_asked(database, table)).table.sd.location)


def test_spark_of_north_writes_its_own_tables_and_no_copy(
    ports: Ports,
    sandbox: Sandbox,
    north: HadoopFiles,  # noqa: F811
) -> None:
    named, root = ports.database, f"hdfs://north/warehouse/{ports.database}"
    ports.settle()
    copy = client_location(ports.of_north, named, "orders")
    files = contents(north, copy)
    with client_of(ports.own) as client:
        database = client.get_database(named)
        database.parameters = {**(database.parameters or {}), "twinhive.root.north": root}
        client.alter_database(named, database)
    made = _spark(
        sandbox,
        "north",
        ports.of_north,
        f"CREATE TABLE {named}.mine USING parquet AS SELECT a, b FROM {named}.orders",
        f"INSERT INTO {named}.mine VALUES ('n', 5)",
        f"SELECT count(*) FROM {named}.mine",
        f"ALTER TABLE {named}.orders SET TBLPROPERTIES ('x' = 'y')",
        f"DROP TABLE {named}.orders",
    )
    assert made[:3] == [[], [], [[3]]], made
    for refused in made[3:]:
        assert f"{named}.orders belongs to cluster east" in refused, refused
    written, read = _spark(
        sandbox,
        "north",
        ports.of_north,
        f"INSERT INTO {named}.orders VALUES ('n', 5)",
        f"SELECT count(*) FROM {named}.orders",
        user="analyst",
    )
    assert "Permission denied" in written, written
    assert read == [[2]]
    assert contents(north, copy) == files
    with client_of(ports.own) as client:
        mine = client.get_table_req(_asked(named, "mine")).table
        assert mine.sd.location == f"{root}/mine"
        assert mine.parameters["twinhive.cluster"] == "north"
        client.drop_table(named, "mine", True)
