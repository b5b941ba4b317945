"""North's port of the gateway on real servers: Spark of north reads copies on north's HDFS, and writes only its own."""

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from hive_metastore import ttypes

from sandbox import Sandbox
from sandbox.gateway import running_gateway
from sandbox.ports import free_ports
from tests.integration.airflow_fixtures import until
from tests.integration.spark_sql import SparkSql, spark_sql, through_gateway
from tests.support.policies import PolicyFiles
from tests.support.seeds import seeds
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.wire.wire_metastore import client_of
from tests.support.worlds.copies_world import contents
from tests.support.worlds.copy_loop import copy_in_processes
from tests.support.worlds.fake_world import KillSwitch, killable
from tests.support.worlds.read_copies import DAYS as PARTITIONS
from tests.support.worlds.read_copies import (
    PLAIN,
    Answers,
    Primary,
    Querier,
    Reader,
    copy_while,
    query_while,
    read_while,
)
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import Attributes
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.runtime.pipeline.phases import COPIES
from twinhive.runtime.pipeline.runner import run_phase

pytestmark = [pytest.mark.sandbox, pytest.mark.spark]
ROOT = Path(__file__).parents[3]
HISTORIES = int(os.environ.get("TWINHIVE_HISTORIES") or 1)
DAYS = ("2026-01-01", "2026-01-02")


class Gates:
    """A gateway with ports for east and north, and Spark that asks it."""

    def __init__(self, policies: PolicyFiles, logs: Path, own: int, of_north: int) -> None:
        self.policies, self._logs, self.own, self.of_north = policies, logs, own, of_north
        clusters = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
        connections = {"file_system": {"connection": "north_hdfs"}, "job_tracker": {"connection": "north_spark"}}
        clusters["clusters"]["north"] = {"metastore": {"of": "east"}, **connections, "gateway": {"port": of_north}}
        policies.write("clusters.yaml", clusters)
        (policies.directory / "placements").mkdir()
        self._session: SparkSql | None = None
        self.open = ExitStack()

    def spark(self, *statements: str) -> list[Any]:
        """Run statements with Spark of north, which knows no other file system."""
        if self._session is None:
            opened = spark_sql("north", self._logs / "spark.log", through_gateway(self.of_north))
            self._session = self.open.enter_context(opened)
        return self._session.ask(*statements)

    def place(self, database: str, tables: dict[str, list[str]] | None = None, **options: int) -> str:
        """Keep copies of a database on north; return the placement's name."""
        name = f"near_{database}"
        placement = {"placement": name, "database": database, "cluster": "north", "tables": tables or {}}
        self.policies.write(f"placements/{name}.yaml", {**placement, "options": {"copy_threads": 4, **options}})
        return name

    def settle_as(self, user: str, database: str, north: HadoopFiles) -> None:
        """Bring copies up to date that belong to a user who is no superuser, as the sandbox's own one is."""
        home = f"/home/{user}"
        north.make_directories(f"{north.root}{home}")
        north.set_attributes(f"{north.root}{home}", Attributes(owner=user))
        name = f"near_{database}"
        placement = {"placement": name, "database": database, "cluster": "north", "tables": {"exclude": ["left_out"]}}
        roots = {"root": f"{home}/copies", "staging_root": f"{home}/staging"}
        self.policies.write(f"placements/{name}.yaml", {**placement, **roots})
        clusters = (self.policies.directory / "clusters.yaml").read_text()
        theirs = yaml.safe_load(clusters)
        theirs["clusters"]["north"]["file_system"]["user"] = user
        self.policies.write("clusters.yaml", theirs)
        self.settle(name)
        self.policies.write("clusters.yaml", yaml.safe_load(clusters))

    def copy(self, placement: str, switch: KillSwitch | None = None) -> dict[str, Any]:
        """Bring the copies up to date, once."""
        wiring = self.policies.wiring(placement)
        ports = wiring.write_ports()
        chosen = killable(ports, switch) if switch else ports
        return run_phase(COPIES, wiring.policy, chosen, {"run": "test"}, lambda line: None)

    def settle(self, placement: str) -> None:
        """Bring them up to date until nothing is left to do."""
        while not self.copy(placement)["list_copies"].idle:
            pass


