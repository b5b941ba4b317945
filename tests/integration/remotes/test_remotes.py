"""Remotes on real metastores: made by statements and other clients, read by clients and Spark through a gateway."""

import json
import time
from collections.abc import Callable
from typing import cast

import pytest
from hive_metastore import ttypes

from sandbox import Sandbox
from sandbox.gateway import running_gateway
from sandbox.hive.peer import run_statements
from sandbox.ports import free_ports
from tests.integration.remotes_desk import (
    BOTH,
    DAYS,
    Desk,
    desk,
    gateway,
    gateway_port,
    gateway_ports,
    remote_calls,
    spark,
    status_port,
)
from tests.integration.spark_sql import SparkSql
from tests.support.hive.metastore_objects import statistics_of
from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from tests.support.wire.wire_metastore import client_of
from twinhive.core.model.errors import AlreadyThere, Missing, Refused, Unreachable
from twinhive.core.model.names import TableName
from twinhive.federation.remotes.local_definitions import LocalDefinitions
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring
from twinhive.surfaces.cli.app import run

pytestmark = [pytest.mark.sandbox, pytest.mark.spark]
__all__ = ["desk", "gateway", "gateway_port", "gateway_ports", "spark", "status_port"]


def test_remotes_are_made_shown_described_and_dropped(desk: Desk, east: Warehouse, west: Warehouse) -> None:
    planned = desk.plan(BOTH)
    assert sum("would create" in line for line in planned) == 2
    assert desk.far not in east.client.get_all_databases()
    desk.say(BOTH)
    assert desk.say("SHOW REMOTE TABLES IN {shop}").rows == (("bought", f"{desk.sales}.parts", "thrift"),)
    assert (desk.far, desk.sales, "thrift") in desk.say("SHOW REMOTE DATABASES").rows
    rows = dict(row[:2] for row in desk.say("DESCRIBE {shop}.bought").rows)
    assert rows["Location"] == west.client.get_table_req(_asked(desk.sales, "parts")).table.sd.location
    assert (rows["state"], rows["twinhive_remote"]) == ("there", f"{desk.sales}.parts")
    assert dict(row[:2] for row in desk.say("DESCRIBE {far}").rows)["state"] == "there"
    desk.say("DROP REMOTE TABLE {shop}.bought; DROP REMOTE DATABASE {far}")
    assert desk.say("SHOW REMOTE TABLES IN {shop}").rows == ()
    assert "parts" in west.client.get_all_tables(desk.sales)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("CREATE REMOTE TABLE {shop}.t CONNECTED TO {sales}.nothing WITH TBLPROPERTIES ({uris})", Missing, "not there"),
        ("CREATE REMOTE TABLE {shop}.t CONNECTED TO no.orders WITH TBLPROPERTIES ({uris})", Missing, "not there"),
        ("CREATE REMOTE DATABASE {far} CONNECTED TO nothing WITH DBPROPERTIES ({uris})", Missing, "not there"),
        ("CREATE REMOTE TABLE nowhere.t CONNECTED TO {sales}.orders WITH TBLPROPERTIES ({uris})", Missing, "nowhere"),
        ("CREATE REMOTE TABLE {shop}.own CONNECTED TO {sales}.orders WITH TBLPROPERTIES ({uris})", AlreadyThere, "own"),
        (
            "CREATE REMOTE DATABASE {shop} CONNECTED TO {sales} WITH DBPROPERTIES ({uris})",
            AlreadyThere,
            "there already",
        ),
        (
            "CREATE REMOTE TABLE {shop}.t CONNECTED TO a.b "
            "WITH TBLPROPERTIES ('hive.metastore.uris' = 'thrift://192.0.2.1:9083')",
            Refused,
            "may not be reached",
        ),
        ("DROP REMOTE TABLE {shop}.own", Missing, "no remote table"),
        ("DROP REMOTE DATABASE {shop}", Missing, "no remote database"),
    ],
)
def test_what_cannot_be_made_or_dropped_changes_nothing(
    desk: Desk, east: Warehouse, text: str, error: type[Exception], says: str
) -> None:
    before = east.client.get_current_notificationEventId().eventId
    with pytest.raises(error, match=says):
        desk.say(text)
    assert east.client.get_current_notificationEventId().eventId == before


