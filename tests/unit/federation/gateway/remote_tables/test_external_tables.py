"""Clients are told that tables of a remote are EXTERNAL and not purged, and drop none whose files they would delete."""

from collections.abc import Iterator
from typing import Any

import pytest
from hive_metastore import ttypes

from tests.support.wire.wire_messages import answer, decoded, encoded, struct_class
from tests.support.wire.wire_metastore import client_of
from tests.unit.federation.gateway.test_gateway import World
from twinhive.federation.gateway.remote_tables.external_tables import CHANGES, kinds_there, with_external_tables
from twinhive.hive.wire.message_renaming import struct_of
from twinhive.hive.wire.renamed_chunks import RenamedPieces
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.thrift_message import WireError

PURGED = {"external.table.purge": "TRUE", "auto.purge": "true", "comment": "auto.purge"}
ICEBERG = {"table_type": "iceberg", "gc.enabled": "true", "metadata_location": "hdfs://there/m"}
TOLD: dict[str, tuple[str | None, dict[str, str] | None, str | None, dict[str, str] | None]] = {
    "managed": ("MANAGED_TABLE", {"a": "b"}, "EXTERNAL_TABLE", {"a": "b", "EXTERNAL": "TRUE"}),
    "without parameters": ("MANAGED_TABLE", None, "EXTERNAL_TABLE", {"EXTERNAL": "TRUE"}),
    "says no": ("MANAGED_TABLE", {"EXTERNAL": "FALSE"}, "EXTERNAL_TABLE", {"EXTERNAL": "TRUE"}),
    "purged": ("EXTERNAL_TABLE", PURGED, "EXTERNAL_TABLE", {"comment": "auto.purge", "EXTERNAL": "TRUE"}),
    # Who reads an ACID table asks this parameter, and not the type, whether rows are in delta directories.
    "ACID": (
        *("MANAGED_TABLE", {"transactional": "true"}),
        *("EXTERNAL_TABLE", {"transactional": "true", "EXTERNAL": "TRUE"}),
    ),
    "Iceberg": ("EXTERNAL_TABLE", ICEBERG, "EXTERNAL_TABLE", {**ICEBERG, "gc.enabled": "false", "EXTERNAL": "TRUE"}),
    "a kind of tomorrow": ("NEW_TABLE", {}, "EXTERNAL_TABLE", {"EXTERNAL": "TRUE"}),
    "view": ("VIRTUAL_VIEW", {"a": "b"}, "VIRTUAL_VIEW", {"a": "b"}),
    "materialized view": ("MATERIALIZED_VIEW", PURGED, "MATERIALIZED_VIEW", {"comment": "auto.purge"}),
    "some fields only": (None, None, None, None),
}


def _table(name: str, kind: str | None, parameters: dict[str, str] | None) -> ttypes.Table:
    sd = ttypes.StorageDescriptor(location="hdfs://there/MANAGED_TABLE", parameters={"external.table.purge": "TRUE"})
    return ttypes.Table(tableName=name, dbName="sales", sd=sd, parameters=parameters, tableType=kind)


@pytest.mark.parametrize("name", TOLD)
def test_what_clients_are_told_of_each_kind(name: str) -> None:
    kind, parameters, told, left = TOLD[name]
    one = answer("get_table_req", ttypes.GetTableResult(_table("t", kind, parameters)))
    some = answer("get_table_objects_by_name_req", ttypes.GetTablesResult([_table("t", kind, parameters)] * 2))
    expected = _table("t", told, left)
    for message in (one, some):
        result = decoded(struct_class(message), with_external_tables(message).body).success
        assert {repr(table) for table in (result.tables if message is some else [result.table])} == {repr(expected)}


def test_a_list_that_is_handed_on_as_it_comes_says_the_same() -> None:
    tables = [_table(f"t{at}", *TOLD[name][:2]) for at in range(40) for name in TOLD]
    message = answer("get_table_objects_by_name_req", ttypes.GetTablesResult(tables))
    expected = with_external_tables(message).body
    for size in (7, 1_000, len(message.body)):
        for renames in (Renames(), Renames({"sales": "far"})):
            pieces, came = RenamedPieces(struct_of(message), renames, 1 << 30, CHANGES), b""
            for at in range(0, len(message.body), size):
                pieces.feed(message.body[at : at + size])
                came += pieces.taken()
            found, wanted = (decoded(struct_class(message), body).success.tables for body in (came, expected))
            assert {one.dbName for one in found} == {"sales" if renames.nothing else "far"}
            assert [(one.tableType, one.parameters) for one in found] == [
                (one.tableType, one.parameters) for one in wanted
            ]


def test_a_table_that_is_too_large_to_be_changed_breaks_the_answer_off() -> None:
    large = _table("t", "MANAGED_TABLE", {str(at): "x" * 1_000 for at in range(9_000)})
    message = answer("get_table_req", ttypes.GetTableResult(large))
    pieces = RenamedPieces(struct_of(message), Renames(), 1 << 30, CHANGES)
    with pytest.raises(WireError, match="a Table of more than"):
        for at in range(0, len(message.body), 1 << 20):
            pieces.feed(message.body[at : at + (1 << 20)])


