"""What Hive's metastore holds of an Iceberg table: its metadata's place, and the classes that read it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from twinhive.federation.connector_api.catalog_objects import CatalogStorage, CatalogTable

TABLE_TYPE: Final = "table_type"
ICEBERG: Final = "ICEBERG"
METADATA_LOCATION: Final = "metadata_location"
_PACKAGE: Final = "org.apache.iceberg.mr.hive"


def is_iceberg(parameters: Mapping[str, str]) -> bool:
    """Say whether a table's parameters are those of an Iceberg table."""
    return parameters.get(TABLE_TYPE, "").upper() == ICEBERG


def as_iceberg(table: CatalogTable) -> CatalogTable:
    """Return a table as Iceberg's own catalog in Hive would write it. It has no partitions that Hive knows."""
    parameters = {
        **table.parameters,
        "EXTERNAL": "TRUE",
        TABLE_TYPE: ICEBERG,
        "storage_handler": f"{_PACKAGE}.HiveIcebergStorageHandler",
    }
    storage = CatalogStorage(
        location=table.storage.location,
        columns=table.columns,
        input_format=f"{_PACKAGE}.HiveIcebergInputFormat",
        output_format=f"{_PACKAGE}.HiveIcebergOutputFormat",
        serde=f"{_PACKAGE}.HiveIcebergSerDe",
        buckets=0,
    )
    return replace(table, storage=storage, partition_keys=(), parameters=parameters, table_type="EXTERNAL_TABLE")
