"""What a catalog that is no Hive metastore tells of its databases, tables and partitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


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