def test_a_remote_that_is_away_is_refused_or_kept_unasked_and_described_as_away(
    desk: Desk, policies: PolicyFiles, east: Warehouse
) -> None:
    policies.write("remotes.yaml", {"allow": [{"connector": "thrift", "addresses": ["thrift://127.0.0.1:1"]}]})
    away = "CONNECTED TO a.b WITH TBLPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')"
    with pytest.raises(Unreachable, match="does not answer"):
        desk.say(f"CREATE REMOTE TABLE {{shop}}.away {away}")
    assert "away" not in east.client.get_all_tables(desk.shop)
    for said in ("kept all the same", "there already, just so"):
        desk.say(f"CREATE REMOTE TABLE IF NOT EXISTS {{shop}}.away {away}")
        assert any(said in line for line in desk.lines)
    rows = dict(row[:2] for row in desk.say("DESCRIBE {shop}.away").rows)
    assert rows["state"].startswith("away: ")
    assert rows["stands for"] == "a.b"
    desk.say("DROP REMOTE TABLE {shop}.away")
    assert "away" not in east.client.get_all_tables(desk.shop)


def test_a_task_that_is_cleared_passes_over_what_it_has_done(desk: Desk, east: Warehouse) -> None:
    """Killed after any of its statements, it comes to the same end; another remote of the name is refused as ever."""
    uri = f"thrift://{desk.sandbox.clusters['west'].metastore_host}:{desk.sandbox.clusters['west'].metastore_port}"
    connector = f"r_{desk.shop}"
    make = [f"CREATE CONNECTOR {connector} TYPE 'twinhive' URL '{uri}'", *BOTH.split("; ", 1)]
    drop = [f"DROP CONNECTOR {connector}", "DROP REMOTE TABLE {shop}.bought", "DROP REMOTE DATABASE {far}"]
    for statements, is_there in ((make, True), (drop, False), (make, True)):
        desk.is_rerun = False
        desk.say(statements[0])
        desk.is_rerun = True
        for _ in ("killed after the first", "killed after the last"):
            desk.say("; ".join(statements))
            assert (desk.far in east.client.get_all_databases()) is is_there
    other = BOTH.replace(".parts", ".orders")
    with pytest.raises(AlreadyThere, match="bought"):
        desk.say(other)
    with pytest.raises(AlreadyThere, match=connector):
        desk.say(f"CREATE CONNECTOR {connector} TYPE 'twinhive' URL 'thrift://127.0.0.1:1'")
    desk.say("; ".join(drop))


def test_remotes_that_other_clients_have_made_are_remotes(desk: Desk, east: Warehouse) -> None:
    east.create_view(desk.shop, "theirs", "SELECT 1")
    view = east.client.get_table_req(_asked(desk.shop, "theirs")).table
    view.parameters |= {"twinhive_remote": f"{desk.sales}.orders"}
    east.client.alter_table(desk.shop, "theirs", view)
    assert desk.say("SHOW REMOTE TABLES IN {shop}").rows == (("theirs", f"{desk.sales}.orders", "thrift"),)


def _asked(database: str, table: str) -> ttypes.GetTableRequest:
    return ttypes.GetTableRequest(dbName=database, tblName=table)


