"""State what is needed of a remote: bytes to and from a metastore, or a catalog that can be read.

A class of one's own implements `Connector` or `CatalogConnector` (docs/connectors.md). Properties are those of the
remote's definition, as its user wrote them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.federation.connector_api.catalog_objects import CatalogDatabase, CatalogPartition, CatalogTable


@dataclass(frozen=True)
class ConnectorPlace:
    """Where a definition leads.

    `key` is equal for definitions that share connections, `name` is for people and holds nothing secret, `addresses`
    are what is connected to, as `scheme://host:port` or a path: whoever says who may, compares these.
    `files` are the names of local files that are read for it.
    """

    key: str
    name: str
    addresses: tuple[str, ...]
    files: tuple[str, ...] = ()

    @classmethod
    def at(cls, address: str) -> "ConnectorPlace":
        """Return a place that its one address says all of."""
        return cls(key=address, name=address, addresses=(address,))


@runtime_checkable
class Connector(Protocol):
    """Reach metastores, or what answers like one."""

    def place(self, properties: Mapping[str, str]) -> ConnectorPlace:
        """Say where a definition leads, without asking anybody. Raises InvalidSettings."""
        ...

    async def open(self, properties: Mapping[str, str]) -> ByteLink:
        """Open a connection; of several addresses the first that takes one. Raises OSError, InvalidSettings.

        What is reached speaks the metastore's Thrift API: strict binary, not framed.
        """
        ...

    async def close(self) -> None:
        """Close what connections shared. The connections themselves are their callers'."""
        ...


@runtime_checkable
class CatalogConnector(Protocol):
    """Make catalogs that are read by blocking calls, in threads that the caller provides."""

    def place(self, properties: Mapping[str, str]) -> ConnectorPlace:
        """Say where a definition leads, without asking anybody. Raises InvalidSettings."""
        ...

    def catalog(self, properties: Mapping[str, str]) -> "Catalog":
        """Make the catalog of a definition, used by several threads at once. Raises InvalidSettings, OSError."""
        ...


class Catalog(Protocol):
    """Read one catalog. Names come in lower case, and are whatever a client says: no part of a path as they stand.

    Who inherits from it writes `table_names` and `table`, and the rest where there are partitions. Calls raise
    Unreachable or OSError where nobody answers, Refused where the answer is no.
    """

    def database(self, name: str) -> CatalogDatabase | None:
        """Return a database, or None. What does not know databases has whichever is asked for."""
        return CatalogDatabase(name)

    def table_names(self, database: str) -> Sequence[str]:
        """Return the names of all tables and views; none without such a database."""
        ...

    def table(self, database: str, name: str) -> CatalogTable | None:
        """Return one table or view, or None."""
        ...

    def partition_names(self, table: CatalogTable) -> Sequence[str]:
        """Return the names of all partitions (`day=2026-01-01/hour=3`), escaped as Hive does."""
        return ()

    def partitions(
        self, table: CatalogTable, *, names: Sequence[str] | None = None, filter_: str | None = None
    ) -> Sequence[CatalogPartition]:
        """Return the named partitions that exist, those that Hive's filter text lets through, or all.

        Who cannot filter returns more: the responder filters what it gets again.
        """
        return ()
