"""Views of a remote read through the gateway what they read at the remote, or are an error: never another table."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hive_metastore import ttypes
from thrift.transport.TTransport import TTransportException

from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.wire_metastore import Contents, WireMetastore, client_of
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.view_answers import LEFT, UNREAD

_SPARK = {"view__catalogAndNamespace__numParts": "2", "view__catalogAndNamespace__part__0": "spark_catalog"}


class World:
    """`far` is the remote's `sales`, `shop.staff` its `hr.people`, `shop.v` its view `sales.v`."""

    def __init__(self) -> None:
        self.here, self.there, self.other = Contents("here"), Contents("there"), Contents("other")
        self.here.add("shop", "orders")
        self.here.add("shop", "v")
        self.here.databases += ["far", "strange"]
        self.servers = [WireMetastore(one) for one in (self.here, self.there, self.other)]
        local, remote, other = (one.port for one in self.servers)
        to, elsewhere = {"port": str(remote)}, {"port": str(other)}
        tables = [
            RemoteTable(TableName("shop", "staff"), TableName("hr", "people"), properties=to),
            RemoteTable(TableName("shop", "v"), TableName("sales", "v"), properties=to),
        ]
        databases = [
            RemoteDatabase("far", "sales", properties=to),
            RemoteDatabase("strange", "ops", properties=elsewhere),
        ]
        self.gateway = RunningGateway(
            local, Definitions({one.local: one for one in tables}, {one.local: one for one in databases})
        )

    def close(self) -> None:
        self.gateway.stop()
        for one in self.servers:
            one.close()


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


@pytest.fixture
def client(world: World) -> Iterator[Any]:
    with client_of(world.gateway.port) as made:
        yield made


def _view(client: Any, database: str = "far", view: str = "v") -> Any:
    return client.get_table_req(ttypes.GetTableRequest(dbName=database, tblName=view)).table


def test_databases_and_tables_in_a_views_text_have_their_local_names(client: Any, world: World) -> None:
    world.there.add_view(
        "sales", "v", "SELECT 'sales.orders', o.id FROM `sales`.`orders` o JOIN hr.people ON people.id = o.id"
    )
    for database in ("far", "shop"):
        found = _view(client, database)
        assert (found.dbName, found.tableName, found.tableType) == (database, "v", "VIRTUAL_VIEW")
        assert found.viewExpandedText == found.viewOriginalText
        assert found.viewExpandedText == (
            "SELECT 'sales.orders', o.id FROM `far`.`orders` o JOIN shop.staff AS `people` ON people.id = o.id"
        )
        assert found.parameters.keys().isdisjoint({LEFT, UNREAD})


def test_sparks_settings_of_a_view_have_local_names(client: Any, world: World) -> None:
    world.there.add_view(
        "sales",
        "v",
        "SELECT a FROM orders",
        **_SPARK,
        view__catalogAndNamespace__part__1="sales",
        view__query__out__col__0="sales",
    )
    found = _view(client)
    assert found.viewExpandedText == "SELECT a FROM orders"
    assert found.parameters["view.catalogAndNamespace.part.1"] == "far"
    assert found.parameters["view.query.out.col.0"] == "sales"


def test_names_without_a_database_are_those_of_the_views_own_where_no_setting_says_otherwise(
    client: Any, world: World
) -> None:
    world.there.add_view("sales", "v", "SELECT * FROM orders")
    assert _view(client).viewExpandedText == "SELECT * FROM far.orders"


def test_a_name_of_no_remote_is_left_and_said(client: Any, world: World) -> None:
    world.there.add_view("sales", "v", "SELECT * FROM sales.orders, `Ops`.`runs`")
    found = _view(client)
    assert found.viewExpandedText == "SELECT * FROM far.orders, `Ops`.`runs`"
    assert found.parameters[LEFT] == "ops.runs"


def test_a_text_that_cannot_be_read_is_handed_on_and_marked(client: Any, world: World) -> None:
    world.there.add_view("sales", "v", "SELECT (( sales.orders")
    found = _view(client)
    assert (found.viewExpandedText, found.parameters[UNREAD]) == ("SELECT (( sales.orders", "true")


@pytest.mark.parametrize("text", ["SELECT * FROM shop.orders", "SELECT * FROM `STRANGE`.x", "SELECT (( shop.orders"])
def test_a_view_that_would_read_something_else_is_refused(client: Any, world: World, text: str) -> None:
    world.there.add_view("sales", "v", text)
    world.there.add("sales", "orders")
    with pytest.raises(ttypes.MetaException, match="is something else here"):
        _view(client)
    found = {one.tableName: one for one in _tables(client, "far", "orders", "v")}
    assert found["orders"].viewExpandedText is None
    assert "which is not here" in found["v"].viewExpandedText
    assert found["v"].viewOriginalText == found["v"].viewExpandedText


def _tables(client: Any, database: str, *names: str) -> list[Any]:
    return client.get_table_objects_by_name_req(ttypes.GetTablesRequest(database, list(names))).tables


def test_views_in_a_list_of_tables_are_renamed(client: Any, world: World) -> None:
    world.there.add_view("sales", "v", "SELECT * FROM sales.orders")
    world.there.add_view("sales", "w", "SELECT * FROM hr.people p")
    assert [one.viewExpandedText for one in _tables(client, "far", "v", "w")] == [
        "SELECT * FROM far.orders",
        "SELECT * FROM shop.staff p",
    ]
    here = {one.tableName: one.viewExpandedText for one in _tables(client, "shop", "orders", "v")}
    assert here == {"orders": None, "v": "SELECT * FROM far.orders"}


def test_a_view_among_more_tables_than_can_be_held_breaks_the_answer_off(world: World) -> None:
    for number in range(2000):
        world.there.add("sales", f"t{number:04}", "c" * 200)
    world.there.add_view("sales", "v", "SELECT * FROM shop.orders")
    names = sorted(table for database, table in world.there.tables if database == "sales")
    limits = replace(world.gateway.limits, buffered=1 << 16, call=20.0)
    small = RunningGateway(world.servers[0].port, world.gateway.definitions, limits)
    try:
        with client_of(small.port) as client, pytest.raises((TTransportException, OSError)):
            _tables(client, "far", *names)
        with client_of(small.port) as client:
            assert len(_tables(client, "far", *names[:-1])) == 2000
    finally:
        small.stop()


def test_a_materialized_view_that_cannot_be_renamed_has_rows_of_its_own(client: Any, world: World) -> None:
    world.there.add_view("sales", "v", "SELECT * FROM shop.orders")
    world.there.tables["sales", "v"].tableType = "MATERIALIZED_VIEW"
    assert _view(client).viewExpandedText == "SELECT * FROM shop.orders"
