"""An empty place of a new table is none: its files go where the cluster puts them, and nowhere else."""

import pytest
from hive_metastore import ttypes

from tests.support.worlds.copies_world import CopiesWorld
from tests.unit.federation.cluster_view.test_ports import a_settled_world, clients, table_at, the_port
from twinhive.core.model.names import TableName
from twinhive.federation.cluster_view.visibility_rules import Sight

EAST = Sight("east", {"east": "hdfs://east", "north": "hdfs://north"}, "east", ())
SAID = pytest.mark.parametrize("said", ["", None])


def make(world: CopiesWorld, said: str | None, sight: Sight | None = None) -> str:
    with clients(world, the_port(world, sight) if sight else the_port(world)) as (client, _):
        table = table_at(client, "plain")
        table.tableName, table.sd.location = "fresh", said
        client.create_table(table)
    return str(world.users.table("fresh").location)


@SAID
def test_a_new_table_is_placed_where_its_database_says(said: str | None) -> None:
    world = a_settled_world()
    world.users.alter_database_parameters({"twinhive.root.north": "hdfs://north/sales"})
    assert make(world, said) == "hdfs://north/sales/fresh"


@SAID
def test_it_is_refused_where_the_database_has_no_place(said: str | None) -> None:
    world = a_settled_world()
    with clients(world, the_port(world)) as (client, _):
        table = table_at(client, "plain")
        table.tableName, table.sd.location = "fresh", said
        with pytest.raises(ttypes.MetaException, match="database sales has no place for tables on north"):
            client.create_table(table)
    assert world.metastore.table(TableName("sales", "fresh")) is None


@SAID
def test_at_the_port_of_the_default_cluster_the_metastore_places_it(said: str | None) -> None:
    assert make(a_settled_world(), said, EAST).startswith("hdfs://east/")
