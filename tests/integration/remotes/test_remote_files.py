"""What clients of a gateway may do to the files of a remote's tables: real servers, Spark, and Hive's own client.

Iceberg's catalog drops a table in two calls, and deletes its files by itself after the second one: the calls are made
here as it makes them.
"""

import json
from collections.abc import Iterator

import pytest
from hive_metastore import ttypes

from sandbox.errors import SandboxError
from sandbox.hive.peer import run_statements
from tests.integration.remotes_desk import (
    BOTH,
    DAYS,
    Desk,
    desk,
    gateway,
    gateway_port,
    gateway_ports,
    spark,
    status_port,
)
from tests.integration.spark_sql import SparkSql
from tests.support.users.warehouse import Warehouse
from tests.support.wire.wire_metastore import client_of
from twinhive.core.model.files import Attributes
from twinhive.core.ports.file_systems import children
from twinhive.surfaces.cli.app import run

pytestmark = [pytest.mark.sandbox, pytest.mark.spark, pytest.mark.thorough]
__all__ = ["desk", "gateway", "gateway_port", "gateway_ports", "spark", "status_port"]

PURGE = ttypes.EnvironmentContext({"ifPurge": "TRUE"})
EAGER = {"external.table.purge": "TRUE", "auto.purge": "true"}


@pytest.fixture
def filled(desk: Desk, west: Warehouse) -> Desk:
    """Give managed tables, and an external one that its owner lets be purged."""
    west.create_table(desk.sales, "plain", files={"f": b"x,1\ny,2\n"})
    days = west.create_table(desk.sales, "days", keys=("day",))
    for day in DAYS[:2]:
        west.add_partition(days, day, files={"f": f"{day},7\n".encode()})
    west.create_table(desk.sales, "purged", files={"f": b"x,1\n"}, kind="EXTERNAL_TABLE", parameters=EAGER)
    desk.say(BOTH)
    desk.say("CREATE REMOTE TABLE {shop}.mine CONNECTED TO {sales}.plain WITH TBLPROPERTIES ({uris})")
    desk.say("CREATE REMOTE TABLE {shop}.other CONNECTED TO {sales}.purged WITH TBLPROPERTIES ({uris})")
    return desk


def _files(desk: Desk, west: Warehouse) -> dict[str, list[str]]:
    """Return the files that the remote's tables have."""
    found = {}
    for name in sorted(west.client.get_all_tables(desk.sales)):
        table = west.client.get_table_req(ttypes.GetTableRequest(dbName=desk.sales, tblName=name)).table
        found[name] = sorted(_below(west, table.sd.location))
    return found


def _below(west: Warehouse, directory: str) -> Iterator[str]:
    for one in children(west.files, directory):
        yield from _below(west, one.path) if one.is_directory else [one.path]


def test_spark_truncates_and_purges_nothing_of_a_remote(
    filled: Desk, gateway: int, spark: SparkSql, west: Warehouse
) -> None:
    before = _files(filled, west)
    far, shop = filled.far, filled.shop
    statements = (
        f"TRUNCATE TABLE {far}.plain",
        f"TRUNCATE TABLE {far}.purged",
        f"TRUNCATE TABLE {far}.days PARTITION (day = '{DAYS[0]}')",
        f"TRUNCATE TABLE {far}.days",
        f"TRUNCATE TABLE {shop}.mine",
        f"TRUNCATE TABLE {shop}.bought PARTITION (day = '{DAYS[0]}')",
        f"ALTER TABLE {far}.days DROP PARTITION (day = '{DAYS[0]}') PURGE",
        f"DROP TABLE {far}.purged PURGE",
        f"DROP TABLE {shop}.mine PURGE",
        f"DROP TABLE {shop}.other PURGE",
    )
    said = spark.ask(*statements)
    assert [statement for statement, one in zip(statements, said, strict=True) if not isinstance(one, str)] == []
    assert _files(filled, west) == before
    for one in said[-2:]:
        assert f"DROP REMOTE TABLE {shop}." in one, one
    dropped, rows = spark.ask(f"DROP TABLE {shop}.mine", f"SELECT count(*) FROM {far}.plain")
    assert (dropped, rows) == ([], [[2]])
    assert _files(filled, west) == before