def test_a_client_reads_remotes_as_their_owner_has_them(
    desk: Desk, gateway: int, west: Warehouse, east: Warehouse
) -> None:
    desk.say(BOTH)
    names = {(desk.far, "parts"): "parts", (desk.shop, "bought"): "parts", (desk.far, "orders"): "orders"}
    with client_of(gateway) as client:
        client.set_ugi("hive", [])
        for (database, table), there in names.items():
            found = client.get_table_req(_asked(database, table)).table
            expected = west.client.get_table_req(_asked(desk.sales, there)).table
            assert (found.dbName, found.tableName) == (database, table)
            found.dbName, found.tableName = expected.dbName, expected.tableName
            added = found.parameters.keys() - expected.parameters.keys()
            assert added == {"twinhive_remote", "twinhive_remote_via", "hive.metastore.uris"}
            found.parameters = expected.parameters
            assert found == expected
            listed = client.get_partitions(database, table, -1) if there == "parts" else []
            assert {(one.dbName, one.tableName) for one in listed} <= {(database, table)}
            assert [one.sd.location for one in listed] == [
                one.sd.location for one in (west.client.get_partitions(desk.sales, there, -1) if listed else [])
            ]
        assert client.get_partition_names(desk.shop, "bought", -1) == [f"day={day}" for day in DAYS]
        with pytest.raises(ttypes.MetaException, match="read only"):
            client.drop_table(desk.far, "orders", True)
        assert sorted(client.get_all_tables(desk.far)) == ["orders", "parts"]
        client.drop_table(desk.shop, "bought", True)
    assert "parts" in west.client.get_all_tables(desk.sales)
    assert "bought" not in east.client.get_all_tables(desk.shop)


@pytest.mark.thorough
def test_check_says_which_replicas_a_remote_has_and_whether_they_equal_it(
    desk: Desk, policies: PolicyFiles, west: Warehouse, east: Warehouse, capfd: pytest.CaptureFixture[str]
) -> None:
    west.create_table(desk.sales, "kept", files={"f": b"x,1\n"})
    twin = f"twin_{desk.sales}"
    sides = {"source": {"cluster": "west", "database": desk.sales}, "replica": {"cluster": "east", "database": twin}}
    more = {"options": {"second_look_seconds": 0}, "external_tables": {"include": False}}
    policies.write("policies/back.yaml", {"policy": "back", **sides, **more})
    policies.run("back")
    desk.say(BOTH)
    check = ["remotes", "check", "--cluster", "east", "--config", str(policies.directory)]
    try:
        assert run([*check, "--json"]) == 0
        found = {one["local"]: one for one in json.loads(capfd.readouterr().out)["remotes"]}
        [equal] = found[desk.far]["twins"]
        assert (equal["policy"], equal["replica"], equal["equal"]) == ("back", f"east/{twin}", True)
        # Its remote table is an external one, which the policy leaves out.
        [left_out] = found[f"{desk.shop}.bought"]["twins"]
        assert left_out["trouble"] and not left_out["equal"]
        bought = west.client.get_table_req(_asked(desk.sales, "parts")).table
        said = found[f"{desk.shop}.bought"]
        assert (said["remote_kind"], said["location"]) == ("EXTERNAL_TABLE", bought.sd.location)
        assert found[desk.far]["metastore"] == policies.wiring("back").write_ports().source.log_id()
        east.client.drop_table(twin, "kept", True)
        run(check)
        assert run(check) == 4
        said = capfd.readouterr().out
        assert "NOT EQUAL" in said and "first seen" in said and "twinhive repair back kept" in said
    finally:
        # It also takes the mark away that keeps the source from being dropped.
        assert run(["forget", "back", "--config", str(policies.directory)]) == 0
        east.client.drop_database(twin, True, True)


def test_spark_joins_local_and_remote_tables_and_prunes_partitions(desk: Desk, gateway: int, spark: SparkSql) -> None:
    desk.say(BOTH)
    view = (
        f"CREATE VIEW {desk.shop}.by_view TBLPROPERTIES ('twinhive_remote' = '{desk.sales}.orders', "
        f"{desk.uris}) AS SELECT raise_error('use the gateway') AS x"
    )
    tables, joined, pruned, _, through_view, described = spark.ask(
        f"SHOW TABLES IN {desk.far}",
        f"SELECT o.a, o.b, w.b FROM {desk.far}.orders o JOIN {desk.shop}.own w ON o.a = w.a",
        f"SELECT a, b FROM {desk.shop}.bought WHERE day > '2026-01-08' ORDER BY a",
        view,
        f"SELECT count(*) FROM {desk.shop}.by_view",
        f"DESCRIBE {desk.shop}.bought",
    )
    assert [row[1] for row in tables] == ["orders", "parts"]
    assert joined == [["x", 1, 9]]
    assert pruned == [["2026-01-09", 7], ["2026-01-10", 7]]
    assert through_view == [[2]]
    assert ["day", "string", None] in described


