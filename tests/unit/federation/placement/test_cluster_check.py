"""`twinhive clusters check`: what tables say of clusters that does not fit."""

from dataclasses import replace

from tests.support.worlds.copies_world import CopiesWorld
from tests.support.worlds.kept_marks import put_mark
from twinhive.core.model.file_system_names import OneFileSystem
from twinhive.federation.placement.cluster_check import misfits

CLUSTERS = {name: OneFileSystem(f"hdfs://{name}", ()) for name in ("east", "north")}


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
    put_mark(world.metastore, world.users.partition("orders", ("1",)), "south", {})
    world.users.alter_database_parameters({"twinhive.root.south": "hdfs://south/sales"})
    assert found(world) == [
        "sales: twinhive.root.south: there is no cluster south in this metastore",
        "sales.plain: it belongs to south, which is no cluster of this metastore",
        "sales.twinhive_copies orders 1: there is no cluster south in this metastore",
    ]


def test_marks_that_nobody_can_read_and_copies_elsewhere_are_told() -> None:
    world = a_world()
    plain, mark = world.marked()["plain"]
    put_mark(world.metastore, plain, "north", replace(mark, location=mark.location.replace("north", "east", 1)))
    one, good = world.users.partition("orders", ("1",)), mark.parameters()
    key = next(key for key, value in good.items() if value.startswith("{"))
    for text in ("{", "[]", "{}", good[key].replace('"event":', '"event":true,"x":')):
        put_mark(world.metastore, one, "north", {**good, key: text})
        assert "sales.twinhive_copies orders 1: this is no mark of a copy" in found(world)
        assert world.marked().keys() == {"plain"} | (world.marked().keys() - {"orders day=1"})
    put_mark(world.metastore, one, "north", {key: good[key]})
    assert "sales.twinhive_copies orders 1: this is no mark of a copy" in found(world)
    assert found(world)[-1].startswith("sales.twinhive_copies plain *: the copy is not on hdfs://north: hdfs://east/")


def test_a_table_of_somebody_else_in_the_place_of_the_marks_is_told() -> None:
    world = a_world()
    world.users.drop_table("twinhive_copies")
    world.users.create_table("twinhive_copies")
    assert found(world) == [
        "sales.twinhive_copies: it is a table of somebody else: marks of copies are kept in one of that name"
    ]


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
