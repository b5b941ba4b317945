"""Remotes belong to no cluster: a statement that reads or writes one is refused, wherever its text names it."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from tests.unit.federation.routing.test_table_resolution import a_world_with_a_table_of_north, routed
from twinhive.core.model.errors import ActNow, Refused
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.federation.routing.cluster_choice import Routed, Why

READ, WRITTEN = "a statement that reads it", "a statement that writes it"


def a_world_with_remotes() -> CopiesWorld:
    """Make `sales.rem`, and the databases `flights`, by its parameter, and `trains`, by a data connector."""
    world = a_world_with_a_table_of_north()
    world.users.create_view("rem")
    world.users.set_parameters("rem", {"twinhive_remote": "other.plain"})
    sales = world.metastore.database("sales")
    assert sales is not None
    flights = replace(sales, name="flights", parameters={"twinhive_remote": ""})
    trains = replace(sales, name="trains", parameters={"connector.remoteDbName": "t"}, connector="West")
    world.metastore.connectors["west"] = DataConnector("West", "twinhive", "thrift://west:9083")
    world.metastore._databases |= {"flights": flights, "trains": trains}
    plain = world.users.table("plain")
    for database in ("flights", "trains"):  # what a remote database has itself here is nothing that anybody sees
        name = replace(plain.name, database=database, table="own")
        world.metastore._tables[name] = replace(plain, name=name)
    return world


@pytest.mark.parametrize("chosen", [None, "north"])
@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("select * from rem", READ),
        ("insert into there select * from plain join rem on 1 = 1", READ),
        ("insert into rem select * from plain", WRITTEN),
        ("insert overwrite table Rem select * from there", WRITTEN),
        ("truncate table rem", WRITTEN),
        ("drop table rem", WRITTEN),
        ("alter table rem rename to rem2", WRITTEN),
        ("merge into rem using plain on 1 = 1 when matched then delete", WRITTEN),
        *(
            (sql.replace("flights", one), WRITTEN if sql[0] != "s" else READ)
            for one in ("flights", "trains")
            for sql in (
                "select * from flights.f",
                "select * from flights.own",
                "insert into flights.f select * from there",
                "insert into flights.own select 1",
                "create table flights.new as select * from there",
                "create table flights.new (a int)",
                "drop table flights.f",
            )
        ),
    ],
)
def test_it_is_refused(sql: str, found: str, chosen: str | None) -> None:
    with pytest.raises(ActNow, match="is a remote: it belongs to no cluster of this metastore") as refused:
        routed(a_world_with_remotes(), sql, chosen)
    assert refused.value.words.found == found


def test_hive_is_not_asked_for_the_tables_of_a_remote_database() -> None:
    world = a_world_with_remotes()
    with pytest.raises(Refused, match="reading table trains"):
        world.metastore.table(TableName("trains", "own"))


@pytest.mark.parametrize("connector", ["shop", "gone", None])
@pytest.mark.parametrize("chosen", [None, "east"])
@pytest.mark.parametrize(
    "sql",
    [
        "select * from trains.own",
        "insert into plain select * from trains.own",
        "insert into trains.own select 1",
        "create table trains.new as select * from plain",
        "drop table trains.own",
    ],
)
def test_a_database_of_another_connector_than_ours_is_hives_own_business(
    sql: str, chosen: str | None, connector: str | None
) -> None:
    world = a_world_with_remotes()
    world.metastore.connectors["shop"] = DataConnector("shop", "mysql", "jdbc:mysql://shop")
    trains = world.metastore._databases["trains"]
    world.metastore._databases["trains"] = replace(trains, connector=connector)
    found = routed(world, sql, chosen)
    assert isinstance(found, Routed)
    assert found.cluster == "east"


def test_a_database_is_asked_for_once_in_a_statement() -> None:
    world, asked = a_world_with_remotes(), Counter[str]()
    real = world.metastore.database

    def counted(name: str) -> Database | None:
        asked[name] += 1
        return real(name)

    world.metastore.database = counted  # type: ignore[method-assign]
    sql = "insert into sales.new select * from plain join orders on 1 = 1 join plain p on 1 = 1"
    assert routed(world, sql) == Routed("east", Why.INPUT)
    assert asked == {"sales": 1}
