"""Read calls of the metastore's Thrift API, answered from a catalog.

What is not known is refused with an exception that its method declares.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.federation.connector_api.catalog_objects import CatalogColumn, CatalogTable
from twinhive.federation.connector_api.catalogs import Catalog
from twinhive.federation.connectors.catalog_answers import (
    column_struct,
    database_struct,
    partition_struct,
    table_meta_struct,
    table_struct,
)
from twinhive.federation.connectors.catalog_reading import (
    filtered_table_names,
    one_partition,
    partition_names_asked,
    partitions_asked,
    table_names,
    tables_by_name,
)
from twinhive.federation.connectors.client_refusals import NothingFound, RefusedCall
from twinhive.federation.connectors.read_methods import ANSWERED, Arguments, Asked, arguments_of
from twinhive.federation.connectors.struct_encoding import (
    empty_mapping,
    ended,
    fields_of,
    number_of_32_bits,
    number_of_64_bits,
    struct,
    structs,
    text,
    texts,
    truth,
)
from twinhive.hive.wire.method_table import LIST
from twinhive.hive.wire.thrift_message import MessageKind, WireError, WireMessage, declared_error, reply

_log = logging.getLogger(__name__)
_ALIVE: Final = 2
_MISSING: Final = ("NoSuchObjectException", "UnknownTableException")
Answered = Callable[[Catalog, Arguments, int], bytes]
"""Write the answer as the given field."""


class Responder:
    """Answer calls from one catalog. Several threads may ask at once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def answer(self, message: WireMessage) -> WireMessage:
        """Return the answer to a call. Raises WireError, and TryAgain or OSError where nobody can be asked."""
        head = message.head
        method = ANSWERED.get(head.method)
        if head.kind is not MessageKind.CALL or method is None:
            return declared_error(
                head.method, head.sequence, f"{head.method} is not answered for a remote that is no Hive metastore"
            )
        try:
            asked = arguments_of(method, fields_of(message.raw, message.at))
            body = _HOW[method.asked](self._catalog, asked, method.inside)
        except NothingFound as error:
            return declared_error(head.method, head.sequence, str(error), *_MISSING)
        except (RefusedCall, ActNow) as error:
            return declared_error(head.method, head.sequence, str(error))
        except (TryAgain, OSError, WireError):
            raise
        except Exception as error:
            _log.exception("%s of a remote has failed", head.method)
            return declared_error(head.method, head.sequence, f"{head.method}: {type(error).__name__}: {error}")
        return reply(head.method, head.sequence, ended(struct(0, ended(body)) if method.inside else body))


def _table_of(catalog: Catalog, asked: Arguments) -> CatalogTable:
    found = catalog.table(asked.database, asked.table)
    if found is None:
        raise NothingFound(f"{asked.database}.{asked.table} table not found")
    return found


