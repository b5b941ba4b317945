"""Remotes on real servers where names, rules and gateways are at odds: the right rows, or an error that says why."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from hive_metastore import ttypes
from thrift.Thrift import TApplicationException

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
    spark,
    status_port,
)
from tests.integration.spark_sql import SparkSql
from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from tests.support.wire.wire_metastore import client_of
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.statements.execution import StatementPlace, run_statement
from twinhive.surfaces.cli.app import run

pytestmark = [pytest.mark.sandbox, pytest.mark.spark]
__all__ = ["desk", "gateway", "gateway_port", "gateway_ports", "spark", "status_port"]


def _asked(database: str, table: str) -> ttypes.GetTableRequest:
    return ttypes.GetTableRequest(dbName=database, tblName=table)


@pytest.fixture
def other(desk: Desk, west: Warehouse, east: Warehouse) -> Iterator[str]:
    """Make another database in west, and a remote of it in east under the same name."""
    name = west.create_database("people")
    west.create_table(name, "staff", files={"f": b"x,100\nz,300\n"}, kind="EXTERNAL_TABLE")
    desk.say(f"CREATE REMOTE DATABASE {name} WITH DBPROPERTIES ({{uris}})")
    yield name
    with suppress(ttypes.NoSuchObjectException):
        east.client.drop_database(name, False, True)
    west.client.drop_database(name, True, True)


@pytest.mark.nightly(
    "tests/integration/remotes/test_remotes.py::test_spark_reads_views_of_a_remote_and_never_a_table_that_is_called_so_here",
    "tests/unit/federation/gateway/test_views.py",
)
def test_views_over_two_remotes_are_read_by_spark_and_by_hive(
    desk: Desk, other: str, gateway: int, spark: SparkSql, west: Warehouse, east: Warehouse
) -> None:
    """One that east keeps over remotes of it, and one of west's own over what are two remotes here."""
    desk.say(BOTH)
    there = (
        f"WITH orders AS (SELECT `o`.`a`, `s`.`b` FROM `{desk.sales}`.`orders` `o` "
        f"JOIN `{other}`.`staff` `s` ON `o`.`a` = `s`.`a` /* {desk.sales}.parts */) "
        f"SELECT `orders`.`a` FROM `orders` WHERE `orders`.`b` > 5 AND '{desk.sales}.orders' <> ''"
    )
    west.create_view(desk.sales, "of_both", there)
    here = (
        f"SELECT o.a, s.b AS n, p.day FROM {desk.far}.orders o JOIN {other}.staff s ON o.a = s.a "
        f"CROSS JOIN {desk.shop}.bought p WHERE p.day = '2026-01-03'"
    )
    made, of_east, of_west, text = spark.ask(
        f"CREATE VIEW {desk.shop}.joined AS {here}",
        f"SELECT a, n, day FROM {desk.shop}.joined",
        f"SELECT a FROM {desk.far}.of_both",
        f"SHOW CREATE TABLE {desk.far}.of_both",
    )
    assert (made, of_east, of_west) == ([], [["x", 100, "2026-01-03"]], [["x"]]), (made, of_east, of_west)
    assert f"`{desk.far}`.`orders`" in text[0][0] and f"'{desk.sales}.orders'" in text[0][0]
    uri = f"thrift://127.0.0.1:{gateway}"
    by_hive = run_statements(
        desk.sandbox,
        "east",
        [f"SELECT a FROM {desk.far}.of_both", f"SELECT a, n, day FROM {desk.shop}.joined"],
        {"hive.metastore.uris": uri, "metastore.thrift.uris": uri},
    )
    assert [one.rows for one in by_hive] == [[["x"]], [["x", "100", "2026-01-03"]]]
    east.client.drop_table(desk.shop, "joined", True)


