"""Copies on a real HDFS without a metastore of its own: north, whose tables are those of the metastore of east."""

import json
from contextlib import suppress
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from tests.integration.spark_sql import ONE_WORKER
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.copies_world import contents
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from tests.support.worlds.kept_marks import mark_on
from twinhive.core.model.placement.copy_marks import CopyMark
from twinhive.core.model.policy import Options
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.move_primary import MovePrimary
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.runtime.pipeline.phases import COPIES
from twinhive.runtime.pipeline.runner import run_phase
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.copy_settings import ListedCopy
from twinhive.runtime.spark.job_outcome import NextSteps
from twinhive.runtime.spark.jobs import copy_by_spark
from twinhive.runtime.wiring.table_move import MoveWiring
from twinhive.surfaces.cli.app import app

pytestmark = [pytest.mark.sandbox, pytest.mark.spark]


class Placed:
    """A database with two tables, and a placement of it on north."""

    def __init__(self, policies: PolicyFiles, metastore: ThriftSource, east: Warehouse, north: HadoopFiles) -> None:
        self.policies, self.metastore, self.east, self.north = policies, metastore, east.files, north
        self.database = east.create_database()
        self.users = SourceWriter(metastore, east.files, self.database)
        self.users.create_table("plain", files={"f": b"plain", "sub dir/g": b"below"})
        self.users.create_table("orders", ("day",))
        self.users.add_partitions("orders", {("1",): {"a": b"one"}, ("a b/c:ü",): {"b": b"two"}, ("3",): {}})
        self.name = f"near_{self.database}"
        clusters = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
        connections = {"file_system": {"connection": "north_hdfs"}, "job_tracker": {"connection": "north_spark"}}
        clusters["clusters"]["north"] = {"metastore": {"of": "east"}, **connections}
        policies.write("clusters.yaml", clusters)
        (policies.directory / "placements").mkdir()
        document = {"placement": self.name, "database": self.database, "cluster": "north"}
        policies.write("placements/near.yaml", {**document, "options": {"grace_seconds": 0, "copy_threads": 4}})

    def run(self, switch: KillSwitch | None = None) -> dict[str, Any]:
        wiring = self.policies.wiring(self.name)
        ports = killable(wiring.write_ports(), switch) if switch else wiring.write_ports()
        return run_phase(COPIES, wiring.policy, ports, {"run": "test"}, lambda line: None)

    def settle(self) -> None:
        while not self.run()["list_copies"].idle:
            pass

    def marks(self) -> dict[str, tuple[str, CopyMark | None]]:
        """Return location and mark of every object."""
        plain, orders = self.users.table("plain"), self.users.table("orders")
        found = {"plain": (str(plain.location), mark_on(self.metastore, plain, "north"))}
        for one in self.metastore.partitions(orders.name, self.metastore.partition_names(orders.name)):
            found[one.name(("day",))] = str(one.location), mark_on(self.metastore, one, "north")
        return found

    def homes(self, table: str) -> dict[str, str]:
        """Return where a table's objects are at home."""
        found = self.users.table(table)
        names = self.metastore.partition_names(found.name) if found.partition_keys else []
        objects = {one.name(("day",)): one for one in self.metastore.partitions(found.name, names)} if names else {}
        return {name: str(one.location) for name, one in objects.items()} or {table: str(found.location)}

    def move(self, table: str, switch: KillSwitch) -> None:
        """Move a table to north under a switch."""
        configuration = load_configuration(self.policies.directory)
        root = f"hdfs://north/home/{self.database}"
        wiring = MoveWiring.of(configuration, resolve_from_environment, f"{self.database}.{table}", "north", root)
        MovePrimary(wiring.policy, wiring.name, {"run": "killed"}).run(killable(wiring.write_ports(), switch))

    def assert_copied(self) -> None:
        for name, (location, mark) in self.marks().items():
            assert mark is not None, name
            assert contents(self.north, mark.location) == contents(self.east, location), name

    def type(self, *words: str) -> Any:
        result = CliRunner().invoke(app, [*words, "--json", "--config", str(self.policies.directory)])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@pytest.fixture
def placed(policies: PolicyFiles, source_metastore: ThriftSource, east: Warehouse, north: HadoopFiles) -> Placed:
    return Placed(policies, source_metastore, east, north)


def test_the_metastore_of_east_makes_directories_on_north(placed: Placed) -> None:
    placed.users.create_table("far", location="hdfs://north/warehouse/far")
    status = placed.north.status("hdfs://north/warehouse/far")
    assert status is not None and status.is_directory


def test_copies_are_made_follow_and_go(placed: Placed) -> None:
    placed.settle()
    placed.assert_copied()
    assert placed.type("copies", placed.name)["placements"][0]["fresh"] == 4
    placed.users.insert("orders", ("1",), {"more": b"more"})
    placed.east.write(f"{placed.users.location('plain')}/late", b"written without an event")
    told = placed.type("copies", placed.name)["placements"][0]
    assert (told["fresh"], told["stale"]) == (2, 2)
    reasons = {one["stale"] for table in told["tables"] for one in table["copies"] if one["stale"]}
    assert "files of the object were written without an event" in reasons
    placed.settle()
    placed.assert_copied()
    (_, old) = placed.marks()["day=3"]
    placed.users.drop_partitions("orders", [("3",)])
    placed.settle()
    assert old is not None and placed.north.status(old.location) is None
    placed.assert_copied()
    placed.east.write(f"{placed.users.location('plain')}/sub dir/late", b"without an event, in a directory")
    told = placed.type("copies", placed.name)["placements"][0]
    assert (told["fresh"], told["stale"]) == (2, 1)
    placed.settle()
    placed.assert_copied()


