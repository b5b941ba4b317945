"""Who knows Waggle Dance follows docs/remotes.md: each row of its table, with Spark and with Hive's own client."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from hive_metastore import ttypes

from sandbox import Sandbox
from sandbox.gateway import running_gateway
from sandbox.ports import free_ports
from tests.integration.remotes_desk import Desk, desk
from tests.integration.spark_sql import SparkSql, spark_sql, through_gateway
from tests.support.policies import PolicyFiles
from tests.support.servers.ssh_servers import RunningSsh, running_ssh
from tests.support.users.warehouse import Warehouse
from tests.support.wire.wire_metastore import client_of

pytestmark = pytest.mark.sandbox
__all__ = ["desk"]

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "remotes.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## From Waggle Dance\n")[2].partition("\n## ")[0]
[GATEWAY, BLOCK] = re.findall(r"```bash\n(.*?)```", SECTION, re.DOTALL)
NOT_TYPED = ".venv/bin/python -m demo.remote_join"
"""The test's own Spark stands for this line."""


@dataclass
class Walk:
    """The section's commands, typed at the databases of a test."""

    desk: Desk
    port: int
    status: int
    spark: SparkSql
    west: Warehouse
    ssh: RunningSsh

    def type(self, text: str) -> str:
        """Run lines of the page in a shell; return what they print."""
        names = (
            (r"\.venv/bin/python", sys.executable),
            ("9093", str(self.port)),
            ("9094", str(self.status)),
            (r"\b(f|a)\.carrier", r"\1.a"),
            ("west_flights", self.desk.far),
            (r"default\.west_airlines", f"{self.desk.shop}.west_airlines"),
            (r"\bflights(?=\.airlines| WITH)", self.desk.sales),
        )
        for there, here in names:
            text = re.sub(there, here, text)
        connections = {**os.environ, **self.desk.sandbox.environment(), "TWINHIVE_CONFIG": str(self.desk.config)}
        bin_directory = str(Path(sys.executable).parent)
        paths = {"PATH": f"{bin_directory}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT}/plugins:{ROOT}"}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            env={**connections, **paths, "TWINHIVE_SANDBOX": self.desk.sandbox.name},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr[-3000:]}"
        return done.stdout

    def client(self) -> Any:
        return client_of(self.port)


def _primary(walk: Walk) -> None:
    [rows] = walk.spark.ask(f"SELECT a, b FROM {walk.desk.shop}.own")
    assert rows == [["x", 9]]


def _prefix(walk: Walk) -> None:
    [rows] = walk.spark.ask(f"SELECT a, b FROM {walk.desk.far}.flights ORDER BY a")
    assert rows == [["x", 1], ["y", 2]]


def _databases(walk: Walk) -> None:
    with walk.client() as client:
        seen = set(client.get_all_databases())
    assert walk.desk.far in seen and walk.desk.sales not in seen


def _tables(walk: Walk) -> None:
    [rows] = walk.spark.ask(f"SELECT a FROM {walk.desk.shop}.west_airlines")
    assert rows == [["x"]]
    with walk.client() as client:
        assert set(client.get_all_tables(walk.desk.shop)) == {"own", "west_airlines"}


def _other_names(walk: Walk) -> None:
    walk.desk.say("CREATE REMOTE TABLE {shop}.carriers CONNECTED TO {sales}.airlines WITH TBLPROPERTIES ({uris})")
    with walk.client() as client:
        asked = ttypes.GetTableRequest(dbName=walk.desk.shop, tblName="carriers")
        table = _until(lambda: client.get_table_req(asked).table, lambda one: one.sd.location.endswith("/airlines"))
    assert (table.dbName, table.tableName) == (walk.desk.shop, "carriers")


def _tunnel(walk: Walk) -> None:
    [server] = walk.ssh.servers
    tunnel = (
        f"{{uris}}, 'ssh.tunnel.route' = '{server.hop}', 'ssh.tunnel.private.keys' = '{server.user}.pem', "
        "'ssh.tunnel.known.hosts' = 'known_hosts'"
    )
    walk.desk.say(f"CREATE REMOTE DATABASE {{far}}_ssh CONNECTED TO {{sales}} VIA 'ssh' WITH DBPROPERTIES ({tunnel})")
    try:
        with walk.client() as client:
            _until(lambda: client.get_all_tables(f"{walk.desk.far}_ssh"), lambda names: "airlines" in names)
        assert server.forwarded
    finally:
        walk.desk.say("DROP REMOTE DATABASE {far}_ssh")


def _read_only(walk: Walk) -> None:
    with walk.client() as client, pytest.raises(ttypes.MetaException, match="read only"):
        client.drop_table(walk.desk.far, "flights", True)
    assert "flights" in walk.west.client.get_all_tables(walk.desk.sales)
    walk.type(
        "! twinhive sql --cluster east \"CREATE REMOTE DATABASE evil WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://192.0.2.1:9083')\""
    )