@pytest.mark.thorough
def test_of_a_remote_table_spark_asks_for_the_partitions_that_it_reads(
    desk: Desk, gateway: int, status_port: int, spark: SparkSql
) -> None:
    desk.say(BOTH)
    query = f"SELECT b FROM {desk.shop}.bought"
    spark.ask(query)
    before = remote_calls(status_port)
    [rows] = spark.ask(f"{query} WHERE day = '{DAYS[3]}'")
    after = remote_calls(status_port, before)
    assert rows == [[7]]
    asked = {method for method, count in after.items() if count > before.get(method, 0)}
    assert "get_partitions_by_filter_req" in asked
    assert {one for one in asked if one.startswith("get_partitions")} == {"get_partitions_by_filter_req"}


@pytest.mark.thorough
def test_a_remote_is_dropped_by_spark_at_the_gateway_and_by_who_asks_the_metastore_itself(
    desk: Desk, gateway: int, spark: SparkSql, east: Warehouse, west: Warehouse
) -> None:
    """At the gateway it is a table, and no view; at the metastore it is the view that keeps it."""
    desk.say(BOTH)
    refused, dropped, tables = spark.ask(
        f"DROP VIEW {desk.shop}.bought", f"DROP TABLE {desk.shop}.bought", f"SHOW TABLES IN {desk.shop}"
    )
    assert "DROP TABLE" in str(refused)
    assert (dropped, [row[1] for row in tables]) == ([], ["own"])
    [gone] = spark.ask(f"DROP DATABASE {desk.far}")
    assert gone == []
    assert desk.far not in east.client.get_all_databases()
    desk.say(BOTH)
    run_statements(desk.sandbox, "east", [f"DROP VIEW {desk.shop}.bought"])
    assert east.client.get_all_tables(desk.shop) == ["own"]
    with client_of(gateway) as client:
        _until(lambda: client.get_all_tables(desk.shop) == ["own"])
        with pytest.raises(ttypes.NoSuchObjectException):
            client.get_table_req(_asked(desk.shop, "bought"))
    assert sorted(west.client.get_all_tables(desk.sales)) == ["orders", "parts"]
    assert len(west.client.get_partition_names(desk.sales, "parts", -1)) == len(DAYS)


def test_a_second_gateway_knows_what_is_defined_at_the_first(desk: Desk, gateway: int) -> None:
    """After five seconds at most, on a slow machine more; a table that is looked at is known at once."""
    (other,) = free_ports(1)
    with running_gateway(desk.config, other), client_of(gateway) as first, client_of(other) as second:
        assert first.get_all_tables(desk.shop) == second.get_all_tables(desk.shop) == ["own"]
        view = ttypes.Table(
            dbName=desk.shop,
            tableName="theirs",
            tableType="VIRTUAL_VIEW",
            viewOriginalText="SELECT 1",
            viewExpandedText="SELECT 1",
            sd=ttypes.StorageDescriptor(cols=[ttypes.FieldSchema("x", "int", "")], serdeInfo=ttypes.SerDeInfo()),
            parameters={"twinhive_remote": f"{desk.sales}.parts", **_uris(desk)},
        )
        first.create_table_req(ttypes.CreateTableRequest(view))
        assert len(first.get_partition_names(desk.shop, "theirs", -1)) == len(DAYS)
        began = time.monotonic()
        _until(lambda: len(second.get_partition_names(desk.shop, "theirs", -1)) == len(DAYS))
        print(f"known to the second gateway after {time.monotonic() - began:.1f} s")
        assert second.get_table_req(_asked(desk.shop, "theirs")).table.tableType == "EXTERNAL_TABLE"
        assert second.get_tables_by_type(desk.shop, "*", "VIRTUAL_VIEW") == []
        kinds = {row.tableName: row.tableType for row in second.get_table_meta(desk.shop, "*", [])}
        assert kinds == {"own": "EXTERNAL_TABLE", "theirs": "EXTERNAL_TABLE"}
        second.drop_table(desk.shop, "theirs", True)
        _until(lambda: first.get_all_tables(desk.shop) == ["own"])