@pytest.mark.thorough
def test_gateways_that_ask_each_other_end_in_an_error_that_says_so(
    desk: Desk, east: Warehouse, west: Warehouse, policies: PolicyFiles, capfd: pytest.CaptureFixture[str]
) -> None:
    """East's remote is a database of west's gateway, which stands for east's remote: whoever asks is told."""
    ours, theirs = free_ports(2)
    addresses = [f"thrift://127.0.0.1:{port}" for port in (ours, theirs)]
    policies.write("remotes.yaml", {"allow": [{"connector": "thrift", "addresses": addresses}]})
    back = f"back_{desk.shop}"
    in_west = StatementPlace(load_configuration(desk.config), resolve_from_environment, "west")
    make = "CREATE REMOTE DATABASE IF NOT EXISTS {} CONNECTED TO {} WITH DBPROPERTIES ('hive.metastore.uris' = '{}')"
    run_statement(make.format(back, desk.far, addresses[0]), in_west, {}, desk.lines.append)
    desk.say(make.format(desk.far, back, addresses[1]))
    desk.say("CREATE REMOTE DATABASE {shop}_well CONNECTED TO {sales} WITH DBPROPERTIES ({uris})")
    try:
        with (
            running_gateway(desk.config, ours),
            running_gateway(desk.config, theirs, "--cluster", "west"),
            client_of(ours) as at_east,
            client_of(theirs) as at_west,
        ):
            for client, database in ((at_east, desk.far), (at_west, back), (at_east, desk.far)):
                with pytest.raises(ttypes.MetaException, match="a circle of gateways: the call came through") as error:
                    client.get_all_tables(database)
                assert f"remote {database} is " in error.value.message
            assert at_east.get_all_tables(desk.shop) == ["own"]
            assert sorted(at_east.get_all_tables(f"{desk.shop}_well")) == ["orders", "parts"]
            rows = at_east.get_table_meta(f"{desk.far}|{desk.shop}*", "*", [])
            assert sorted((row.dbName, row.tableName) for row in rows) == [
                (desk.shop, "own"),
                (f"{desk.shop}_well", "orders"),
                (f"{desk.shop}_well", "parts"),
            ]
            assert run(["remotes", "check", "--cluster", "east", "--config", str(desk.config)]) == 4
            assert "circle of gateways" in " ".join(capfd.readouterr().out.split())
    finally:
        west.client.drop_database(back, False, True)
        east.client.drop_database(f"{desk.shop}_well", False, True)


@pytest.mark.thorough
def test_what_a_remote_may_reach_changes_while_clients_ask(
    desk: Desk, gateway: int, policies: PolicyFiles, sandbox: Sandbox
) -> None:
    """The rights file is read again while the gateway runs; a rule for another connector is none, a user's is one."""
    desk.say(BOTH)
    there = sandbox.clusters["west"]
    address = f"thrift://{there.metastore_host}:{there.metastore_port}"

    def answer() -> str:
        with client_of(gateway) as client:
            client.set_ugi("ann", [])
            try:
                return str(client.get_partition_names(desk.far, "parts", 1))
            except (ttypes.MetaException, TApplicationException) as error:
                return str(error.message)

    is_read = str([f"day={DAYS[0]}"])
    assert answer() == is_read
    policies.write("remotes.yaml", {"clusters": False, "allow": [{"connector": "ssh", "addresses": [address]}]})
    # Each worker reads the file by itself: many clients in a row meet all of them.
    _until(lambda: all("may not be reached" in answer() for _ in range(20)))
    refused = answer()
    assert f"remote {desk.far} cannot be asked" in refused and address in refused
    with client_of(gateway) as client:
        assert sorted(client.get_all_tables(desk.shop)) == ["bought", "own"]
        with pytest.raises(ttypes.MetaException, match="may not be reached"):
            client.get_table_req(_asked(desk.shop, "bought"))
    rule = {"connector": "thrift", "addresses": [address], "identity": "reader"}
    policies.write("remotes.yaml", {"clusters": False, "allow": [rule]})
    _until(lambda: all(answer() == is_read for _ in range(20)))


