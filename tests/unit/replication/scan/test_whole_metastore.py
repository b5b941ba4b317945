"""What all databases of a metastore use, and what the table and the partition of one name use now."""

import pytest

from tests.support.builders import a_partition, a_policy, a_table
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.replication.replica.used_directories import UsedPlaces, used_by_name

ROOT = "hdfs://west/warehouse/managed/sales.db"
POLICY = a_policy()


@pytest.fixture
def world() -> World:
    world = a_world()
    for name in ("sales", "other"):
        world.replica.create_database(Database(name, None, None, {}, "{}"))
    return world


def whole(world: World) -> UsedPlaces:
    places = UsedPlaces.read_whole(world.replica, POLICY, ROOT)
    assert places is not None
    return places


def test_what_lies_in_a_table_of_another_database_is_its_users_and_what_holds_one_stays(world: World) -> None:
    theirs = a_table("other.t", location=f"{ROOT}/t.7/deep", partition_keys=("p",))
    world.replica.create_table(theirs)
    places = whole(world)
    for directory in ("t.7", "t.7/deep", "t.7/deep/p=being written"):
        assert places.uses(f"{ROOT}/{directory}")
    assert not places.uses(f"{ROOT}/t.7/other") and not places.uses(f"{ROOT}/t.8")


def test_what_lies_in_a_table_of_the_replica_is_used_or_not_by_itself(world: World) -> None:
    ours = a_table("sales.t", location=f"{ROOT}/t.7", partition_keys=("p",))
    world.replica.create_table(ours)
    world.replica.add_partitions([a_partition(ours, "1").at(ours.name, f"{ROOT}/t.7/_tw/8/p=1")])
    places = whole(world)
    for directory in ("t.7", "t.7/_tw/8", "t.7/_tw/8/p=1", "t.7/_tw/8/p=1/q=2"):
        assert places.uses(f"{ROOT}/{directory}")
    assert not places.uses(f"{ROOT}/t.7/_tw/9/p=1")


@pytest.mark.parametrize("far", [Database("far", None, None, {}, "{}", connector="c"), '{"11":{"i32":2}}'])
def test_tables_of_other_catalogs_are_not_asked_for(world: World, far: Database | str) -> None:
    remote = Database("far", None, None, {}, far) if isinstance(far, str) else far
    replica, asked = world.replica, []
    names, database, listed = replica.database_names, replica.database, replica.table_names
    replica.database_names = lambda: [*names(), "far"]
    replica.database = lambda name: remote if name == "far" else database(name)
    replica.table_names = lambda name: (asked.append(name), listed(name))[1]
    whole(world)
    assert asked and "far" not in asked


@pytest.mark.parametrize(
    ("directory", "is_used"),
    [
        ("t.7/_tw/8/p=1/q=2", True),
        ("t.7/_tw/8/p=1", True),
        ("t.7/_tw/8", True),
        ("t.7", True),
        ("t.7/p=1", False),
        ("t.7/p=1/q=2", False),
        ("t.7/_tw/9/p=1/q=2", False),
        ("t.6", False),
        ("t.6/_tw/8/p=1/q=2", False),
        ("gone.5", False),
        ("plain.5", True),
        ("plain.4", False),
    ],
)
def test_the_table_and_the_partition_of_that_name_say_where_they_lie(
    world: World, directory: str, is_used: bool
) -> None:
    table = a_table("sales.t", location=f"{ROOT}/t.7", partition_keys=("p", "q"))
    world.replica.create_table(table)
    world.replica.add_partitions([a_partition(table, "1", "2").at(table.name, f"{ROOT}/t.7/_tw/8/p=1/q=2")])
    world.replica.create_table(a_table("sales.plain", location=f"{ROOT}/plain.5"))
    assert world.replica.table(TableName("sales", "plain"))
    assert used_by_name(world.replica, "sales", ROOT, f"{ROOT}/{directory}") is is_used