class Ports:
    """A database of east with a placement on north."""

    def __init__(self, gates: Gates, east: Warehouse) -> None:
        self.policies, self.own, self.of_north, self.spark = gates.policies, gates.own, gates.of_north, gates.spark
        self.database = east.create_database("trade")
        kind = {"kind": "EXTERNAL_TABLE"}
        east.create_table(self.database, "orders", files={"f": b"x,1\ny,2\n"}, **kind)
        self.days = east.create_table(self.database, "days", keys=("day",), **kind)
        for day in DAYS:
            east.add_partition(self.days, day, files={"f": f"{day},7\n".encode()})
        east.create_table(self.database, "left_out", files={"f": b"z,3\n"}, **kind)
        self.settle = partial(gates.settle, gates.place(self.database, tables={"exclude": ["left_out"]}))


@pytest.fixture(scope="module")
def gates(sandbox: Sandbox, north: HadoopFiles, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gates]:
    directory = tmp_path_factory.mktemp("ports")
    made = Gates(PolicyFiles(directory / "config"), directory, *free_ports(2))
    with made.open, running_gateway(made.policies.directory, made.own, others=(made.of_north,)):
        yield made


@pytest.fixture
def ports(gates: Gates, east: Warehouse) -> Iterator[Ports]:
    made = Ports(gates, east)
    yield made
    east.client.drop_database(made.database, False, True)


def _asked(database: str, table: str) -> ttypes.GetTableRequest:
    return ttypes.GetTableRequest(dbName=database, tblName=table)


ABSENT = "absent-on-north.run-on-east-or-see-twinhive-copies"


