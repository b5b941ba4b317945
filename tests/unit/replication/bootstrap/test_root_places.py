"""A root for dumps or staging is apart from every table and every warehouse, or nothing is begun."""

import pytest

from tests.support.builders import a_partition, a_policy, a_table, an_external
from tests.support.worlds.fake_world import SOURCE_ADDRESS, World, a_world
from tests.support.worlds.repl_world import ReplWorld
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.objects import Database
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.preflight import Preflight


def two_clusters() -> World:
    world = a_world()
    world.source.configurations[SOURCE_ADDRESS]["metastore.warehouse.external.dir"] = "/warehouse/external"
    world.source.create_database(Database("other", "hdfs://east/other/db", "hdfs://east/managed/other", {}, "{}"))
    world.source.create_table(
        a_table("other.flights", table_type="EXTERNAL_TABLE", location="hdfs://east/data/flights/delays")
    )
    world.replica.create_database(Database("theirs", "hdfs://west/theirs/db", None, {}, "{}"))
    world.replica.create_table(a_table("theirs.t", table_type="EXTERNAL_TABLE", location="hdfs://west/data/t"))
    return world


@pytest.mark.parametrize(
    ("setting", "root", "found"),
    [
        ("dump_root", "hdfs://east/data", "table other.flights"),
        ("dump_root", "hdfs://east/data/flights/delays", "table other.flights"),
        ("dump_root", "hdfs://east/data/flights/delays/dumps", "table other.flights"),
        ("dump_root", "hdfs://east/outside/x", "table sales.outside"),
        ("dump_root", "hdfs://east/other/db/dumps", "database other"),
        ("dump_root", "hdfs://east/managed", "database other"),
        ("dump_root", "hdfs://east/warehouse/external/dumps", "the warehouse of external tables"),
        ("dump_root", "hdfs://east", "table"),
        ("dump_root", "hdfs://east/", "table"),
        ("dump_root", "hdfs://west/theirs", "database theirs"),
        ("staging_root", "hdfs://west/data", "table theirs.t"),
        ("staging_root", "hdfs://west/data/t/x", "table theirs.t"),
        ("staging_root", "hdfs://west/warehouse/managed/.staging", "the warehouse"),
        ("staging_root", "hdfs://west/ext/staging", "the base directory of external tables"),
    ],
)
def test_a_root_that_is_not_apart_is_refused_and_nothing_is_written(setting: str, root: str, found: str) -> None:
    world = two_clusters()
    policy = a_policy(**{setting: root}, external=an_external())
    before = world.source_files.paths(), world.replica_files.paths(), world.source.current_event_id()
    problems = Preflight(Work(policy)).problems(world.ports())
    said = [str(one) for one in problems if "is not apart from what tables and databases use" in str(one)]
    assert len(said) == 1 and found in said[0], problems
    with pytest.raises(InvalidSettings):
        Preflight(Work(policy)).run(world.ports())
    assert (world.source_files.paths(), world.replica_files.paths(), world.source.current_event_id()) == before


@pytest.mark.parametrize("root", ["hdfs://east/dat", "hdfs://east/data/flights/delays2", "hdfs://east/twinhive/dumps"])
def test_a_root_beside_a_table_is_fine(root: str) -> None:
    assert Preflight(Work(a_policy(dump_root=root))).problems(two_clusters().ports()) == []


def test_a_dump_of_a_statement_is_refused_before_anything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    repl = ReplWorld()
    repl.world.source_files.put("hdfs://east/user/hive/repl/sales/orders2/part-0", b"rows")
    repl.world.source.create_table(
        a_table("sales.orders2", table_type="EXTERNAL_TABLE", location="hdfs://east/twinhive/dumps/sales/orders2")
    )
    before = repl.world.source_files.paths()
    with pytest.raises(InvalidSettings, match="is not apart from"):
        repl.dump()
    assert repl.world.source_files.paths() == before
    assert "repl.source.for" not in repl.world.source.database("sales").parameters


def test_a_load_of_a_statement_is_refused_but_where_its_staging_is_already() -> None:
    repl = ReplWorld()
    first = repl.dump()
    table = a_table("other.t", table_type="EXTERNAL_TABLE", location="hdfs://west/twinhive/t", partition_keys=("p",))
    repl.world.replica.create_database(Database("other", "hdfs://west/twinhive/staging/x", None, {}, "{}"))
    with pytest.raises(InvalidSettings, match="is not apart from"):
        repl.load(first)
    assert repl.world.replica.database("sales") is None
    repl.world.replica.drop_database("other")
    repl.load(first)
    repl.world.replica.create_database(Database("other", "hdfs://west/twinhive/staging/x", None, {}, "{}"))
    repl.world.replica.create_table(table)
    repl.world.replica.add_partitions([a_partition(table, "1")])
    repl.users.insert("plain", None, [b"more"])
    repl.load(repl.dump(repl.status()))
    assert repl.status() == repl.world.source.current_event_id()
