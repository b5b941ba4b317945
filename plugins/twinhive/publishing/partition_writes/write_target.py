"""What a table must be to be written to: partitioned, with plain files of a format that Spark and Hive share."""

import re
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow
from twinhive.core.model.objects import Table
from twinhive.core.model.thrift_objects import partition_key_types, storage_of

_FORMATS = {
    "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe": "parquet",
    "org.apache.hadoop.hive.ql.io.orc.OrcSerde": "orc",
}
_KEY_TYPES = re.compile(r"string|varchar\(\d+\)|char\(\d+\)|tinyint|smallint|int|bigint|date", re.IGNORECASE)
"""Types whose values Spark and Hive write as the same text."""


@dataclass(frozen=True)
class WriteTarget:
    """A table to write to, with the columns of its files and its partition keys as (name, Hive's type)."""

    table: Table
    location: str
    format: str
    columns: tuple[tuple[str, str], ...]
    keys: tuple[tuple[str, str], ...]

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the partition keys, in their order."""
        return tuple(name for name, _ in self.keys)

    @classmethod
    def of(cls, table: Table) -> "WriteTarget":
        """Return what is needed of a table. Raises ActNow with all that is in the way."""
        storage = storage_of(table)
        keys = partition_key_types(table)
        problems = [
            (not table.partition_keys, "it has no partitions"),
            (not table.has_plain_files, f"it is a {table.kind.value} table"),
            (storage.serde not in _FORMATS, f"its files are of {storage.serde or 'no known format'}"),
            (bool(storage.bucket_columns), f"it is bucketed by {', '.join(storage.bucket_columns)}"),
            *((not _KEY_TYPES.fullmatch(kind), f"its key {name} is of type {kind}") for name, kind in keys),
        ]
        if found := "; ".join(text for is_so, text in problems if is_so):
            raise ActNow(
                f"partitions of {table.name} cannot be written by this",
                found=found,
                expected="a managed table without transactions or an external one, in Parquet or ORC, without buckets, "
                "with partition keys that are texts, whole numbers or dates",
                next_step="use INSERT of Hive or Spark for this table",
            )
        assert table.location is not None, "a table with files has a location"
        return cls(table, table.location, _FORMATS[storage.serde], table.columns, keys)