@pytest.mark.nightly(
    "tests/integration/one_metastore/test_cluster_ports.py::test_spark_of_north_writes_its_own_tables_and_no_copy",
    "tests/integration/one_metastore/test_cluster_ports.py::test_a_stale_copy_is_not_read_and_a_new_one_is",
)
def test_spark_of_north_reads_copies_and_is_told_where_the_rest_is(ports: Ports, east_spark: SparkSql) -> None:
    named = ports.database
    made = east_spark.ask(
        f"CREATE TABLE {named}.fast (a STRING, day STRING) USING parquet PARTITIONED BY (day)",
        f"INSERT INTO {named}.fast VALUES ('p', '1'), ('q', '2')",
        f"CREATE TABLE {named}.whole USING parquet LOCATION 'hdfs://east/outside/whole_{named}' AS SELECT 'w' AS a",
    )
    assert made == [[], [], []], made
    ports.settle()
    orders, days, pruned, joined, fast, whole, left_out, described = ports.spark(
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


@pytest.mark.thorough
def test_a_stale_copy_is_not_read_and_a_new_one_is(ports: Ports, east: Warehouse) -> None:
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
    [[count]], *_ = ports.spark(f"SELECT count(*) FROM {ports.database}.orders")
    assert count == 3


def client_location(port: int, database: str, table: str) -> str:
    with client_of(port) as client:
        return str(client.get_table_req(_asked(database, table)).table.sd.location)


@pytest.mark.thorough
def test_spark_of_north_writes_its_own_tables_and_no_copy(
    ports: Ports,
    north: HadoopFiles,
    sandbox: Sandbox,
) -> None:
    named, root = ports.database, f"hdfs://north/warehouse/{ports.database}"
    ports.settle()
    copy = client_location(ports.of_north, named, "orders")
    files = contents(north, copy)
    with client_of(ports.own) as client:
        database = client.get_database(named)
        database.parameters = {**(database.parameters or {}), "twinhive.root.north": root}
        client.alter_database(named, database)
    made = ports.spark(
        f"CREATE TABLE {named}.mine USING parquet AS SELECT a, b FROM {named}.orders",
        f"INSERT INTO {named}.mine VALUES ('n', 5)",
        f"SELECT count(*) FROM {named}.mine",
        f"ALTER TABLE {named}.orders SET TBLPROPERTIES ('x' = 'y')",
        f"DROP TABLE {named}.orders",
    )
    assert made[:3] == [[], [], [[3]]], made
    for refused in made[3:]:
        assert f"{named}.orders belongs to cluster east" in refused, refused
    # Whom HDFS refuses, Spark cannot help: the copy belongs to us, and others may only read it.
    analyst = HadoopFiles(north.root, sandbox.north.hadoop_properties, "analyst")
    with pytest.raises(ActNow, match="Permission denied"):
        analyst.write(f"{copy}/written", b"n,5\n")
    assert contents(analyst, copy) == files
    analyst.close()
    assert contents(north, copy) == files
    with client_of(ports.own) as client:
        mine = client.get_table_req(_asked(named, "mine")).table
        assert mine.sd.location == f"{root}/mine"
        assert mine.parameters["twinhive.cluster"] == "north"
        client.drop_table(named, "mine", True)


COPIES_OF_COPIER = "hdfs://north/home/copier/copies"
WRITES = (
    "INSERT INTO {0}.orders VALUES ('n', 5)",
    "INSERT OVERWRITE TABLE {0}.orders SELECT 'n', 5",
    "INSERT INTO {0}.stock VALUES ('n', 5)",
    "INSERT OVERWRITE TABLE {0}.stock SELECT 'n', 5",
    "INSERT INTO {0}.own VALUES ('n')",
    "INSERT OVERWRITE TABLE {0}.own VALUES ('n')",
    "INSERT INTO {0}.fast VALUES ('n', '1')",
    "INSERT INTO {0}.fast PARTITION (day = '1') VALUES ('n')",
    "INSERT OVERWRITE TABLE {0}.fast PARTITION (day = '1') VALUES ('n')",
    "INSERT OVERWRITE TABLE {0}.fast VALUES ('n', '9')",
    f"INSERT INTO {{0}}.days PARTITION (day = '{DAYS[0]}') VALUES ('n', 5)",
    f"INSERT OVERWRITE TABLE {{0}}.days PARTITION (day = '{DAYS[0]}') VALUES ('n', 5)",
    "INSERT INTO {0}.days PARTITION (day = '2026-02-02') VALUES ('n', 5)",
    f"INSERT INTO {{0}}.days VALUES ('n', 5, '{DAYS[0]}')",
    "LOAD DATA INPATH 'hdfs://north/tmp/{0}/loaded' INTO TABLE {0}.orders",
    "LOAD DATA INPATH 'hdfs://north/tmp/{0}/loaded' OVERWRITE INTO TABLE {0}.stock",
    f"LOAD DATA INPATH 'hdfs://north/tmp/{{0}}/loaded' INTO TABLE {{0}}.days PARTITION (day = '{DAYS[0]}')",
    "TRUNCATE TABLE {0}.orders",
    "TRUNCATE TABLE {0}.stock",
    "TRUNCATE TABLE {0}.own",
    "TRUNCATE TABLE {0}.fast PARTITION (day = '1')",
    "ALTER TABLE {0}.days ADD PARTITION (day = '2026-02-02')",
    f"ALTER TABLE {{0}}.days DROP PARTITION (day = '{DAYS[0]}')",
    f"ALTER TABLE {{0}}.days PARTITION (day = '{DAYS[0]}') RENAME TO PARTITION (day = '2026-02-02')",
    f"ALTER TABLE {{0}}.days PARTITION (day = '{DAYS[0]}') SET LOCATION 'hdfs://north/tmp/{{0}}'",
    "ALTER TABLE {0}.orders SET LOCATION 'hdfs://north/tmp/{0}'",
    "ALTER TABLE {0}.orders ADD COLUMNS (c STRING)",
    "ALTER TABLE {0}.orders RENAME TO {0}.others",
    "ALTER TABLE {0}.orders SET TBLPROPERTIES ('x' = 'y')",
    "ANALYZE TABLE {0}.orders COMPUTE STATISTICS",
    "ANALYZE TABLE {0}.fast PARTITION (day = '1') COMPUTE STATISTICS",
    "DROP TABLE {0}.orders",
    "DROP TABLE {0}.stock PURGE",
    "DROP TABLE {0}.own",
)
"""What Spark can say that writes a table, of each kind of table that has a copy."""


@pytest.mark.thorough
@pytest.mark.parametrize("user", ["copier", "analyst"], ids=["the owner of the copies", "another user"])
def test_no_statement_that_writes_ends_well_in_a_copy(
    gates: Gates, ports: Ports, east: Warehouse, north: HadoopFiles, east_spark: SparkSql, tmp_path: Path, user: str
) -> None:
    named = ports.database
    east.create_table(named, "stock", files={"f": b"x,1\n"})
    made = east_spark.ask(
        f"CREATE TABLE {named}.fast (a STRING, day STRING) USING parquet PARTITIONED BY (day)",
        f"INSERT INTO {named}.fast VALUES ('p', '1'), ('q', '2')",
        f"CREATE TABLE {named}.own USING parquet LOCATION 'hdfs://east/outside/own_{named}' AS SELECT 'w' AS a",
    )
    assert made == [[], [], []], made
    gates.settle_as("copier", named, north)
    tables = ("orders", "days", "stock", "fast", "own")
    copies = contents(north, COPIES_OF_COPIER)
    primaries = {table: contents(east.files, client_location(ports.own, named, table)) for table in tables}
    north.write(f"hdfs://north/tmp/{named}/loaded", b"n,5\n")
    north.set_permission(f"hdfs://north/tmp/{named}", 0o777)
    settings = {**through_gateway(ports.of_north), "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict"}
    with spark_sql("north", tmp_path / "spark.log", settings, user) as session:
        for statement in WRITES:
            said = statement.format(named)
            (answer,) = session.ask(said)
            assert isinstance(answer, str), said
            assert contents(north, COPIES_OF_COPIER) == copies, said
        rows = session.ask(*(f"SELECT count(*) FROM {named}.{table}" for table in tables))
    assert rows == [[[2]], [[2]], [[1]], [[2]], [[1]]]
    assert {table: contents(east.files, client_location(ports.own, named, table)) for table in tables} == primaries


@pytest.mark.nightly(
    "tests/unit/federation/cluster_view/test_no_place_goes_astray.py::test_no_request_brings_a_place_of_another_cluster_or_of_a_copy",
    "tests/unit/federation/cluster_view/test_ports.py::test_what_belongs_elsewhere_is_only_read",
)
def test_iceberg_and_transactional_tables_are_absent_there_and_a_change_is_refused_in_one_line(
    ports: Ports, east: Warehouse
) -> None:
    place = f"hdfs://east/warehouse/{ports.database}"
    iceberg = {"table_type": "ICEBERG", "metadata_location": f"{place}/ice/metadata/1.json"}
    east.create_table(ports.database, "ice", location=f"{place}/ice", kind="EXTERNAL_TABLE", parameters=iceberg)
    insert_only = {"transactional": "true", "transactional_properties": "insert_only"}
    east.create_table(ports.database, "acid", location=f"{place}/acid", parameters=insert_only)
    ports.settle()
    with client_of(ports.of_north) as client:
        for name in ("ice", "acid"):
            asked = _asked(ports.database, name)
            asked.capabilities = ttypes.ClientCapabilities([ttypes.ClientCapability.INSERT_ONLY_TABLES])
            table = client.get_table_req(asked).table
            assert table.sd.location.startswith(ABSENT)
            assert not [key for key in table.parameters if key.startswith("twinhive.")]
            with pytest.raises(ttypes.MetaException) as refused:
                client.alter_table(ports.database, name, table)
            said = str(refused.value.message)
            assert f"{ports.database}.{name} belongs to cluster east" in said and "\n" not in said
        assert (
            client.get_table_req(_asked(ports.database, "ice")).table.parameters["metadata_location"].startswith(ABSENT)
        )
        # A commit of Iceberg's own client: the place of new metadata on another cluster goes nowhere.
        made = ttypes.Table(
            dbName=ports.database,
            tableName="made",
            tableType="EXTERNAL_TABLE",
            parameters={"EXTERNAL": "TRUE", **iceberg},
            partitionKeys=[],
            sd=ttypes.StorageDescriptor(cols=[], location=f"hdfs://north/{ports.database}/made"),
        )
        with pytest.raises(ttypes.MetaException, match="name a place below hdfs://north"):
            client.create_table(made)
        with pytest.raises(ttypes.MetaException, match=f"{ports.database}.acid belongs to cluster east"):
            client.allocate_table_write_ids(ttypes.AllocateTableWriteIdsRequest(ports.database, "acid", [1]))


@pytest.mark.nightly(
    "tests/integration/one_metastore/test_cluster_ports.py::test_spark_of_north_writes_its_own_tables_and_no_copy",
)
def test_hives_own_driver_reads_copies_and_writes_tables_of_north(ports: Ports) -> None:
    named, root = ports.database, f"hdfs://north/warehouse/{ports.database}"
    ports.settle()
    with client_of(ports.own) as client:
        database = client.get_database(named)
        database.parameters = {**(database.parameters or {}), "twinhive.root.north": root}
        client.alter_database(named, database)

    def hive(*statements: str, refused: str = "") -> list[list[list[str]]]:
        words = ["peer", "east", *statements, "--json", "--metastore", f"thrift://127.0.0.1:{ports.of_north}"]
        environment = {**os.environ, "TWINHIVE_SANDBOX": os.environ.get("TWINHIVE_SANDBOX", "test")}
        command = [sys.executable, "-m", "sandbox", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, check=False)
        assert bool(done.returncode) == bool(refused), f"{statements}\n{done.stdout}\n{done.stderr[-3000:]}"
        assert refused in done.stdout + done.stderr
        return [] if refused else [one["rows"] for one in json.loads(done.stdout.splitlines()[-1])]

    answers = hive(
        f"SELECT count(*) FROM {named}.days",
        f"SELECT count(*) FROM {named}.days WHERE day > '{DAYS[0]}'",
        f"CREATE EXTERNAL TABLE {named}.hives (a STRING) PARTITIONED BY (day STRING)",
        f"INSERT INTO {named}.hives PARTITION (day) SELECT a, day FROM {named}.days",
        f"SELECT count(*) FROM {named}.hives WHERE day >= '{DAYS[0]}'",
    )
    assert answers == [[["2"]], [["1"]], [], [], [["2"]]]
    hive(f"SELECT a FROM {named}.left_out", refused="absent-on-north")
    hive(f"DROP TABLE {named}.orders", refused=f"{named}.orders belongs to cluster east")
    with client_of(ports.own) as client:
        made = client.get_table_req(_asked(named, "hives")).table
        assert made.sd.location == f"{root}/hives" and made.parameters["twinhive.cluster"] == "north"
        days = client.get_partitions(named, "hives", -1)
        assert sorted(one.sd.location for one in days) == [f"{root}/hives/day={day}" for day in DAYS]
        client.drop_table(named, "hives", True)


@pytest.mark.nightly(
    "tests/integration/one_metastore/test_cluster_ports.py::test_a_stale_copy_is_not_read_and_a_new_one_is",
    "tests/unit/federation/cluster_view/test_no_place_goes_astray.py",
    "tests/unit/federation/placement/test_copies_attacked.py",
)
@pytest.mark.parametrize("seed", seeds(HISTORIES, kind=9))
def test_who_reads_or_queries_copies_gets_what_the_primary_held_meanwhile(
    gates: Gates,
    north: HadoopFiles,
    east: Warehouse,
    source_metastore: ThriftSource,
    seed: int,
) -> None:
    database, chance = east.create_database("read"), random.Random(seed)
    users = SourceWriter(source_metastore, east.files, database)
    primary = Primary(users, chance)
    name = gates.place(database, grace_seconds=600)
    for _ in range(10):
        primary.act()
    gates.settle(name)
    going_on = threading.Event()
    going_on.set()
    spark = Querier(lambda sql: gates.spark(sql)[0], database)
    # At night Spark asks too; every other history is copied by processes that are killed, the rest by a thread that
    # stops at a change.
    at_night = HISTORIES > 1
    config, by_process = gates.policies.directory, at_night and bool(seed % 2)
    answers = Answers()
    with ThreadPoolExecutor(4) as pool:
        others = [
            pool.submit(read_while, going_on, gates.of_north, north, database, seed + number, answers.seen)
            for number in range(2)
        ]
        others += [pool.submit(query_while, going_on, spark, seed, answers.asked)] if at_night else []
        copier = (
            pool.submit(copy_in_processes, going_on, config, name, seed)
            if by_process
            else pool.submit(copy_while, going_on, lambda switch: gates.copy(name, switch), seed)
        )
        try:
            for _ in range(5):
                before = answers.count()
                for _ in range(10):
                    primary.act()
                    time.sleep(chance.choice((0, 0.05, 0.3, 0.6 * by_process)))
                # However slow the machine is, the copies catch up, and something is read, before it goes on.
                read = partial(answers.are_more, before, also_queries=at_night)
                until(lambda read=read: read() or any(one.done() for one in others), "more is read", 300)
        finally:
            going_on.clear()
    killed = copier.result()
    for one in others:
        one.result()
    gates.settle(name)
    with client_of(gates.of_north, timeout=120) as client:
        for one in (PLAIN, *PARTITIONS):
            last = Reader(client, north, database).read(one)
            assert last is not None and last.content == primary.now(one)
    if at_night:
        last_answer = spark.query(*PARTITIONS)
        assert last_answer is not None, "everything is copied"
        answers.asked.append(last_answer)
    answers.judge(primary)
    looks, queries = answers.count()
    print(f"{looks} looks, {queries} queries, {killed} processes killed")
    assert killed or not by_process