@pytest.mark.thorough
@pytest.mark.parametrize("at", (2, 15, 28))
def test_killed_and_run_again_it_converges(placed: Placed, at: int) -> None:
    with suppress(Killed):
        placed.run(KillSwitch(at, after_effect=False))
    for name, (location, mark) in placed.marks().items():
        assert mark is None or contents(placed.north, mark.location) == contents(placed.east, location), name
    placed.settle()
    placed.assert_copied()


@pytest.mark.nightly(
    "tests/unit/federation/placement/test_copies.py::test_a_thousand_copies_are_published_in_eight_calls_of_the_metastore",
    "tests/integration/one_metastore/test_copies.py::test_copies_are_made_follow_and_go",
)
def test_hundreds_of_partitions_are_marked(placed: Placed) -> None:
    placed.users.create_table("many", ("n",))
    placed.users.add_partitions("many", {(f"{number:04}",): {"f": b"%d" % number} for number in range(300)})
    placed.settle()
    assert placed.type("copies", placed.name)["placements"][0]["fresh"] == 304
    assert placed.run()["list_copies"].tables == 0, "an idle run has looked at a table"


def test_statements_run_where_all_that_they_need_is(placed: Placed) -> None:
    placed.users.create_table("there")
    placed.users.set_parameters("there", {"twinhive.cluster": "north"})

    def routed(sql: str) -> list[str | None]:
        words = ["route", sql, "--metastore", "east", "--database", placed.database, "--json"]
        result = CliRunner().invoke(app, [*words, "--config", str(placed.policies.directory)])
        return [one["cluster"] for one in json.loads(result.stdout)["statements"]]

    join = "SELECT * FROM orders JOIN there ON orders.a = there.a"
    some = "INSERT INTO there SELECT a FROM orders WHERE day <> '1'"
    assert routed(f"SELECT * FROM orders; SELECT * FROM there; {join}; {some}") == ["east", "north", None, None]
    placed.settle()
    assert routed(f"SELECT * FROM orders; {join}; {some}") == ["east", "north", "north"]
    assert routed("USE CLUSTER north; SELECT * FROM orders; INSERT INTO plain SELECT 1") == ["north", None]
    placed.users.insert("orders", ("1",), {"more": b"more"})
    assert routed(f"{join}; {some}") == [None, "north"]
    placed.east.write(f"{placed.users.location('orders', ('3',))}/late", b"written without an event")
    assert routed(some) == [None]


@pytest.mark.nightly(
    "tests/integration/one_metastore/test_copies.py::test_copies_are_made_follow_and_go",
    "tests/integration/in_airflow/test_airflow.py::test_the_copies_went_through_spark_and_compared_what_they_copied",
)
def test_what_is_much_is_copied_by_spark(placed: Placed) -> None:
    path = placed.policies.directory / "placements/near.yaml"
    said = yaml.safe_load(path.read_text())
    said["options"] |= {"spark_above_files": 0}
    placed.policies.write("placements/near.yaml", said)
    wiring = placed.policies.wiring(placed.name)
    ports = wiring.write_ports()
    listed = ListCopies(Work(wiring.policy)).run(ports)
    (batch,) = listed.batches
    job = CopyObjects(Work(wiring.policy, batch.name, listed.dump)).job(ports)
    assert job is not None
    what = ListedCopy(job, wiring.dump_endpoint, listed.dump, batch.name)
    cluster, steps = SparkCluster.of(ONE_WORKER, 2, []), NextSteps("act", "mend", "again")
    copy_by_spark(what, wiring.source_endpoint, wiring.replica_endpoint, Options(), cluster, steps, print)
    assert PublishCopies(Work(wiring.policy)).run(ports).published == 4
    placed.assert_copied()


@pytest.mark.thorough
@pytest.mark.parametrize(("table", "is_copied"), [("plain", False), ("orders", True)])
def test_a_table_is_at_home_on_north_then_and_the_old_place_is_a_copy(
    placed: Placed, table: str, is_copied: bool
) -> None:
    name = f"{placed.database}.{table}"
    if is_copied:
        placed.settle()
    old = placed.homes(table)
    before = {what: contents(placed.east, location) for what, location in old.items()}
    root = ("--root", f"hdfs://north/home/{placed.database}")
    planned = placed.type("move-primary", name, "north", *root, "--dry-run")["said"]
    assert placed.homes(table) == old
    copies = {what: mark.location for what, (_, mark) in placed.marks().items() if mark}
    with suppress(Killed):
        placed.move(table, KillSwitch(4 if is_copied else 25, after_effect=True))
    said = placed.type("move-primary", name, "north", *root)["said"]
    assert said and all(line in planned for line in said)
    new = placed.homes(table)
    assert {what: contents(placed.north, location) for what, location in new.items()} == before
    if is_copied:
        assert new == {what: place for what, place in copies.items() if what != "plain"}, "it was copied again"
    routes = {
        "east": f"select * from {name}",
        "north": f"insert into {name} select * from {name}",
    }
    for cluster, sql in routes.items():
        chosen = ("--cluster", "east") if cluster == "east" else ("--metastore", "east")
        assert placed.type("route", sql, *chosen)["statements"][0]["cluster"] == cluster
    assert {what: contents(placed.east, location) for what, location in old.items()} == before
    assert placed.type("move-primary", name, "north", *root)["said"] == [f"{name} belongs to north"]
    placed.settle()
    placed.type("retire", placed.name)
    assert {what: contents(placed.north, location) for what, location in placed.homes(table).items()} == before
