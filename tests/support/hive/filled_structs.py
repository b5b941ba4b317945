"""Fill every field of Hive's Thrift structs, also those that a later version of the bindings brings."""

from typing import Any

from hive_metastore import ttypes
from thrift.Thrift import TType

_SCALARS = {TType.BOOL: True, TType.BYTE: 1, TType.I16: 1, TType.I32: 1, TType.I64: 1, TType.DOUBLE: 1.5}
_UNIONS = {ttypes.ColumnStatisticsData: "longStats"}
"""Structs of which one field is set, with that one."""


def filled(struct_class: Any, *around: Any) -> Any:
    """Return a struct with a value in every field, texts by their field's name; one inside itself is left empty."""
    if struct_class in around:
        return struct_class()
    fields = {
        name: _value(kind, inner, name, (*around, struct_class))
        for _, kind, name, inner, _ in filter(None, struct_class.thrift_spec)
        if _UNIONS.get(struct_class, name) == name
    }
    return struct_class(**fields)


def _value(kind: int, inner: Any, name: str, around: tuple[Any, ...]) -> Any:
    if kind == TType.STRUCT:
        return filled(inner[0], *around)
    if kind in (TType.LIST, TType.SET):
        item = _value(inner[0], inner[1], name, around)
        return {item} if kind == TType.SET and isinstance(item, str) else [item]
    if kind == TType.MAP:
        key = _value(inner[0], inner[1], name, around)
        return {tuple(key) if isinstance(key, list) else key: _value(inner[2], inner[3], name, around)}
    if kind == TType.STRING:
        return b"bytes" if inner == "BINARY" else f"{name} 日本"
    return _SCALARS[kind]