@pytest.mark.nightly(
    "tests/unit/federation/gateway/test_faults.py::test_no_wrong_row_whatever_happens_to_remotes_and_recovery_by_itself"
)
def test_remotes_outlive_the_metastores_and_the_gateway(
    desk: Desk, gateway_port: int, sandbox: Sandbox, east: Warehouse, west: Warehouse
) -> None:
    """Nothing of a remote is kept in a gateway: whatever is started again, and in whatever order, answers as before."""

    def restart(*names: str) -> None:
        for name in names:
            sandbox.stop(name)
        for name in names:
            sandbox.start(name)
        east.reconnect()
        west.reconnect()

    def answers() -> tuple[object, ...]:
        with client_of(gateway_port) as client:
            bought = client.get_table_req(_asked(desk.shop, "bought")).table
            return (
                set(client.get_all_tables(desk.shop)),
                sorted(client.get_all_tables(desk.far)),
                (bought.dbName, bought.tableName, bought.tableType, bought.sd.location, bought.parameters),
                client.get_partition_names(desk.shop, "bought", -1),
                client.get_table_req(_asked(desk.far, "orders")).table,
            )

    desk.say(BOTH)
    with running_gateway(desk.config, gateway_port):
        before = answers()
        restart("east-metastore", "west-metastore")
        assert answers() == before
    restart("east-metastore", "west-metastore")
    with running_gateway(desk.config, gateway_port):
        assert answers() == before
    assert before[0] == {"own", "bought"}
    assert len(cast("list[str]", before[3])) == len(DAYS)


def _uris(desk: Desk) -> dict[str, str]:
    [key, value] = [one.strip(" '") for one in desk.uris.split("=")]
    return {key: value}


def _until(is_so: Callable[[], bool]) -> None:
    for _ in range(60):
        if is_so():
            return
        time.sleep(0.5)
    raise AssertionError("it is never so")


def test_spark_that_writes_to_a_remote_is_refused_and_its_files_are_stopped_by_rights_alone(
    desk: Desk, gateway: int, spark: SparkSql, west: Warehouse
) -> None:
    """Spark has written and moved files before it tells the metastore; a new partition stays unknown, and is no row."""
    desk.say(BOTH)
    before = west.client.get_table_req(_asked(desk.sales, "parts")).table
    *refused, rows = spark.ask(
        f"INSERT INTO {desk.far}.parts PARTITION (day = '2026-02-01') VALUES ('z', 1)",
        f"INSERT OVERWRITE {desk.shop}.bought PARTITION (day = '2026-02-02') VALUES ('z', 1)",
        f"ALTER TABLE {desk.far}.parts SET TBLPROPERTIES ('a' = 'b')",
        f"ALTER TABLE {desk.far}.parts DROP PARTITION (day = '{DAYS[0]}')",
        f"CREATE TABLE {desk.far}.new (a INT)",
        f"DROP TABLE {desk.far}.parts",
        f"SELECT count(*) FROM {desk.far}.parts",
    )
    assert ["read only" in str(one) for one in refused] == [True] * len(refused), refused
    assert rows == [[len(DAYS)]]
    assert west.client.get_table_req(_asked(desk.sales, "parts")).table == before
    assert west.client.get_partition_names(desk.sales, "parts", -1) == [f"day={day}" for day in DAYS]


