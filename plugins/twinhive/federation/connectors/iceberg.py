"""Iceberg tables: one by its path, or those of a catalog that pyiceberg can ask."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import (
    NoSuchNamespaceError,
    NoSuchTableError,
    RESTError,
    ServerError,
    ServiceUnavailableError,
    TooManyRequestsError,
)

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.ports.file_systems import FileReader
from twinhive.federation.connector_api.catalog_objects import CatalogDatabase, CatalogPartition, CatalogTable
from twinhive.federation.connector_api.catalogs import Catalog, ConnectorPlace
from twinhive.federation.connectors.client_refusals import RefusedCall
from twinhive.federation.connectors.connector_context import ConnectorContext
from twinhive.federation.connectors.iceberg_files import metadata_text, newest_metadata
from twinhive.federation.connectors.iceberg_table import hive_table, parsed
from twinhive.federation.connectors.web_addresses import is_web_address

PATH: Final = "iceberg.table.path"
URI: Final = "iceberg.catalog.uri"
WAREHOUSE: Final = "iceberg.catalog.warehouse"
NAME: Final = "iceberg.catalog.name"
_PREFIX: Final = "iceberg.catalog."
_WAYS: Final = (PATH, URI, NAME)


class IcebergConnector:
    """Make catalogs of one table, of a REST catalog, or of a catalog that pyiceberg's configuration names."""

    def __init__(self, files_at: Callable[[str], FileReader]) -> None:
        self._files_at = files_at

    def place(self, properties: Mapping[str, str]) -> ConnectorPlace:
        """Say which path or catalog. Raises InvalidSettings."""
        way, value = _way(properties)
        address = f"iceberg-catalog:{value}" if way == NAME else value
        return ConnectorPlace(f"{address} {properties.get(WAREHOUSE, '')}", address, (address,))

    def catalog(self, properties: Mapping[str, str]) -> Catalog:
        """Make a catalog. Raises InvalidSettings, OSError; a REST catalog is asked for its configuration."""
        way, value = _way(properties)
        if way == PATH:
            return IcebergPath(self._files_at(value), value)
        with _translated():
            if way == URI:
                # Not `load_catalog`: it would add what this machine's configuration holds for a catalog of some name.
                warehouse = properties.get(WAREHOUSE)
                return IcebergCatalog(
                    RestCatalog("remote", uri=value, **({"warehouse": warehouse} if warehouse else {}))
                )
            return IcebergCatalog(_configured(value))


class _WithoutPartitions:
    """What Hive's clients see of partitions."""

    def partition_names(self, table: CatalogTable) -> list[str]:
        """Return none: Iceberg's partitions are its own."""
        return []

    def partitions(
        self, table: CatalogTable, *, names: Sequence[str] | None = None, filter_: str | None = None
    ) -> list[CatalogPartition]:
        """Return none: Iceberg's partitions are its own."""
        return []


class IcebergPath(_WithoutPartitions):
    """One table, under whatever name it is asked for."""

    def __init__(self, files: FileReader, path: str) -> None:
        self._files, self._path = files, path
        self._read: tuple[tuple[str, int, int], CatalogTable] | None = None

    def database(self, name: str) -> CatalogDatabase:
        """Return a database without anything: a path has none."""
        return CatalogDatabase(name)

    def table_names(self, database: str) -> list[str]:
        """Refuse: what a path holds has no name."""
        raise RefusedCall(f"a remote with {PATH} is one table", found=f"a list of the tables of {database}")

    def table(self, database: str, name: str) -> CatalogTable:
        """Return the table as its newest metadata tells.

        A metadata file never changes, and is read once; a table that is made anew at its path begins with the same
        names of files again, so that a file is known by its time and length too.
        """
        newest = newest_metadata(self._files, self._path)
        path, seen = newest.path, (newest.path, newest.modified_ms, newest.length)
        read = self._read
        if read is None or read[0] != seen:
            metadata = parsed(metadata_text(self._files, path), path)
            read = self._read = seen, hive_table(database, name, metadata, path)
        return read[1].named(database, name)


class IcebergCatalog(_WithoutPartitions):
    """The tables of a catalog that pyiceberg asks."""

    def __init__(self, catalog: Any) -> None:
        self._catalog = catalog

    def database(self, name: str) -> CatalogDatabase | None:
        """Return a namespace."""
        with _translated():
            try:
                told = dict(self._catalog.load_namespace_properties((name,)))
            except NoSuchNamespaceError:
                return None
        return CatalogDatabase(name, told.pop("location", None), told.pop("comment", None), told)

    def table_names(self, database: str) -> list[str]:
        """Return the names of all tables."""
        with _translated():
            try:
                return [one[-1] for one in self._catalog.list_tables((database,))]
            except NoSuchNamespaceError:
                return []

    def table(self, database: str, name: str) -> CatalogTable | None:
        """Return a table."""
        with _translated():
            try:
                found = self._catalog.load_table((database, name))
            except (NoSuchTableError, NoSuchNamespaceError):
                return None
        return hive_table(database, name, found.metadata, found.metadata_location)


def connector(context: ConnectorContext) -> IcebergConnector:
    """Make the connector."""
    return IcebergConnector(context.files_at)


def _way(properties: Mapping[str, str]) -> tuple[str, str]:
    """Return which of the three ways a definition takes, and where it leads."""
    ways = [(way, properties[way].strip()) for way in _WAYS if properties.get(way, "").strip()]
    others = [key for key in properties if key.startswith(_PREFIX) and key not in (URI, NAME, WAREHOUSE)]
    if others:
        raise InvalidSettings(
            "a remote says more of an Iceberg catalog than it may",
            found=", ".join(sorted(others)),
            expected=f"{URI} and {WAREHOUSE} of a REST catalog, or {NAME} alone",
            next_step=f"put it into .pyiceberg.yaml where the gateway runs, and name that catalog in {NAME}",
        )
    if len(ways) != 1 or (WAREHOUSE in properties and ways[0][0] != URI):
        raise InvalidSettings(
            "a remote names no Iceberg table or catalog, or several",
            found=", ".join(way for way, _ in ways) or "nothing",
            expected=f"one of {PATH}, {URI} (a REST catalog, perhaps with {WAREHOUSE}), {NAME}",
            next_step=f"create the remote again with one of them: '{PATH}' = 's3://bucket/tables/t'",
        )
    (way, value) = ways[0]
    if (way == PATH and not _is_path(value)) or (way == URI and not is_web_address(value)):
        raise InvalidSettings(
            f"a remote's {way} cannot be read",
            found=value,
            expected="scheme:/path of the table" if way == PATH else "https://host/path",
            next_step="create the remote again with another one",
        )
    return way, value


def _is_path(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.scheme) and parts.path.startswith("/") and ".." not in parts.path.split("/")


def _configured(name: str) -> Any:
    try:
        return load_catalog(name)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidSettings(
            f"Iceberg catalog {name} cannot be used",
            found=error,
            expected="a catalog of that name in .pyiceberg.yaml where the gateway runs",
            next_step=f"add it there, or correct {NAME}",
        ) from error


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what pyiceberg raises into what a catalog raises; without an answer it raises OSErrors itself."""
    try:
        yield
    except (ServerError, ServiceUnavailableError, TooManyRequestsError) as error:
        raise ConnectionError(f"Iceberg catalog: {error}") from error
    except RESTError as error:
        raise RefusedCall(f"Iceberg catalog: {error}") from error