def _available(walk: Walk) -> None:
    away = "CONNECTED TO {sales} WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')"
    walk.desk.say(f"CREATE REMOTE DATABASE IF NOT EXISTS {{far}}_away {away}")
    try:
        with walk.client() as client:
            said = _until(lambda: _refusal(client, f"{walk.desk.far}_away"), bool)
            assert "thrift://127.0.0.1:1" in said
            assert "flights" in client.get_all_tables(walk.desk.far)
    finally:
        walk.desk.say("DROP REMOTE DATABASE {far}_away")


def _refusal(client: Any, database: str) -> str:
    try:
        client.get_all_tables(database)
    except ttypes.MetaException as error:
        return str(error.message)
    return ""


def _actuator(walk: Walk) -> None:
    with urlopen(f"http://127.0.0.1:{walk.status}/metrics") as answer:
        assert b'ending="answered"' in answer.read()


def _functions(walk: Walk) -> None:
    name = "shout"
    function = ttypes.Function(
        functionName=name,
        dbName=walk.desk.sales,
        className="org.apache.hadoop.hive.ql.udf.generic.GenericUDFUpper",
        ownerType=ttypes.PrincipalType.USER,
        createTime=1,
        functionType=ttypes.FunctionType.JAVA,
        resourceUris=[],
    )
    walk.west.client.create_function(function)
    [rows] = walk.spark.ask(f"SELECT {walk.desk.far}.{name}(a) FROM {walk.desk.far}.airlines")
    assert rows == [["X"]]


ELSEWHERE = {"`glue-config`": "tests/unit/federation/connectors/test_glue.py"}
"""Rows that need a service of others: the tests that run against one that stands for it."""
ROWS: dict[str, Callable[[Walk], None]] = {
    "`primary-meta-store`": _primary,
    "`federated-meta-stores`, `database-prefix`": _prefix,
    "`mapped-databases`": _databases,
    "`mapped-tables`": _tables,
    "`database-name-mapping`": _other_names,
    "`metastore-tunnel`": _tunnel,
    "`access-control-type`, `writable-database-white-list`": _read_only,
    "`latency`, polling of what is available": _available,
    "`/actuator`": _actuator,
    "functions of all metastores": _functions,
}


def _until(look: Callable[[], Any], is_so: Callable[[Any], bool]) -> Any:
    """Ask again until the gateway knows what was made just now: five seconds, on a slow machine more."""
    for _ in range(60):
        try:
            found = look()
        except (ttypes.NoSuchObjectException, ttypes.MetaException):
            found = None
        if found is not None and is_so(found):
            return found
        time.sleep(0.5)
    raise AssertionError(f"it is not so: {found}")


@pytest.fixture
def walk(desk: Desk, policies: PolicyFiles, west: Warehouse, sandbox: Sandbox, tmp_path: Path) -> Iterator[Walk]:
    west.create_table(desk.sales, "flights", files={"f": b"x,1\ny,2\n"})
    west.create_table(desk.sales, "airlines", files={"f": b"x,5\n"})
    keys = policies.directory / "keys"
    keys.mkdir()
    there = sandbox.clusters["west"]
    address = f"thrift://{there.metastore_host}:{there.metastore_port}"
    port, status = free_ports(2)
    with running_ssh(keys, "ann") as ssh:
        through = [f"ssh://127.0.0.1:{ssh.servers[0].port}", address]
        rules = [
            {"connector": "ssh", "addresses": through},
            {"connector": "thrift", "addresses": ["thrift://127.0.0.1:1"]},
        ]
        policies.write("remotes.yaml", {"key_directory": "keys", "allow": rules})
        with (
            running_gateway(desk.config, port, "--status-port", str(status)),
            spark_sql("east", tmp_path / "spark", through_gateway(port)) as spark,
        ):
            yield Walk(desk, port, status, spark, west, ssh)


def test_each_row_of_the_table_is_tried() -> None:
    rows = re.findall(r"^\| (.+?) \| ", SECTION, re.MULTILINE)
    assert rows[0] == "There"
    assert sorted(rows[1:]) == sorted([*ROWS, *ELSEWHERE])
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())


@pytest.mark.nightly(
    "tests/integration/remotes/test_remotes.py::test_spark_joins_local_and_remote_tables_and_prunes_partitions",
    "tests/integration/remotes/test_waggle_dance.py::test_each_row_of_the_table_is_tried",
)
def test_what_is_done_there_is_done_here(walk: Walk) -> None:
    lines = BLOCK.replace("\\\n", "").splitlines()
    typed = [line for line in lines if not line.startswith(NOT_TYPED)]
    assert len(typed) == len(lines) - 1
    [address] = [line for line in typed if line.startswith("west=")]
    [hive] = [line for line in typed if "sandbox peer" in line]
    [*_, drop] = typed
    for line in typed[:-1]:
        said = walk.type(f"{address}\n{line}")
        if line == hive:
            assert "1 rows" in said and "\n1\n" in said
    for title, check in ROWS.items():
        print(title)
        check(walk)
    walk.type(drop)
    with walk.client() as client:
        _until(lambda: walk.desk.far not in client.get_all_databases(), bool)
    assert "flights" in walk.west.client.get_all_tables(walk.desk.sales)