def test_spark_reads_views_of_a_remote_and_never_a_table_that_is_called_so_here(
    desk: Desk, gateway: int, spark: SparkSql, west: Warehouse, east: Warehouse
) -> None:
    """Of three views in west one reads what is remote here, one is by Spark's notes, one reads what is east's own."""
    text = f"SELECT `orders`.`a` FROM `{desk.sales}`.`orders` WHERE '{desk.sales}' <> '' -- {desk.sales}"
    west.create_view(desk.sales, "by_name", text)
    west.create_view(desk.sales, "by_note", "SELECT a FROM orders")
    noted = west.client.get_table_req(_asked(desk.sales, "by_note")).table
    parts = {"numParts": "2", "part.0": "spark_catalog", "part.1": desk.sales}
    noted.parameters |= {f"view.catalogAndNamespace.{key}": value for key, value in parts.items()}
    noted.parameters |= {"view.query.out.numCols": "1", "view.query.out.col.0": "a"}
    west.client.alter_table(desk.sales, "by_note", noted)
    west.create_view(desk.sales, "of_east", f"SELECT a FROM {desk.shop}.own")
    desk.say(BOTH)
    by_name, by_note, types = spark.ask(
        f"SELECT a FROM {desk.far}.by_name ORDER BY a",
        f"SELECT a FROM {desk.far}.by_note ORDER BY a",
        f"SHOW VIEWS IN {desk.far}",
    )
    assert by_name == by_note == [["x"], ["y"]]
    assert {row[1] for row in types} == {"by_name", "by_note", "of_east"}
    with client_of(gateway) as client, pytest.raises(ttypes.MetaException, match="something else here"):
        client.get_table_req(_asked(desk.far, "of_east"))


def test_hive_4s_words_make_a_connector_and_a_database_that_uses_it(
    desk: Desk, gateway: int, east: Warehouse, west: Warehouse
) -> None:
    uri = f"thrift://{desk.sandbox.clusters['west'].metastore_host}:{desk.sandbox.clusters['west'].metastore_port}"
    connector = f"c_{desk.shop}"
    make = f"CREATE CONNECTOR {connector} TYPE 'twinhive' URL '{uri}'"
    with pytest.raises(Refused, match="mysql"):
        desk.say(f"CREATE CONNECTOR {connector} TYPE 'mysql' URL 'jdbc:x'")
    with pytest.raises(Refused, match="may not be reached"):
        desk.say(f"CREATE CONNECTOR {connector} TYPE 'twinhive' URL 'thrift://192.0.2.1:9083'")
    assert any("would create connector" in line for line in desk.plan(make))
    desk.say(make)
    with pytest.raises(AlreadyThere):
        desk.say(make)
    use = f"CREATE REMOTE DATABASE {{far}} USING {connector} WITH DBPROPERTIES ('connector.remoteDbName' = '{{sales}}')"
    try:
        assert (connector, "twinhive", uri) in desk.say("SHOW CONNECTORS").rows
        desk.say(use)
        kept = east.client.get_database(desk.far)
        assert (kept.connector_name, kept.parameters["connector.remoteDbName"]) == (connector, desk.sales)
        assert (desk.far, desk.sales, "thrift") in desk.say("SHOW REMOTE DATABASES").rows
        with client_of(gateway) as client:
            assert sorted(client.get_all_tables(desk.far)) == ["orders", "parts"]
        with pytest.raises(Refused, match="databases use it"):
            desk.say(f"DROP CONNECTOR {connector}")
        desk.say("DROP REMOTE DATABASE {far}")
        by_hive = ttypes.Database(  # as HiveServer2 makes it
            name=desk.far,
            type=ttypes.DatabaseType.REMOTE,
            connector_name=connector,
            parameters={"connector.remoteDbName": desk.sales},
        )
        east.client.create_database(by_hive)
        assert (desk.far, desk.sales, "thrift") in desk.say("SHOW REMOTE DATABASES").rows
        desk.say("DROP REMOTE DATABASE {far}")
    finally:
        desk.say(f"DROP REMOTE DATABASE IF EXISTS {{far}}; DROP CONNECTOR {connector}")
    with pytest.raises(Missing, match="no connector"):
        desk.say(use)


