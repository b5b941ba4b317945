"""An Iceberg table's metadata as a table of Hive."""

from collections.abc import Iterator
from typing import Final

from pyiceberg.catalog.hive import SchemaToHiveConverter
from pyiceberg.exceptions import ValidationError
from pyiceberg.schema import visit
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil

from twinhive.federation.connector_api.catalog_objects import CatalogColumn, CatalogStorage, CatalogTable
from twinhive.federation.connectors.client_refusals import RefusedCall
from twinhive.federation.connectors.iceberg_handler import METADATA_LOCATION, as_iceberg

_LONGEST_PARAMETER: Final = 32_672


def parsed(text: str, path: str) -> TableMetadata:
    """Read metadata. Raises RefusedCall."""
    try:
        return TableMetadataUtil.parse_raw(text)
    except (ValidationError, ValueError, TypeError, KeyError, RecursionError) as error:
        first = str(error).partition("\n")[0][:300]
        raise RefusedCall("an Iceberg table's metadata cannot be read", found=f"{path}: {first}") from error


def hive_table(database: str, name: str, metadata: TableMetadata, path: str) -> CatalogTable:
    """Return a table as Iceberg writes it into Hive's metastore."""
    snapshot = metadata.current_snapshot()
    summary = {} if snapshot is None or snapshot.summary is None else snapshot.summary.additional_properties
    statistics = {"numRows": "total-records", "numFiles": "total-data-files", "totalSize": "total-files-size"}
    said = {key: summary[told] for key, told in statistics.items() if told in summary}
    own = {key: value for key, value in metadata.properties.items() if len(value) <= _LONGEST_PARAMETER}
    table = CatalogTable(
        database,
        name,
        CatalogStorage(location=metadata.location, columns=tuple(_columns(metadata))),
        parameters={**own, **said, "uuid": str(metadata.table_uuid), METADATA_LOCATION: path},
        owner=metadata.properties.get("owner"),
    )
    return as_iceberg(table)


def _columns(metadata: TableMetadata) -> Iterator[CatalogColumn]:
    for field in metadata.schema().fields:
        try:
            kind = visit(field.field_type, SchemaToHiveConverter(False))
        except (KeyError, ValueError, NotImplementedError) as error:
            raise RefusedCall(
                "an Iceberg column has a type that Hive does not know", found=f"{field.name} {field.field_type}"
            ) from error
        yield CatalogColumn(field.name.lower(), kind, field.doc)
