"""Write objects as the Thrift structs that Hive's dumps hold."""

import json
from dataclasses import replace
from typing import Any

from twinhive.core.model.marks import LAST_ID, without_marks
from twinhive.core.model.objects import Database, Function, Parameters, Partition, Table
from twinhive.core.model.thrift_objects import fresh_database, fresh_function, fresh_partition, fresh_table
from twinhive.core.model.tjson import from_text

# The replica's database goes to the places of its own warehouse.
_DEFAULT_PLACES = {"hive.repl.is.custom.db.loc": "false", "hive.repl.is.custom.db.managedloc": "false"}


def database_text(database: Database, event_id: int) -> str:
    """Return a database as of an event, which Hive's replica will be at once all of the dump is loaded."""
    parameters = {**without_marks(database.parameters), **_DEFAULT_PLACES, LAST_ID: str(event_id)}
    return _text(fresh_database(replace(database, parameters=parameters)))


def table_text(table: Table, event_id: int | None = None) -> str:
    """Return a table as of an event; without one as nobody's replica."""
    return _text(fresh_table(table.with_parameters(_parameters(table, event_id))))


def partition_text(partition: Partition, event_id: int | None = None) -> str:
    """Return a partition as of an event; without one as nobody's replica."""
    return _text(fresh_partition(partition.with_parameters(_parameters(partition, event_id))))


def function_text(function: Function, resources: tuple[str, ...]) -> str:
    """Return a function with its resources as entries of files."""
    return _text(fresh_function(function.at(function.database, resources)))


def struct_text(thrift: str) -> str:
    """Return a struct of an event's message as it was in there."""
    return _text(from_text(thrift))


def _parameters(one: Table | Partition, event_id: int | None) -> Parameters:
    plain = without_marks(one.parameters)
    return plain if event_id is None else {**plain, LAST_ID: str(event_id)}


def _text(value: Any) -> str:
    """Write TJSON as Thrift does: in maps whose keys are lists, these are no strings (skewed values have such)."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_scalar(key)}:{_typed(key, inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    return _scalar(value)


def _typed(kind: str, value: Any) -> str:
    if kind != "map" or value[0] != "lst":
        return _text(value)
    keys, values, length, entries = value
    inner = ",".join(f"{key}:{_text(one)}" for key, one in entries.items())
    return f"[{_scalar(keys)},{_scalar(values)},{length},{{{inner}}}]"


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
