"""What a real metastore holds, as a catalog: read once, object by object."""

from typing import Any

from hive_metastore import ttypes

from tests.support.memory_catalog import MemoryCatalog
from twinhive.federation.connector_api.catalog_objects import (
    CatalogColumn,
    CatalogDatabase,
    CatalogPartition,
    CatalogStorage,
    CatalogTable,
)


def catalog_of(client: Any, *databases: str) -> MemoryCatalog:
    """Read databases with all that is in them."""
    catalog = MemoryCatalog()
    for name in databases:
        found = client.get_database(name)
        catalog.databases[name] = CatalogDatabase(name, found.locationUri, found.description, found.parameters)
        for table in client.get_all_tables(name):
            read = client.get_table_req(ttypes.GetTableRequest(dbName=name, tblName=table)).table
            partitions = client.get_partitions(name, table, -1) if read.partitionKeys else []
            catalog.tables[name, table] = _table(read), [_partition(one) for one in partitions]
    return catalog


def _table(found: Any) -> CatalogTable:
    return CatalogTable(
        found.dbName,
        found.tableName,
        _storage(found.sd),
        found.tableType,
        tuple(_column(one) for one in found.partitionKeys),
        found.parameters,
        found.owner,
        found.createTime,
        found.viewOriginalText,
        found.viewExpandedText,
    )


def _partition(found: Any) -> CatalogPartition:
    return CatalogPartition(tuple(found.values), _storage(found.sd), found.parameters, found.createTime)


def _storage(found: Any) -> CatalogStorage:
    return CatalogStorage(
        found.location,
        tuple(_column(one) for one in found.cols),
        found.inputFormat,
        found.outputFormat,
        found.serdeInfo.serializationLib,
        found.serdeInfo.parameters,
        tuple(found.bucketCols),
        found.numBuckets,
        found.parameters,
    )


def _column(found: Any) -> CatalogColumn:
    return CatalogColumn(found.name, found.type, found.comment)
