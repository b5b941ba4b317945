"""A catalog's databases, tables and partitions as structs of the metastore's API."""

from twinhive.federation.connector_api.catalog_objects import (
    CatalogColumn,
    CatalogDatabase,
    CatalogPartition,
    CatalogStorage,
    CatalogTable,
)
from twinhive.federation.connectors.struct_encoding import (
    ended,
    mapping,
    number_of_32_bits,
    number_of_64_bits,
    struct,
    structs,
    text,
    texts,
    truth,
)
from twinhive.hive.wire.method_table import LIST, MAP, STRING
from twinhive.hive.wire.thrift_message import STOP

HIVE_CATALOG = "hive"
_USER = 1
_NO_WRITE_ID = -1


def database_struct(database: CatalogDatabase) -> bytes:
    """Write a Database."""
    return ended(
        text(1, database.name),
        text(2, database.comment),
        text(3, database.location or f"no-location:/{database.name}"),  # clients read it, and fail without one
        mapping(4, database.parameters),
        text(8, HIVE_CATALOG),
    )


def table_struct(table: CatalogTable) -> bytes:
    """Write a Table."""
    return ended(
        text(1, table.name),
        text(2, table.database),
        text(3, table.owner),
        number_of_32_bits(4, table.created),
        number_of_32_bits(5, 0),
        number_of_32_bits(6, 0),
        struct(7, storage_struct(table.storage)),
        structs(8, map(column_struct, table.partition_keys)),
        mapping(9, table.parameters),
        text(10, table.view_original_text),
        text(11, table.view_expanded_text),
        text(12, table.table_type),
        truth(14, False),
        truth(15, False),
        text(17, HIVE_CATALOG),
        number_of_32_bits(18, _USER),
        number_of_64_bits(19, _NO_WRITE_ID),
    )


def partition_struct(table: CatalogTable, partition: CatalogPartition) -> bytes:
    """Write a Partition."""
    return ended(
        texts(1, partition.values),
        text(2, table.database),
        text(3, table.name),
        number_of_32_bits(4, partition.created),
        number_of_32_bits(5, 0),
        struct(6, storage_struct(partition.storage)),
        mapping(7, partition.parameters),
        text(9, HIVE_CATALOG),
        number_of_64_bits(10, _NO_WRITE_ID),
    )


def table_meta_struct(table: CatalogTable) -> bytes:
    """Write a TableMeta."""
    return ended(
        text(1, table.database),
        text(2, table.name),
        text(3, table.table_type),
        text(4, table.parameters.get("comment")),
        text(5, HIVE_CATALOG),
    )


def column_struct(column: CatalogColumn) -> bytes:
    """Write a FieldSchema."""
    return ended(text(1, column.name), text(2, column.type), text(3, column.comment))


def storage_struct(storage: CatalogStorage) -> bytes:
    """Write a StorageDescriptor."""
    return ended(
        structs(1, map(column_struct, storage.columns)),
        text(2, storage.location or None),  # an empty one is none, and clients fail on it
        text(3, storage.input_format),
        text(4, storage.output_format),
        truth(5, False),
        number_of_32_bits(6, storage.buckets),
        struct(7, ended(text(2, storage.serde), mapping(3, storage.serde_parameters))),
        texts(8, storage.bucket_columns),
        structs(9, ()),
        mapping(10, storage.parameters),
        struct(11, _NOT_SKEWED),
        truth(12, False),
    )


def _empty(code: int, number: int, *element_codes: int) -> bytes:
    return bytes((code, 0, number, *element_codes, 0, 0, 0, 0))


_NOT_SKEWED = _empty(LIST, 1, STRING) + _empty(LIST, 2, LIST) + _empty(MAP, 3, LIST, STRING) + STOP