def test_what_others_define_is_known_from_the_log(desk: Desk, east: Warehouse) -> None:
    wiring = RemotesWiring(load_configuration(desk.config), "east", resolve_from_environment)
    reader = wiring.reader
    local = LocalDefinitions(reader, time.monotonic)
    assert local.read() == wiring.definitions()
    before = reader.newest_event()
    assert before is not None
    parts = east.create_table(desk.shop, "parts", keys=("day",), kind="EXTERNAL_TABLE")
    made = reader.newest_event()
    assert made is not None
    assert reader.databases_changed_after(before) == {desk.shop}
    for day in DAYS:
        east.add_partition(parts, day)
    assert reader.newest_event() >= made + len(DAYS)
    assert reader.databases_changed_after(made) == set(), "partitions define nothing"
    table = wiring.metastore.table(TableName(desk.shop, "parts"))
    assert table is not None
    noted = reader.newest_event()
    wiring.metastore.set_statistics(table.name, statistics_of(table, table.columns[0][0]))
    assert reader.newest_event() > (noted or 0)
    assert reader.databases_changed_after(made) == set(), "statistics neither"
    desk.say(BOTH)
    assert reader.databases_changed_after(made) == {desk.shop, desk.far}
    assert local.read() == wiring.definitions()
    assert desk.far in local.read().databases
    desk.say("DROP REMOTE DATABASE {far}; DROP REMOTE TABLE {shop}.bought")
    assert local.read() == wiring.definitions()
    assert desk.far not in local.read().databases


def test_a_dry_run_sees_what_the_statements_before_would_have_made(desk: Desk, east: Warehouse) -> None:
    """Whatever a script does, its dry run says, or refuses with the same words; and it changes nothing."""
    uri = f"thrift://{desk.sandbox.clusters['west'].metastore_host}:{desk.sandbox.clusters['west'].metastore_port}"
    connector = f"d_{desk.shop}"
    make = f"CREATE CONNECTOR {connector} TYPE 'twinhive' URL '{uri}'"
    use = f"CREATE REMOTE DATABASE {{far}} USING {connector} WITH DBPROPERTIES ('connector.remoteDbName' = '{{sales}}')"
    table = "CREATE REMOTE TABLE {shop}.t CONNECTED TO {sales}.orders WITH TBLPROPERTIES ({uris})"
    gone = "DROP REMOTE TABLE {shop}.t"
    again = f"CREATE CONNECTOR IF NOT EXISTS {connector} TYPE 'twinhive' URL '{uri}'"
    away = f"DROP REMOTE DATABASE {{far}}; DROP CONNECTOR {connector}"
    good = (
        f"{make}; {use}; USE {{far}}; DESCRIBE orders; SHOW REMOTE DATABASES; {away}",
        f"{make}; {use}; {away}; {make}; {use}; {away}",
        f"{table}; {gone}; {table}; {gone}; DROP REMOTE TABLE IF EXISTS {{shop}}.t",
        f"{make}; {again}; SHOW CONNECTORS; DROP CONNECTOR {connector}",
        f"{table}; {table.replace('TABLE', 'TABLE IF NOT EXISTS', 1)}; DROP REMOTE TABLE {{shop}}.t",
    )
    for text in good:
        before = east.client.get_current_notificationEventId().eventId
        planned = [line.removeprefix("would ") for line in desk.plan(text)]
        assert east.client.get_current_notificationEventId().eventId == before
        desk.lines.clear()
        desk.say(text)
        done = [line.removeprefix("done: ") for line in desk.lines]
        assert planned[: len(done)] == done
    bad = (
        (f"{table}; {table}", AlreadyThere, "DROP REMOTE TABLE {shop}.t"),
        (f"{make}; {make}", AlreadyThere, f"DROP CONNECTOR {connector}"),
        (f"{make}; {use}; DROP CONNECTOR {connector}", Refused, away),
        (f"{make}; DROP CONNECTOR {connector}; {use}", Missing, "USE default"),
        (f"{table}; DROP REMOTE TABLE {{shop}}.t; DROP REMOTE TABLE {{shop}}.t", Missing, "USE default"),
        (f"{make}; {use}; CREATE REMOTE TABLE {{far}}.t CONNECTED TO a.b", Refused, away),
        (f"{make}; {use}; DROP REMOTE TABLE {{far}}.orders", Missing, away),
        (f"{make}; {use}; DROP REMOTE DATABASE {{far}}; USE {{far}}", Missing, f"DROP CONNECTOR {connector}"),
    )
    for text, error, mend in bad:
        with pytest.raises(error) as planned_error:
            desk.plan(text)
        with pytest.raises(error) as run_error:
            desk.say(text)
        assert planned_error.value.words.what == run_error.value.words.what
        desk.say(mend)
