"""Say statements about remotes to a real metastore, and read what they make through a gateway."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from hive_metastore import ttypes

from sandbox import Sandbox
from sandbox.gateway import running_gateway
from sandbox.ports import free_ports
from tests.integration.spark_sql import SparkSql, spark_sql, through_gateway
from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.statements.execution import Answer, StatementPlace, plan_statement, run_statement

_PATIENCE_SECONDS = 300
DAYS = tuple(f"2026-01-{day:02}" for day in range(1, 11))
BOTH = (
    "CREATE REMOTE DATABASE {far} CONNECTED TO {sales} WITH DBPROPERTIES ({uris}); "
    "USE {shop}; CREATE REMOTE TABLE bought CONNECTED TO {sales}.parts WITH TBLPROPERTIES ({uris});"
)


class Desk:
    """Say statements to east's metastore about `shop` there and `sales` in west."""

    def __init__(self, sandbox: Sandbox, config: Path, shop: str, sales: str) -> None:
        self.sandbox, self.config, self.shop, self.sales = sandbox, config, shop, sales
        self.far = f"far_{shop}"
        west = sandbox.clusters["west"]
        self.uris = f"'hive.metastore.uris' = 'thrift://{west.metastore_host}:{west.metastore_port}'"
        self.lines: list[str] = []
        self.is_rerun = False

    @property
    def place(self) -> StatementPlace:
        configuration = load_configuration(self.config)
        return StatementPlace(configuration, resolve_from_environment, "east", is_rerun=self.is_rerun)

    def say(self, text: str) -> Answer:
        """Run statements, with {shop}, {sales}, {far} and {uris}."""
        return run_statement(self.meant(text), self.place, {}, self.lines.append)

    def plan(self, text: str) -> list[str]:
        """Return what running them would do."""
        return plan_statement(self.meant(text), self.place)

    def meant(self, text: str) -> str:
        """Put names into a text."""
        return text.format(shop=self.shop, sales=self.sales, far=self.far, uris=self.uris)


@pytest.fixture
def desk(sandbox: Sandbox, policies: PolicyFiles, east: Warehouse, west: Warehouse) -> Iterator[Desk]:
    made = Desk(sandbox, policies.directory, east.create_database("shop"), west.create_database("sales"))
    kind = {"kind": "EXTERNAL_TABLE"}
    # A comment that equals the database's name stays as it is.
    west.create_table(made.sales, "orders", files={"f": b"x,1\ny,2\n"}, comment=made.sales, **kind)
    parts = west.create_table(made.sales, "parts", keys=("day",), **kind)
    for day in DAYS:
        west.add_partition(parts, day, files={"f": f"{day},7\n".encode()})
    east.create_table(made.shop, "own", files={"f": b"x,9\n"}, **kind)
    yield made
    for database in (made.shop, made.far):
        with suppress(ttypes.NoSuchObjectException):
            east.client.drop_database(database, False, True)
    west.client.drop_database(made.sales, False, True)


@pytest.fixture(scope="module")
def gateway_ports() -> tuple[int, ...]:
    """Return the gateway's port, and that of its status."""
    return tuple(free_ports(2))


@pytest.fixture(scope="module")
def gateway_port(gateway_ports: tuple[int, ...]) -> int:
    return gateway_ports[0]


@pytest.fixture(scope="module")
def status_port(gateway_ports: tuple[int, ...]) -> int:
    return gateway_ports[1]


def remote_calls(status_port: int, since: dict[str, int] | None = None) -> dict[str, int]:
    """Return how many calls of each method remotes have answered so far, some more than `since`.

    The workers say what they have counted once a second, on a busy machine later: so it is looked at until two looks
    are the same.
    """
    last, deadline = None, time.monotonic() + _PATIENCE_SECONDS
    while (found := _counted_calls(status_port)) != last or found == since:
        assert time.monotonic() < deadline, f"the gateway says no other calls than {since}"
        last = found
        time.sleep(1.5)
    return found


def _counted_calls(status_port: int) -> dict[str, int]:
    with urlopen(f"http://127.0.0.1:{status_port}/metrics") as answer:
        page = answer.read().decode()
    counted = re.findall(r'calls_total{remote="thrift:[^"]*",method="(\w+)",ending="answered"} (\d+)', page)
    return {method: int(count) for method, count in counted}


@pytest.fixture(scope="module")
def spark(sandbox: Sandbox, gateway_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSql]:
    """Start one session for all: it finds the gateway of each test at the same port."""
    with spark_sql("east", tmp_path_factory.mktemp("spark") / "log", through_gateway(gateway_port)) as session:
        yield session


@pytest.fixture
def gateway(desk: Desk, gateway_port: int, status_port: int) -> Iterator[int]:
    with running_gateway(desk.config, gateway_port, "--workers", "2", "--status-port", str(status_port)):
        yield gateway_port