def test_hives_own_client_truncates_and_purges_nothing_of_a_remote(filled: Desk, gateway: int, west: Warehouse) -> None:
    before = _files(filled, west)
    uri = f"thrift://127.0.0.1:{gateway}"
    settings = {"hive.metastore.uris": uri, "metastore.thrift.uris": uri}
    far, shop = filled.far, filled.shop
    for statement in (
        f"TRUNCATE TABLE {far}.plain",
        f"TRUNCATE TABLE {far}.plain FORCE",
        f"TRUNCATE TABLE {far}.days PARTITION (day = '{DAYS[0]}')",
        f"ALTER TABLE {far}.days DROP PARTITION (day = '{DAYS[0]}') PURGE",
        f"DROP TABLE {far}.purged PURGE",
        f"DROP TABLE {shop}.other PURGE",
    ):
        with pytest.raises(SandboxError):
            run_statements(filled.sandbox, "east", [statement], settings)
    assert _files(filled, west) == before
    [found] = run_statements(filled.sandbox, "east", [f"SELECT count(*) FROM {far}.plain"], settings)
    assert found.rows == [["2"]]


def test_icebergs_catalog_does_not_come_to_delete_files(filled: Desk, gateway: int, west: Warehouse) -> None:
    west.create_table(
        filled.sales, "ice", files={"f": b"x,1\n"}, kind="EXTERNAL_TABLE", parameters={"table_type": "ICEBERG"}
    )
    filled.say("CREATE REMOTE TABLE {shop}.ice CONNECTED TO {sales}.ice WITH TBLPROPERTIES ({uris})")
    before = _files(filled, west)
    with client_of(gateway) as client:
        found = client.get_table(filled.shop, "ice")
        assert (found.tableType, found.parameters["gc.enabled"]) == ("EXTERNAL_TABLE", "false")
        with pytest.raises(ttypes.MetaException, match=f"DROP REMOTE TABLE {filled.shop}.ice, said with twinhive sql"):
            client.drop_table(filled.shop, "ice", False)
    filled.say("DROP REMOTE TABLE {shop}.ice")
    assert _files(filled, west) == before


def test_a_cascade_of_clients_before_4_is_refused_with_words_that_work(
    filled: Desk, gateway: int, east: Warehouse, west: Warehouse
) -> None:
    with client_of(gateway) as client:
        for name in client.get_all_tables(filled.far):
            with pytest.raises(ttypes.MetaException, match="CASCADE: without CASCADE it is the same as") as said:
                client.drop_table_with_environment_context(filled.far, name, True, None)
            assert f"DROP DATABASE {filled.far} CASCADE" in said.value.message
        client.drop_database(filled.far, True, False)
    assert filled.far not in east.client.get_all_databases()
    assert "plain" in west.client.get_all_tables(filled.sales)


def test_check_says_whose_user_could_change_files_whatever_the_gateway_refuses(
    filled: Desk, west: Warehouse, capfd: pytest.CaptureFixture[str]
) -> None:
    """By the rights that HDFS has, one table open to all."""
    table = west.client.get_table_req(ttypes.GetTableRequest(dbName=filled.sales, tblName="plain")).table
    west.files.set_attributes(table.sd.location, Attributes(permission=0o777))
    assert run(["remotes", "check", "--cluster", "east", "--config", str(filled.config), "--json"]) == 0
    found = {one["local"]: one["file_rights"] for one in json.loads(capfd.readouterr().out)["remotes"]}
    [mine] = found[f"{filled.shop}.mine"]
    assert (mine["permission"], mine["may_write"], mine["tables"]) == ("rwxrwxrwx", "every user", ["plain"])
    by_rights = {one["permission"]: one["tables"] for one in found[filled.far]}
    assert by_rights == {"rwxr-xr-x": ["days", "orders", "parts", "purged"], "rwxrwxrwx": ["plain"]}
    status = west.files.status(table.sd.location)
    assert status is not None and {(one["owner"], one["group"]) for one in found[filled.far]} == {
        (status.owner, status.group)
    }
