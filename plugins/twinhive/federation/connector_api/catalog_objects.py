"""What a catalog that is no Hive metastore tells of its databases, tables and partitions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

_TEXT_INPUT: Final = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUTPUT: Final = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"


@dataclass(frozen=True)
class CatalogColumn:
    """A column with its type as Hive writes it."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True)
class CatalogStorage:
    """Where rows are and how they are read."""

    location: str | None = None
    columns: tuple[CatalogColumn, ...] = ()
    input_format: str | None = None
    output_format: str | None = None
    serde: str | None = None
    serde_parameters: Mapping[str, str] = field(default_factory=dict)
    bucket_columns: tuple[str, ...] = ()
    buckets: int = -1
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_text(cls, location: str, columns: Iterable[CatalogColumn], serde: str) -> "CatalogStorage":
        """Return files of lines, which a serde takes apart."""
        return cls(location, tuple(columns), _TEXT_INPUT, _TEXT_OUTPUT, serde)


@dataclass(frozen=True)
class CatalogDatabase:
    """A database."""

    name: str
    location: str | None = None
    comment: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CatalogTable:
    """A table or a view; times are seconds since 1970, 0 where they are not known."""

    database: str
    name: str
    storage: CatalogStorage
    table_type: str = "EXTERNAL_TABLE"
    partition_keys: tuple[CatalogColumn, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None
    created: int = 0
    view_original_text: str | None = None
    view_expanded_text: str | None = None

    @property
    def columns(self) -> tuple[CatalogColumn, ...]:
        """All columns, those of the partitions last."""
        return self.storage.columns + self.partition_keys

    def named(self, database: str, name: str) -> "CatalogTable":
        """Return the same table under another name."""
        return replace(self, database=database, name=name)


@dataclass(frozen=True)
class CatalogPartition:
    """One partition; `values` are in the order of its table's partition keys."""

    values: tuple[str, ...]
    storage: CatalogStorage
    parameters: Mapping[str, str] = field(default_factory=dict)
    created: int = 0
