"""What clients of years ago may do to the files of a remote's tables: Spark 3.3 and Hive 2.3.9.

Each ends its statements in a way of its own: some ask the metastore first, some delete files before or after they ask.
They act as a user who may delete everything, so that no right of HDFS stands in their way.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import Sandbox
from tests.integration.older_clients import OlderClients, older_clients
from tests.integration.remotes.test_remote_files import _files, filled
from tests.integration.remotes_desk import DAYS, Desk, desk, gateway, gateway_port, gateway_ports, status_port
from tests.support.users.warehouse import Warehouse

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.nightly(
        "tests/integration/remotes/test_remotes.py::test_a_client_reads_remotes_as_their_owner_has_them"
    ),
]
__all__ = ["desk", "filled", "gateway", "gateway_port", "gateway_ports", "status_port"]


@pytest.fixture(scope="module")
def older(sandbox: Sandbox, gateway_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OlderClients]:
    """Start them once: they find the gateway of each test at the same port."""
    log = tmp_path_factory.mktemp("older") / "log"
    with older_clients("east", f"thrift://127.0.0.1:{gateway_port}", log) as clients:
        yield clients


def _errors(said: list[Any], requests: list[list[Any]]) -> list[str]:
    """Return the error of each request, all of which have to have one."""
    ended_well = [request for request, one in zip(requests, said, strict=True) if not _is_error(one)]
    assert ended_well == []
    return [str(one["error"]) for one in said]


def _is_error(one: Any) -> bool:
    return isinstance(one, dict) and "error" in one


def test_spark_of_version_3_deletes_nothing(filled: Desk, gateway: int, older: OlderClients, west: Warehouse) -> None:
    before, far, shop = _files(filled, west), filled.far, filled.shop
    read = [["spark", f"SELECT count(*) FROM {far}.{table}"] for table in ("plain", "days", "purged")]
    assert older.ask(*read) == [[["2"]], [["2"]], [["1"]]]
    requests = [
        ["spark", text]
        for text in (
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
            f"DROP DATABASE {far} CASCADE",
        )
    ]
    said = _errors(older.ask(*requests), requests)
    assert _files(filled, west) == before
    assert f"DROP REMOTE TABLE {shop}.mine" in said[-3] and f"DROP REMOTE TABLE {shop}.other" in said[-2]
    dropped, rows = older.ask(["spark", f"DROP TABLE {shop}.mine"], ["spark", f"SELECT count(*) FROM {far}.plain"])
    assert (dropped, rows) == ([], [["2"]])
    assert _files(filled, west) == before


def test_the_client_of_hive_2_deletes_nothing(filled: Desk, gateway: int, older: OlderClients, west: Warehouse) -> None:
    before, far, shop = _files(filled, west), filled.far, filled.shop
    for name, table in ((far, "purged"), (shop, "other")):
        [(kind, parameters)] = older.ask(["hive", "table", name, table])
        assert kind == "EXTERNAL_TABLE" and parameters["EXTERNAL"] == "TRUE"
        assert parameters.get("external.table.purge", "false").lower() == "false"
        assert parameters.get("auto.purge", "false").lower() == "false"
    [places] = older.ask(["hive", "partitions", far, "days"])
    assert len(places) == 2 and all(place.startswith("hdfs://west/") for place in places)
    requests = [
        ["hive", "drop_partition", far, "days", [DAYS[0]]],
        ["hive", "drop_partition", shop, "bought", [DAYS[0]]],
        ["hive", "drop_table", far, "purged"],
        ["hive", "drop_table", shop, "mine"],
        ["hive", "drop_table", shop, "other"],
        ["hive", "drop_database", far],
    ]
    said = _errors(older.ask(*requests), requests)
    assert _files(filled, west) == before
    assert f"DROP REMOTE TABLE {shop}.mine" in said[3]


def _files_of(west: Warehouse, directory: str) -> list[str]:
    found, waiting = [], [directory]
    while waiting:
        ((_, children),) = west.files.list_directories([waiting.pop()])
        for one in children or ():
            (waiting if one.is_directory else found).append(one.path)
    return sorted(found)
