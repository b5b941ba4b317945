"""A catalog in memory, for tests of what answers for catalogs."""

import threading
from dataclasses import dataclass, field

from twinhive.core.model.names import partition_name
from twinhive.federation.connector_api.catalog_objects import (
    CatalogColumn,
    CatalogDatabase,
    CatalogPartition,
    CatalogStorage,
    CatalogTable,
)
from twinhive.federation.connector_api.catalogs import Catalog, ConnectorPlace


def stored(location: str, *columns: str) -> CatalogStorage:
    return CatalogStorage(
        location,
        tuple(CatalogColumn(*text.split(":")) for text in columns),
        "org.apache.hadoop.mapred.TextInputFormat",
        "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
        {"field.delim": ","},
    )


def orders(rows: int = 24) -> tuple[CatalogTable, list[CatalogPartition]]:
    """Return a table by day and hour with its partitions."""
    table = CatalogTable(
        "sales",
        "orders",
        stored("s3://b/orders", "id:bigint", "note:string:a note"),
        partition_keys=(CatalogColumn("day", "string"), CatalogColumn("hour", "int")),
        parameters={"owner.team": "blue"},
        owner="ann",
        created=1_700_000_000,
    )
    values = [(f"2026-01-{number // 4 + 1:02}", str(number % 4 * 5)) for number in range(rows)]
    return table, [CatalogPartition(one, stored(f"s3://b/orders/{'/'.join(one)}", "id:bigint")) for one in values]


@dataclass
class MemoryCatalog:
    """Tables and their partitions; `failure` is raised by every call, `gate` is waited for."""

    databases: dict[str, CatalogDatabase] = field(default_factory=dict)
    tables: dict[tuple[str, str], tuple[CatalogTable, list[CatalogPartition]]] = field(default_factory=dict)
    failure: Exception | None = None
    gate: threading.Event | None = None

    def database(self, name: str) -> CatalogDatabase | None:
        self._wait()
        return self.databases.get(name)

    def table_names(self, database: str) -> list[str]:
        self._wait()
        return [name for owner, name in self.tables if owner == database]

    def table(self, database: str, name: str) -> CatalogTable | None:
        self._wait()
        found = self.tables.get((database, name))
        return found[0] if found else None

    def partition_names(self, table: CatalogTable) -> list[str]:
        return [self._name(table, one) for one in self.tables[table.database, table.name][1]]

    def partitions(self, table, *, names=None, filter_=None) -> list[CatalogPartition]:
        there = self.tables[table.database, table.name][1]
        return [one for one in there if names is None or self._name(table, one) in names]

    def _name(self, table: CatalogTable, partition: CatalogPartition) -> str:
        return partition_name(tuple(key.name for key in table.partition_keys), partition.values)

    def _wait(self) -> None:
        if self.gate is not None:
            self.gate.wait(60)
        if self.failure is not None:
            raise self.failure


def sales_catalog() -> MemoryCatalog:
    """Return a catalog with a database `sales`, a partitioned table and a view."""
    table, partitions = orders()
    view = CatalogTable(
        "sales",
        "recent",
        CatalogStorage(columns=(CatalogColumn("id", "bigint"),)),
        "VIRTUAL_VIEW",
        view_original_text="select id from orders",
        view_expanded_text="select `orders`.`id` from `sales`.`orders`",
    )
    database = CatalogDatabase("sales", "s3://b", "what is sold", {"tier": "gold"})
    return MemoryCatalog(
        {"sales": database}, {("sales", "orders"): (table, partitions), ("sales", "recent"): (view, [])}
    )


@dataclass
class MemoryConnector:
    """Make the same catalog for every definition."""

    made: Catalog

    def place(self, properties) -> ConnectorPlace:
        return ConnectorPlace("memory", "memory", ("memory://",))

    def catalog(self, properties) -> Catalog:
        return self.made