@pytest.mark.parametrize(
    ("wanted", "asked"),
    [
        ([], []),
        (["MANAGED_TABLE"], []),
        (["EXTERNAL_TABLE"], ["EXTERNAL_TABLE", "MANAGED_TABLE"]),
        (["MANAGED_TABLE", "VIRTUAL_VIEW"], ["VIRTUAL_VIEW"]),
        (["MANAGED_TABLE", "EXTERNAL_TABLE"], ["EXTERNAL_TABLE", "MANAGED_TABLE"]),
    ],
)
def test_lists_by_kind_have_managed_tables_of_remotes_among_the_external_ones(
    wanted: list[str], asked: list[str]
) -> None:
    assert kinds_there(wanted) == asked


@pytest.fixture(params=[(1 << 20, 60.0), (1 << 20, 0.0), (200, 0.0)], ids=["quick", "held", "in pieces"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    buffered, age = request.param
    made = World(buffered, age=age)
    made.there.tables["sales", "orders"] = _table("orders", "MANAGED_TABLE", dict(PURGED))
    yield made
    made.close()


@pytest.fixture
def client(world: World) -> Iterator[Any]:
    with client_of(world.gateway.port) as made:
        yield made


def test_every_call_that_answers_tables_says_so(world: World, client: Any) -> None:
    for database, name in (("far", "orders"), ("shop", "remote_orders")):
        for _ in "ab":
            one = client.get_table_req(ttypes.GetTableRequest(dbName=database, tblName=name)).table
            assert (one.tableName, one.tableType, one.parameters["EXTERNAL"]) == (name, "EXTERNAL_TABLE", "TRUE")
            assert not one.parameters.keys() & {"external.table.purge", "auto.purge"}
        listed = ttypes.GetTablesRequest(dbName=database, tblNames=[name])
        [one] = client.get_table_objects_by_name_req(listed).tables
        assert (one.tableType, one.parameters) == ("EXTERNAL_TABLE", {"comment": "auto.purge", "EXTERNAL": "TRUE"})
        [one] = client.get_table_objects_by_name(database, [name])
        assert one.tableType == client.get_table(database, name).tableType == "EXTERNAL_TABLE"
    mine = client.get_table("shop", "orders")
    assert (mine.tableType, mine.parameters) == ("EXTERNAL_TABLE", {"comment": ""}), "a local one is as it is"


PURGE = ttypes.EnvironmentContext({"ifPurge": "TRUE"})


def test_a_drop_that_would_delete_the_remotes_files_is_refused_with_the_words_that_take_the_name_away(
    world: World, client: Any
) -> None:
    drop = client.drop_table_with_environment_context
    with pytest.raises(ttypes.MetaException, match=r"PURGE.*; DROP|PURGE.*DROP REMOTE TABLE shop\.remote_orders, said"):
        drop("shop", "remote_orders", True, PURGE)
    assert world.there.asked["get_table_req"] == 0, "whatever it is there"
    for parameters, said in (
        ({"table_type": "ICEBERG"}, "table_type=ICEBERG clients delete the files"),
        ({"storage_handler": "org.x.Handler"}, "storage_handler=org.x.Handler clients delete the files"),
    ):
        world.there.tables["sales", "orders"] = _table("orders", "EXTERNAL_TABLE", parameters)
        for how in (
            lambda: client.drop_table("shop", "remote_orders", False),
            lambda: drop("shop", "remote_orders", True, ttypes.EnvironmentContext({})),
        ):
            with pytest.raises(ttypes.MetaException, match=f"{said}.*DROP REMOTE TABLE shop.remote_orders, said"):
                how()
    assert ("shop", "remote_orders") in world.here.tables
    assert not {name for name in (*world.here.asked, *world.there.asked) if name.startswith("drop")}


def test_a_drop_of_what_nobody_can_tell_is_refused_and_of_what_is_gone_it_is_not(world: World, client: Any) -> None:
    del world.there.tables["sales", "orders"]
    client.drop_table("shop", "remote_orders", True)
    assert ("shop", "remote_orders") not in world.here.tables
    world.there.gate.clear()
    with pytest.raises(ttypes.MetaException, match=r"cannot be told \(remote shop.*DROP REMOTE TABLE"):
        client.drop_table("shop", "remote_orders", True)


def test_dropping_a_plain_remote_table_takes_the_name_away(world: World, client: Any) -> None:
    client.drop_table("shop", "remote_orders", True)
    assert ("shop", "remote_orders") not in world.here.tables
    assert ("sales", "orders") in world.there.tables


def test_clients_that_drop_a_databases_tables_first_are_told_what_works(world: World, client: Any) -> None:
    """Hive's clients before 4 do so for CASCADE. Neither "done" nor "no such table" would be true of it."""
    with pytest.raises(ttypes.MetaException) as said:
        client.drop_table_with_environment_context("far", "orders", True, PURGE)
    assert "DROP DATABASE far CASCADE" in said.value.message and "without CASCADE" in said.value.message
    assert "DROP REMOTE DATABASE far takes the local name away" in said.value.message
    with pytest.raises(ttypes.MetaException) as said:
        client.create_table(ttypes.Table(dbName="far", tableName="new"))
    assert "files that the client wrote, moved or deleted before this call stay so" in said.value.message
    assert "CASCADE" not in said.value.message
    assert world.there.asked["drop_table"] == 0


def test_of_some_fields_a_view_is_no_table() -> None:
    some = ttypes.Table(tableName="v", dbName="sales")
    message = answer("get_table_objects_by_name_req", ttypes.GetTablesResult([some]))
    assert with_external_tables(message).body == encoded(decoded(struct_class(message), message.body))
