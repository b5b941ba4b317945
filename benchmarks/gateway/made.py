"""The tables that are asked for, and the remotes that stand for them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from hive_metastore import ttypes

from tests.support.users.warehouse import Warehouse
from tests.support.wire.wire_messages import request
from twinhive.hive.wire.thrift_message import WireMessage

SAME, OTHER, DEAD, SILENT = "gateway_bench", "gateway_bench_far", "gateway_bench_dead", "gateway_bench_silent"
_PER_CALL = 1_000


def fill(west: Warehouse, east: Warehouse, counts: Sequence[int], addresses: Mapping[str, str]) -> None:
    """Make the tables at west, unless they are there, and the remotes at east."""
    if SAME not in west.client.get_all_databases():
        west.client.create_database(ttypes.Database(name=SAME))
    there = west.client.get_all_tables(SAME)
    for count in counts:
        if table_of(count) not in there:
            _add(west, count)
    for name, address in addresses.items():
        if name in east.client.get_all_databases():
            east.client.drop_database(name, False, True)
        parameters = {"twinhive_remote": SAME, "hive.metastore.uris": address}
        east.client.create_database(ttypes.Database(name=name, type=ttypes.DatabaseType.REMOTE, parameters=parameters))


def _add(west: Warehouse, count: int) -> None:
    table = west.create_table(SAME, table_of(count), keys=("day",), kind="EXTERNAL_TABLE")
    for first in range(0, count, _PER_CALL):
        numbers = range(first, min(first + _PER_CALL, count))
        west.client.add_partitions([_partition(table, f"d{number:06}") for number in numbers])


def table_of(count: int) -> str:
    """Return the name of the table with so many partitions."""
    return f"parts_{count}"


def _partition(table: ttypes.Table, value: str) -> ttypes.Partition:
    storage = ttypes.StorageDescriptor(**{**vars(table.sd), "location": f"{table.sd.location}/day={value}"})
    return ttypes.Partition(values=[value], dbName=table.dbName, tableName=table.tableName, parameters={}, sd=storage)


def messages(database: str, count: int) -> dict[str, WireMessage]:
    """Return the calls that are timed, under the name that a database has there."""
    name, table = f"@hive#{database}", table_of(count)
    return {
        f"get_table_req, {count:,}": table_request(database, count),
        f"get_partition_names, {count:,}": request("get_partition_names", db_name=name, tbl_name=table, max_parts=-1),
        f"get_partitions, {count:,}": request("get_partitions", db_name=name, tbl_name=table, max_parts=-1),
    }


def table_request(database: str, count: int) -> WireMessage:
    """Return the call for a table without its partitions."""
    asked = ttypes.GetTableRequest(dbName=database, tblName=table_of(count), catName="hive")
    return request("get_table_req", req=asked)


def write_config(directory: Path, addresses: Sequence[str]) -> None:
    """Write the settings of a gateway that may reach these."""
    clusters = {
        name: {
            "metastore": {"connection": f"{name}_metastore"},
            "file_system": {"connection": f"{name}_hdfs"},
            "job_tracker": {"connection": f"{name}_spark"},
        }
        for name in ("east", "west")
    }
    (directory / "policies").mkdir()
    (directory / "clusters.yaml").write_text(yaml.safe_dump({"clusters": clusters}))
    allow = [{"connector": "thrift", "addresses": list(dict.fromkeys(addresses))}]
    (directory / "remotes.yaml").write_text(yaml.safe_dump({"allow": allow}))