ODD_COLUMNS = ("a b", "straße", "a.b", "select", "日本", "x`y", "😀")
ODD_VALUES = ("a/b=c", "100%", "é", "a|b", "a*b", "x'y", ' "q" ', "#{}[]\\", "a:b", "日本")


@pytest.mark.nightly(
    "tests/integration/remotes/test_remotes.py::test_spark_joins_local_and_remote_tables_and_prunes_partitions",
    "tests/unit/federation/gateway/test_answers_are_the_owners.py",
)
def test_odd_names_and_values_of_a_remote_are_read_as_its_owner_has_them(
    desk: Desk, gateway: int, spark: SparkSql, west: Warehouse, east: Warehouse
) -> None:
    """Columns and partitions of any characters, one column named as its database; databases as no plain word is."""
    keyword, digits = f"select_{desk.sales}", f"9{desk.sales}"
    for name in (keyword, digits):
        west.client.create_database(ttypes.Database(name=name))
    columns = (*ODD_COLUMNS, desk.sales, desk.far)
    odd = west.create_table(digits, "from", keys=("day",), kind="EXTERNAL_TABLE")
    odd.sd.cols = [ttypes.FieldSchema(name, "string", desk.sales) for name in columns]
    west.client.alter_table(digits, "from", odd)
    for value in ODD_VALUES:
        west.add_partition(odd, value, files={"f": ",".join(columns).encode() + b"\n"})
    west.create_table(keyword, "from", files={"f": b"k,1\n"}, kind="EXTERNAL_TABLE")
    try:
        desk.say(f"CREATE REMOTE DATABASE {{far}} CONNECTED TO `{digits}` WITH DBPROPERTIES ({{uris}})")
        desk.say(f"CREATE REMOTE TABLE {{shop}}.`table` CONNECTED TO `{keyword}`.`from` WITH TBLPROPERTIES ({{uris}})")
        with client_of(gateway) as client:
            found = client.get_table_req(_asked(desk.far, "from")).table
            there = west.client.get_table_req(_asked(digits, "from")).table
            assert [(one.name, one.comment) for one in found.sd.cols] == [(one, desk.sales) for one in columns]
            assert (found.dbName, found.tableName, found.sd) == (desk.far, "from", there.sd)
            names = west.client.get_partition_names(digits, "from", -1)
            assert client.get_partition_names(desk.far, "from", -1) == names and len(names) == len(ODD_VALUES)
            values = [one.values for one in client.get_partitions(desk.far, "from", -1)]
            assert sorted(values) == sorted([value] for value in ODD_VALUES)
            for value in ODD_VALUES:
                one = client.get_partition(desk.far, "from", [value])
                assert (one.dbName, one.values) == (desk.far, [value])
                assert one.sd.location == west.client.get_partition(digits, "from", [value]).sd.location
            by_pattern = client.get_tables(desk.far, "f*|nothing")
            assert by_pattern == ["from"] == client.get_tables(desk.far, "fr.m")
        quoted = ", ".join("`" + one.replace("`", "``") + "`" for one in columns)
        rows, days, counted, of_table = spark.ask(
            f"SELECT DISTINCT {quoted} FROM {desk.far}.`from`",
            f"SELECT day FROM {desk.far}.`from`",
            f"SELECT count(*) FROM {desk.far}.`from` WHERE day IN ('a|b', 'a/b=c', '日本')",
            f"SELECT a, b FROM {desk.shop}.`table`",
        )
        assert rows == [list(columns)], rows
        assert sorted(day for (day,) in days) == sorted(ODD_VALUES)
        assert (counted, of_table) == ([[3]], [["k", 1]])
    finally:
        for name in (keyword, digits):
            west.client.drop_database(name, False, True)


def _until(is_so: Callable[[], bool]) -> None:
    for _ in range(60):
        if is_so():
            return
        time.sleep(0.5)
    raise AssertionError("it is never so")