def _database(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    found = catalog.database(asked.database)
    if found is None:
        raise NothingFound(f"database {asked.database} not found")
    return struct(at, database_struct(found))


def _table(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    return struct(at, table_struct(_table_of(catalog, asked)))


def _tables(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    return structs(at, map(table_struct, tables_by_name(catalog, asked)))


def _table_names(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    return texts(at, table_names(catalog, asked))


def _filtered_names(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    return texts(at, filtered_table_names(catalog, asked))


def _metas(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    return structs(at, [meta for one in asked.by_database() for meta in _metas_of(catalog, one)])


def _metas_of(catalog: Catalog, asked: Arguments) -> list[bytes]:
    kinds = asked.texts("types")
    try:
        tables = [catalog.table(asked.database, name) for name in table_names(catalog, asked)]
    except NothingFound:
        return []  # a database that is not there has no tables: it was asked for by a pattern
    return [table_meta_struct(one) for one in tables if one is not None and (not kinds or one.table_type in kinds)]


def _infos(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    return structs(at, (ended(text(1, name)) for name in table_names(catalog, asked)))


def _fields(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    return _columns(at, _table_of(catalog, asked).storage.columns)


def _schema(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    return _columns(at, _table_of(catalog, asked).columns)


def _columns(at: int, columns: Iterable[CatalogColumn]) -> bytes:
    return structs(at, map(column_struct, columns))


def _partition_names(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    if asked.has("expression"):
        raise RefusedCall(
            "partitions cannot be chosen by an expression of Hive's own for a remote that is no Hive metastore"
        )
    return texts(at, partition_names_asked(catalog, _table_of(catalog, asked), asked))


def _partitions(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    table = _table_of(catalog, asked)
    return structs(at, [partition_struct(table, one) for one in partitions_asked(catalog, table, asked)])


def _partition_specs(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    table = _table_of(catalog, asked)
    inside = structs(1, [partition_struct(table, one) for one in partitions_asked(catalog, table, asked)])
    spec = ended(
        text(1, table.database), text(2, table.name), text(3, table.storage.location), struct(5, ended(inside))
    )
    return structs(at, [spec])


def _partition(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    table = _table_of(catalog, asked)
    found = one_partition(catalog, table, asked)
    if found is None:
        raise NothingFound(f"partition of {table.database}.{table.name} not found")
    return struct(at, partition_struct(table, found))


def _partition_count(catalog: Catalog, asked: Arguments, at: int) -> bytes:
    return number_of_32_bits(at, len(partitions_asked(catalog, _table_of(catalog, asked), asked)))


def _nothing_found(_: Catalog, asked: Arguments, __: int) -> bytes:
    raise NothingFound(f"there is none for {asked.database}.{asked.table}")


def _default_value(_: Catalog, asked: Arguments, at: int) -> bytes:
    return text(at, asked.text("default") or "")


_NO_TABLE_STATISTICS: Final = ended(structs(1, ()), truth(2, False))
_NO_PARTITION_STATISTICS: Final = ended(empty_mapping(1, LIST), truth(2, False))
_NO_SUMMED_STATISTICS: Final = ended(structs(1, ()), number_of_64_bits(2, 0), truth(3, False))
_NO_CONSTRAINTS: Final = ended(struct(1, ended(*(structs(number, ()) for number in range(1, 7)))))


def _constant(body: bytes) -> Answered:
    return lambda catalog, asked, at: struct(at, body)


_HOW: Final[Mapping[Asked, Answered]] = {
    Asked.DATABASE: _database,
    Asked.TABLE: _table,
    Asked.TABLES: _tables,
    Asked.TABLE_NAMES: _table_names,
    Asked.FILTERED_TABLE_NAMES: _filtered_names,
    Asked.TABLE_METAS: _metas,
    Asked.TABLE_INFOS: _infos,
    Asked.FIELDS: _fields,
    Asked.SCHEMA: _schema,
    Asked.PARTITION_NAMES: _partition_names,
    Asked.PARTITIONS: _partitions,
    Asked.PARTITION_SPECS: _partition_specs,
    Asked.PARTITION: _partition,
    Asked.PARTITION_COUNT: _partition_count,
    Asked.NO_LIST: lambda catalog, asked, at: structs(at, ()),
    Asked.NO_TABLE_STATISTICS: _constant(_NO_TABLE_STATISTICS),
    Asked.NO_PARTITION_STATISTICS: _constant(_NO_PARTITION_STATISTICS),
    Asked.NO_SUMMED_STATISTICS: _constant(_NO_SUMMED_STATISTICS),
    Asked.NO_CONSTRAINTS: _constant(_NO_CONSTRAINTS),
    Asked.NO_STRUCT: _constant(ended()),
    Asked.NOTHING_FOUND: _nothing_found,
    Asked.VOID: lambda catalog, asked, at: b"",
    Asked.DEFAULT_VALUE: _default_value,
    Asked.ALIVE: lambda catalog, asked, at: number_of_32_bits(at, _ALIVE),
}
