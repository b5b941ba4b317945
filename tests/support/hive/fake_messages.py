"""Write the messages of notification events as Hive writes them."""

from collections.abc import Mapping, Sequence
from typing import Any

from twinhive.core.model.objects import Partition, Table

Message = dict[str, Any]
NO_WRITE = -1


def of_table(table: Table) -> Message:
    """Return what every message on a table begins with."""
    return {
        "db": table.name.database,
        "table": table.name.table,
        "tableType": table.table_type,
        "tableObjJson": table.thrift,
    }


def of_altered_table(before: Table, after: Table, *, truncates: bool = False) -> Message:
    """Return the message of ALTER_TABLE, which speaks of the table by its old name."""
    return {
        "db": before.name.database,
        "table": before.name.table,
        "tableType": before.table_type,
        "tableObjBeforeJson": before.thrift,
        "tableObjAfterJson": after.thrift,
        "isTruncateOp": _spelled(truncates),
        "writeId": NO_WRITE,
    }


def of_added_partitions(table: Table, added: Mapping[str, Partition], files: Mapping[str, list[str]]) -> Message:
    """Return the message of ADD_PARTITION; `files` are the entries by partition name."""
    return {
        **of_table(table),
        "partitions": [values_of(table, partition) for partition in added.values()],
        "partitionListJson": [partition.thrift for partition in added.values()],
        "partitionFiles": [{"partitionName": name, "files": files[name]} for name in added],
    }


def of_altered_partition(table: Table, before: Partition, after: Partition) -> Message:
    """Return the message of ALTER_PARTITION, also for one that got other values."""
    return {
        **of_table(table),
        "isTruncateOp": _spelled(False),
        "writeId": NO_WRITE,
        "keyValues": values_of(table, before),
        "partitionObjBeforeJson": before.thrift,
        "partitionObjAfterJson": after.thrift,
    }


def of_altered_partitions(table: Table, after: Sequence[Partition], *, truncates: bool = False) -> Message:
    """Return the message of ALTER_PARTITIONS, which does not say what was before."""
    return {
        **of_table(table),
        "isTruncateOp": _spelled(truncates),
        "writeId": NO_WRITE,
        "partitions": [values_of(table, partition) for partition in after],
        "partitionListJson": [partition.thrift for partition in after],
    }


def of_dropped_partitions(table: Table, dropped: Sequence[Partition]) -> Message:
    """Return the message of DROP_PARTITION."""
    return {**of_table(table), "partitions": [values_of(table, partition) for partition in dropped]}


def of_insert(table: Table, partition: Partition | None, files: list[str], *, replaces: bool) -> Message:
    """Return the message of INSERT."""
    return {
        **of_table(table),
        "ptnObjJson": partition.thrift if partition else None,
        "replace": _spelled(replaces),
        "files": files,
    }


def values_of(table: Table, partition: Partition) -> dict[str, str]:
    """Return a partition's values by key."""
    return dict(zip(table.partition_keys, partition.values, strict=True))


def _spelled(truth: bool) -> str:
    return "true" if truth else "false"
