"""What is copied: unpartitioned tables and partitions, as they were when they were listed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.core.model.placement.touches import Values


@dataclass(frozen=True)
class CopyObject:
    """An unpartitioned table (`values` is None) or a partition, and the state of its directory."""

    table: TableName
    keys: tuple[str, ...]
    values: Values
    location: str
    directory: DirectoryState

    @property
    def partition(self) -> str | None:
        """The name of the partition, None for a table."""
        return None if self.values is None else partition_name(self.keys, self.values)

    def __str__(self) -> str:
        return str(self.table) if self.values is None else f"{self.table} {self.partition}"

    def fields(self) -> dict[str, Any]:
        """Return the object as JSON holds it."""
        return {
            "table": [self.table.database, self.table.table],
            "keys": list(self.keys),
            "values": None if self.values is None else list(self.values),
            "location": self.location,
            "directory": self.directory.fields(),
        }

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> "CopyObject":
        """Read what `fields` returned."""
        database, table = fields["table"]
        values = fields["values"]
        return cls(
            TableName(database, table),
            tuple(fields["keys"]),
            None if values is None else tuple(values),
            fields["location"],
            DirectoryState(*fields["directory"]),
        )


def line_of(fields: Mapping[str, Any]) -> str:
    """Return one line of JSON."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


Marked = Table | Partition
"""What bears the mark of a copy."""


def values_of(marked: Marked) -> Values:
    """Return the values of a partition, None for a table."""
    return marked.values if isinstance(marked, Partition) else None


def table_of(marked: Marked) -> TableName:
    """Return the name of the table, or of the one that a partition is of."""
    return marked.table if isinstance(marked, Partition) else marked.name
