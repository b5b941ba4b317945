"""Tables whose values have directories of their own have copies, and move to another cluster, as any other."""

from dataclasses import replace
from typing import Any

from tests.support.users.skewed_tables import CONTENTS, PLACES, assert_directories_below, create_skewed, said_places
from tests.support.worlds.copies_world import CopiesWorld, a_placement, contents
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.federation.placement.move_primary import MovePrimary


def a_world() -> CopiesWorld:
    world = CopiesWorld()
    create_skewed(world.users, "plain")
    create_skewed(world.users, "orders", "1", "a b")
    return world


def objects(world: CopiesWorld) -> dict[str, Any]:
    orders = TableName("sales", "orders")
    found = world.metastore.partitions(orders, world.metastore.partition_names(orders))
    return {"plain": world.users.table("plain"), **{f"orders {one.name(('p',))}": one for one in found}}


def test_copies_are_whole_and_what_the_metastore_says_of_the_values_stays() -> None:
    world = a_world()
    before = {name: said_places(one) for name, one in objects(world).items()}
    world.settle()
    world.assert_complete(*before)
    for mark in world.fresh().values():
        assert contents(world.north, mark.location) == CONTENTS
    assert {name: said_places(one) for name, one in objects(world).items()} == before
    # Another file of one of the values: an event tells it, as Hive does.
    world.users.insert("orders", ("1",), {f"{PLACES[1]}/g": b"more"})
    world.settle()
    world.assert_complete(*before)
    assert f"{PLACES[1]}/g" in contents(world.north, world.fresh()["orders p=1"].location)
    assert {name: said_places(one) for name, one in objects(world).items()} == before


def test_a_primary_that_moves_takes_the_directories_of_the_values_with_it() -> None:
    world = a_world()
    for table in ("plain", "orders"):
        policy = a_placement(name=f"move-{table}", include=(table,))
        copies = KeptCopies("hdfs://north/home/sales.db", default_cluster="east", takes_over=True)
        MovePrimary(replace(policy, copies=copies), TableName("sales", table), {"run": "move"}).run(world.ports())
    for one in objects(world).values():
        assert str(one.location).startswith("hdfs://north/")
        assert_directories_below(one)
        assert contents(world.north, str(one.location)) == CONTENTS
