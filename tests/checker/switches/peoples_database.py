"""See that nobody but its users changes a database that people write: our marks are all that may come."""

from typing import Any

from tests.checker.switches.two_sides import DATABASE, Side
from twinhive.core.model.marks import without_marks
from twinhive.core.model.objects import DDL_TIME

_UNSAID = {DDL_TIME}


def peoples_database(side: Side) -> dict[str, Any]:
    """Return what users have made of the replicated database: definitions, places, files, without marks."""
    found: dict[str, Any] = {}
    for name, table in side.metastore._tables.items():
        if name.database != DATABASE or (side.foreign and name in side.foreign.names):
            continue
        found[str(name)] = (table.columns, table.location, _said(table.parameters), table.table_type)
        parts = side.metastore._partitions[name]
        for part, one in parts.items():
            found[f"{name}/{part}"] = (one.location, _said(one.parameters))
        places = [one.location for one in parts.values()] if table.partition_keys else [table.location]
        for place in places:
            found |= _files(side, place)
    database = side.metastore._databases[DATABASE]
    return found | {"database": database.parameters.get("x")}


def what_differs(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return in words what is another."""
    gone = [f"{key} is gone" for key in before if key not in now]
    other = [f"{key}: {_difference(before[key], now[key])}" for key in before if key in now and before[key] != now[key]]
    return gone + other + [f"{key} has come" for key in now if key not in before]


def _difference(before: Any, now: Any) -> str:
    if isinstance(before, tuple):
        before, now = zip(*((one, other) for one, other in zip(before, now, strict=True) if one != other), strict=True)
    if isinstance(before, tuple) and len(before) == 1 and isinstance(before[0], dict):
        was, is_ = before[0], now[0]
        keys = sorted(key for key in was.keys() | is_.keys() if was.get(key) != is_.get(key))
        return ", ".join(f"{key}: {was.get(key)} -> {is_.get(key)}" for key in keys)[:300]
    return f"{before} -> {now}"[:300]


def _said(parameters: Any) -> dict[str, str]:
    return {key: value for key, value in without_marks(parameters).items() if key not in _UNSAID}


def _files(side: Side, place: str | None) -> dict[str, bytes]:
    if not place or place.rstrip("/") not in side.files._nodes:
        return {}
    return {
        one.path: side.files._nodes[one.path].content
        for one in side.files._tree.children(place)
        if not one.is_directory and not one.path.rpartition("/")[2].startswith(".")
    }
