"""A remote is kept as a view, or a database of type REMOTE, whoever has made it."""

from dataclasses import replace

import pytest

from tests.support.builders import a_table
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.core.model.remotes.definitions import REMOTE, RemoteDatabase, RemoteTable, refuse_unreadable
from twinhive.federation.remotes.kept_remotes import (
    HIDDEN,
    VIA,
    database_definition,
    definitions_of,
    parameters_of,
    shown,
    table_definition,
    unreadable,
)

URIS = {"hive.metastore.uris": "thrift://west:9083"}


def _view(parameters: dict[str, str], kind: str = "VIRTUAL_VIEW") -> Table:
    return Table(TableName("shop", "orders"), kind, None, (), (("id", "int"),), parameters, "{}")


def _database(parameters: dict[str, str]) -> Database:
    return Database("Far", None, None, parameters, "{}")


def test_what_is_written_is_read() -> None:
    table = RemoteTable(TableName("shop", "orders"), TableName("sales", "o2"), "ssh", {**URIS, "a": "b"})
    assert table_definition(_view(parameters_of(table))) == table
    database = RemoteDatabase("far", "sales", "thrift", URIS)
    assert database_definition(_database(parameters_of(database))) == database


@pytest.mark.parametrize(
    ("text", "remote"),
    [("sales.orders", "sales.orders"), ("ORDERS2", "shop.orders2"), ("", "shop.orders"), ("  ", "shop.orders")],
)
def test_what_other_clients_write_is_understood(text: str, remote: str) -> None:
    found = table_definition(_view({REMOTE: text, **URIS, "spark.sql.create.version": "4", "view.sqlConfig.x": "y"}))
    assert found == RemoteTable(TableName("shop", "orders"), TableName.parse(remote), "thrift", URIS)


@pytest.mark.parametrize("text", ["@hive#sales", "@spark#sales"])
def test_a_name_with_its_catalog_is_refused(text: str) -> None:
    """The remote would answer by the name without it, and that would pass for a name of here."""
    database, table = database_definition(_database({REMOTE: text})), table_definition(_view({REMOTE: f"{text}.t"}))
    assert database is not None and table is not None
    for one in (database, table):
        with pytest.raises(InvalidSettings, match="catalog"):
            refuse_unreadable(one)
    refuse_unreadable(replace(database, remote="sales"))


def test_a_database_without_a_name_stands_for_one_of_its_own() -> None:
    assert database_definition(_database({REMOTE: " ", **URIS})) == RemoteDatabase("far", "far", "thrift", URIS)


@pytest.mark.parametrize("kind", ["EXTERNAL_TABLE", "MANAGED_TABLE", "MATERIALIZED_VIEW"])
def test_what_has_data_of_its_own_is_no_remote(kind: str) -> None:
    """The parameter may have been copied along, as CREATE TABLE LIKE does."""
    assert table_definition(_view({REMOTE: "sales.orders"}, kind)) is None


def test_a_view_without_the_parameter_is_a_view() -> None:
    defined = definitions_of([_database({})], [_view({VIA: "thrift"}), a_table("shop.plain")])
    assert (defined.tables, defined.databases) == ({}, {})
    assert defined.owner_of("shop", "orders") is None


def test_secrets_are_hidden_from_people() -> None:
    table = RemoteTable(
        TableName("a", "b"), TableName("c", "d"), properties={"aws.secret.key": "x", "my.password": "y"}
    )
    assert shown(table) == {"aws.secret.key": HIDDEN, "my.password": HIDDEN, REMOTE: "c.d", VIA: "thrift"}


def test_the_text_of_the_view_raises_whatever_is_selected() -> None:
    table = RemoteTable(TableName("shop", "it's"), TableName("sales", "orders"))
    text = unreadable(table, [("id", "int"), ("a`b", "string")])
    assert text.startswith("SELECT CAST(NULL AS int) AS `id`, CAST(NULL AS string) AS `a``b` FROM (SELECT raise_error(")
    assert "it\\'s" in text
    assert text.endswith("WHERE e IS NULL")


def test_a_database_that_hive_made_with_one_of_our_connectors_is_a_remote() -> None:
    ours = DataConnector("West", "twinhive", "thrift://west:9083", {"twinhive_remote_via": "ssh", "a": "b"})
    theirs = DataConnector("shop", "mysql", "jdbc:mysql://shop", {})
    connectors = {"west": ours, "shop": theirs}

    def by(connector: str, **parameters: str) -> RemoteDatabase | None:
        said = {key.replace("__", "."): value for key, value in parameters.items()}
        return database_definition(replace(_database(said), connector=connector), connectors)

    told = {"hive.metastore.uris": "thrift://west:9083", "a": "b"}
    assert by("west", connector__remoteDbName="Sales") == RemoteDatabase("far", "sales", "ssh", told)
    assert by("WEST") == RemoteDatabase("far", "far", "ssh", told)
    assert by("west", a="c", twinhive_remote="x") == RemoteDatabase("far", "x", "ssh", {**told, "a": "c"})
    assert by("shop") is None
    assert by("gone") is None
