"""Build domain values with defaults that read well."""

from typing import Any

from twinhive.core.model.external.modes import External
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import DatabaseAddress, Options, Policy


def a_policy(**changes: Any) -> Policy:
    """Return a policy that follows east/sales into west/sales."""
    fields: dict[str, Any] = {
        "name": "sales",
        "source": DatabaseAddress("east", "sales"),
        "replica": DatabaseAddress("west", "sales"),
        "include": (".*",),
        "exclude": (),
        "dump_root": "hdfs://east/twinhive/dumps",
        "staging_root": "hdfs://west/twinhive/staging",
        "options": Options(copy_threads=2),
        "external": External(included=False, source_root="hdfs://east"),
        "fingerprint": "f1",
        "quiet_seconds": 0.0,
    }
    return Policy(**{**fields, **changes})


def an_external(**changes: Any) -> External:
    """Return what a policy with external tables says of them."""
    return External(**{"base_directory": "hdfs://west/ext", "source_root": "hdfs://east", **changes})


def a_table(name: str = "sales.orders", **changes: Any) -> Table:
    """Return a managed table below the usual warehouse directory."""
    table_name = TableName.parse(name)
    fields: dict[str, Any] = {
        "name": table_name,
        "table_type": "MANAGED_TABLE",
        "location": f"hdfs://east/warehouse/managed/{table_name.database}.db/{table_name.table}",
        "partition_keys": (),
        "columns": (("id", "int"),),
        "parameters": {"EXTERNAL": "TRUE"} if changes.get("table_type") == "EXTERNAL_TABLE" else {},
        "thrift": "{}",
    }
    return Table(**{**fields, **changes})


def a_partition(table: Table, *values: str, **changes: Any) -> Partition:
    """Return a partition in its default place."""
    fields: dict[str, Any] = {
        "table": table.name,
        "values": values,
        "location": None,
        "parameters": {},
        "thrift": "{}",
    }
    partition = Partition(**{**fields, **changes})
    if partition.location is None:
        partition = partition.at(table.name, f"{table.location}/{partition.name(table.partition_keys)}")
    return partition
