"""`twinhive clusters check`: what tables say of clusters that does not fit."""

from tests.support.worlds.copies_world import CopiesWorld
from twinhive.federation.placement.cluster_check import misfits

CLUSTERS = {"east": "hdfs://east", "north": "hdfs://north"}


def a_world() -> CopiesWorld:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("orders", ("day",))
    world.users.add_partitions("orders", {("1",): {"a": b"one"}})
    world.users.create_view("recent")
    world.settle()
    return world


def found(world: CopiesWorld) -> list[str]:
    return [f"{one.what}: {one.trouble}" for one in misfits(world.metastore, CLUSTERS, "east")]


def test_what_fits_is_not_told() -> None:
    assert found(a_world()) == []


def test_a_location_on_another_file_system_is_told() -> None:
    world = a_world()
    world.users.set_partition_location("orders", ("1",), "hdfs://north/elsewhere")
    world.users.set_parameters("plain", {"twinhive.cluster": "north"})
    assert [one.split(": ", 1)[1][:56] for one in found(world)] == [
        "it belongs to east, and its location is not on hdfs://ea",
        "it belongs to north, and its location is not on hdfs://n",
    ]


def test_clusters_that_do_not_exist_are_told() -> None:
    world = a_world()
    world.users.set_parameters("plain", {"twinhive.cluster": "south"})
    world.users.alter_partition("orders", ("1",), {"twinhive.copy.south": "{}"})
    world.users.alter_database_parameters({"twinhive.root.south": "hdfs://south/sales"})
    assert found(world) == [
        "sales: twinhive.root.south: there is no cluster south in this metastore",
        "sales.orders day=1: twinhive.copy.south: there is no cluster south in this metastore",
        "sales.plain: it belongs to south, which is no cluster of this metastore",
    ]


def test_marks_that_nobody_can_read_and_copies_elsewhere_are_told() -> None:
    world = a_world()
    (_, mark) = world.marked()["plain"]
    world.users.set_parameters("plain", {"twinhive.copy.north": mark.text().replace("hdfs://north", "hdfs://east")})
    for text in ("{", "[]", '{"location": 1}', mark.text().replace('"event":', '"event":true,"x":')):
        world.users.alter_partition("orders", ("1",), {"twinhive.copy.north": text})
        assert found(world)[0] == "sales.orders day=1: twinhive.copy.north: this is no mark of a copy"
    assert found(world)[1].startswith("sales.plain: twinhive.copy.north: the copy is not on hdfs://north: hdfs://east/")


def test_roots_that_overlap_are_told() -> None:
    world = a_world()
    roots = {"twinhive.root.north": "hdfs://north/a", "twinhive.root.east": "hdfs://east/a.b"}
    world.users.alter_database_parameters(roots)
    assert found(world) == []
    other = type(world.users).with_database(world.metastore, world.files, "other")
    other.alter_database_parameters({"twinhive.root.north": "hdfs://north/a/b", "twinhive.root.east": "hdfs://east/a"})
    assert found(world) == [
        "other twinhive.root.north: hdfs://north/a/b is, or lies in, hdfs://north/a of sales twinhive.root.north"
    ]
