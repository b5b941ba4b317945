"""Tables of a remote as clients are told of them: EXTERNAL, and nothing that is purged.

By these words clients decide whether they delete files themselves: Spark's TRUNCATE and Hive's DROP ... PURGE tell the
metastore after they have deleted, or not at all.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from twinhive.federation.gateway.struct_edits import (
    elements_at,
    entries_at,
    entries_field,
    entries_of,
    fields_of,
    place_of,
    text_at,
    text_of,
    with_elements,
    with_text,
)
from twinhive.hive.wire.renamed_chunks import StructChanges
from twinhive.hive.wire.thrift_message import STOP, WireMessage, text_field

EXTERNAL: Final = "EXTERNAL_TABLE"
_MANAGED: Final = "MANAGED_TABLE"
_VIEWS: Final = ("VIRTUAL_VIEW", "MATERIALIZED_VIEW")
"""A materialized view has files too; no client of those we know deletes them without a call, and Spark reads none."""
_PURGING: Final = ("external.table.purge", "auto.purge")
"""Hive's keys; nothing is purged without them. Of Iceberg's, `gc.enabled`, it is the other way round."""
_TABLE_TYPE: Final = "table_type"
_STORAGE_HANDLER: Final = "storage_handler"
_ONE, _LIST = "get_table_req", "get_table_objects_by_name_req"
_TABLES: Final = (0, 1)
_PARAMETERS, _TYPE = 9, 12
_TYPE_OF_A_ROW: Final = 3
"""In `TableMeta`."""
_NOTHING_MORE: Final = MappingProxyType[str, str]({})


def with_external_tables(answer: WireMessage, more: Mapping[str, str] = _NOTHING_MORE) -> WireMessage:
    """Return an answer with its tables as clients are told of them; `more` are parameters of one that is alone."""
    if answer.head.method not in (_ONE, _LIST) or (place := place_of(answer, _TABLES)) is None:
        return answer
    if answer.head.method == _ONE:
        begin, end, raw = place.begin, place.end, answer.raw
        return WireMessage(answer.head, raw[:begin] + _external(raw[begin:end], more) + raw[end:], answer.at)
    return with_elements(answer, _TABLES, [_external(one) for one in elements_at(answer, _TABLES)])


def external_row(row: WireMessage) -> WireMessage:
    """Return a row of `get_table_meta` as clients are told of its table."""
    kind = text_at(row, (_TYPE_OF_A_ROW,))
    return row if kind is None or kind in _VIEWS else with_text(row, (_TYPE_OF_A_ROW,), EXTERNAL)


def kinds_there(kinds: Iterable[str]) -> list[str]:
    """Return which kinds a remote is asked for, for those that a client wants; none for what no table of it is here."""
    wanted = [kind for kind in kinds if kind != _MANAGED]
    return [*wanted, _MANAGED] if EXTERNAL in wanted else wanted


def deleted_by_clients(answer: WireMessage) -> str | None:
    """Say by which parameter clients take a table for one whose files they delete themselves once it is dropped.

    Iceberg's and Paimon's catalogs, and the storage handlers of Hive's clients, do so. None for all others; `answer` is
    that to `get_table_req`.
    """
    parameters = entries_at(answer, (*_TABLES, _PARAMETERS))
    return next((f"{key}={parameters[key]}" for key in (_TABLE_TYPE, _STORAGE_HANDLER) if key in parameters), None)


def _external(table: bytes, more: Mapping[str, str] = _NOTHING_MORE) -> bytes:
    """Return an encoded table as clients are told of it; with some of its fields only, these."""
    fields = dict(fields_of(table, 0))
    kind, parameters = text_of(table, fields.get(_TYPE)), entries_of(table, fields.get(_PARAMETERS))
    told = {key: value for key, value in (parameters or {}).items() if key not in _PURGING}
    changed = {}
    if kind not in _VIEWS and (kind is not None or parameters):
        told["EXTERNAL"] = "TRUE"
        if told.get(_TABLE_TYPE, "").lower() == "iceberg":
            told["gc.enabled"] = "false"
        changed[_TYPE] = text_field(_TYPE, EXTERNAL)
    if told or parameters is not None:
        changed[_PARAMETERS] = entries_field(_PARAMETERS, {**told, **more})
    kept = (table[place.begin - 3 : place.end] for number, place in fields.items() if number not in changed)
    return b"".join((*kept, *changed.values(), STOP))


CHANGES: Final[StructChanges] = {"Table": _external}
"""For answers that are handed on as they come."""
