"""Answers of AWS Glue as a catalog's values."""

from collections.abc import Mapping, Sequence
from typing import Any

from twinhive.federation.connector_api.catalog_objects import (
    CatalogColumn,
    CatalogDatabase,
    CatalogPartition,
    CatalogStorage,
    CatalogTable,
)
from twinhive.federation.connectors.iceberg_handler import as_iceberg, is_iceberg

GlueAnswer = Mapping[str, Any]


def database_of(answer: GlueAnswer) -> CatalogDatabase:
    """Read a database."""
    return CatalogDatabase(
        answer["Name"].lower(), answer.get("LocationUri"), answer.get("Description"), answer.get("Parameters") or {}
    )


def table_of(database: str, answer: GlueAnswer) -> CatalogTable:
    """Read a table or a view."""
    parameters = dict(answer.get("Parameters") or {})
    if answer.get("Description"):
        parameters.setdefault("comment", answer["Description"])
    table = CatalogTable(
        database,
        answer["Name"].lower(),
        _storage(answer.get("StorageDescriptor") or {}),
        answer.get("TableType") or "EXTERNAL_TABLE",
        _columns(answer.get("PartitionKeys") or ()),
        parameters,
        answer.get("Owner"),
        _seconds(answer),
        answer.get("ViewOriginalText"),
        answer.get("ViewExpandedText"),
    )
    return as_iceberg(table) if is_iceberg(parameters) else table


def partition_of(answer: GlueAnswer) -> CatalogPartition:
    """Read a partition."""
    storage = _storage(answer.get("StorageDescriptor") or {})
    return CatalogPartition(tuple(answer["Values"]), storage, answer.get("Parameters") or {}, _seconds(answer))


def _storage(answer: GlueAnswer) -> CatalogStorage:
    serde = answer.get("SerdeInfo") or {}
    return CatalogStorage(
        answer.get("Location"),
        _columns(answer.get("Columns") or ()),
        answer.get("InputFormat"),
        answer.get("OutputFormat"),
        serde.get("SerializationLibrary"),
        serde.get("Parameters") or {},
        tuple(answer.get("BucketColumns") or ()),
        answer.get("NumberOfBuckets") or -1,
        answer.get("Parameters") or {},
    )


def _columns(answers: Sequence[GlueAnswer]) -> tuple[CatalogColumn, ...]:
    return tuple(CatalogColumn(one["Name"].lower(), one.get("Type") or "string", one.get("Comment")) for one in answers)


def _seconds(answer: GlueAnswer) -> int:
    created = answer.get("CreateTime") or answer.get("CreationTime")
    return int(created.timestamp()) if created is not None else 0
