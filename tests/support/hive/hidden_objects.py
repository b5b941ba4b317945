"""Let nobody read some tables or partitions of a metastore in memory, as if a library could not decode them."""

from collections.abc import Sequence
from typing import Any

import pytest

from twinhive.core.model.errors import UnreadableObject
from twinhive.core.model.names import TableName, partition_values

WHY = "reading {}: what the metastore answered cannot be read"


def hide(patch: pytest.MonkeyPatch, metastore: Any, *hidden: str) -> None:
    """Let nobody read some tables, by their whole names."""
    tables, table = metastore.tables, metastore.table

    def refuse(database: str, names: Sequence[str]) -> None:
        for name in names:
            if f"{database}.{name}" in hidden:
                raise UnreadableObject(WHY.format(f"table {database}.{name}"))

    def read_some(database: str, names: Sequence[str]) -> Any:
        refuse(database, names)
        return tables(database, names)

    def read_one(name: TableName) -> Any:
        refuse(name.database, [name.table])
        return table(name)

    patch.setattr(metastore, "tables", read_some)
    patch.setattr(metastore, "table", read_one)


def hide_function(patch: pytest.MonkeyPatch, metastore: Any, database: str, hidden: str) -> None:
    """Let nobody read one function; its name is told by a call of its own."""
    functions, function = metastore.functions, metastore.function

    def read_all(asked: str) -> Any:
        if asked == database:
            raise UnreadableObject(WHY.format(f"function {database}.{hidden}"))
        return functions(asked)

    def read_one(asked: str, name: str) -> Any:
        if (asked, name) == (database, hidden):
            raise UnreadableObject(WHY.format(f"function {database}.{hidden}"))
        return function(asked, name)

    patch.setattr(metastore, "functions", read_all)
    patch.setattr(metastore, "function", read_one)


def hide_partition(patch: pytest.MonkeyPatch, metastore: Any, table: TableName, hidden: str) -> None:
    """Let nobody read one partition; its name and its place are told by calls of their own."""
    partitions = metastore.partitions

    def read(name: TableName, names: Sequence[str]) -> Any:
        if name == table and partition_values(hidden) in map(partition_values, names):
            raise UnreadableObject(WHY.format(f"partition {hidden} of {name}"))
        return partitions(name, names)

    patch.setattr(metastore, "partitions", read)
