"""Build tables, views and partitions with everything in them that a real metastore asks for."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function, Partition, Table
from twinhive.core.model.table_formats import PROVIDER
from twinhive.core.model.thrift_objects import read_table
from twinhive.core.model.tjson import Tree, from_text, to_text
from twinhive.core.ports import MetastoreReader


def a_storage_descriptor() -> Tree:
    """Return the storage descriptor of a text table, with parameters that nobody understands."""
    serde = {
        "2": {"str": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"},
        "3": {"map": ["str", "str", 2, {"field.delim": "\x01", "twinhive.unknown": "Zoë 日本"}]},
    }
    columns = [{"1": {"str": "id"}, "2": {"str": "int"}, "3": {"str": "Schlüssel"}}]
    return {
        "1": {"lst": ["rec", 1, *columns]},
        "3": {"str": "org.apache.hadoop.mapred.TextInputFormat"},
        "4": {"str": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"},
        "5": {"tf": 0},
        "6": {"i32": -1},
        "7": {"rec": serde},
        "8": {"lst": ["str", 0]},
        "9": {"lst": ["rec", 0]},
        "10": {"map": ["str", "str", 1, {"sd.unknown": "kept"}]},
    }


def a_table(database: str, name: str, keys: tuple[str, ...] = (), **changes: Any) -> Table:
    """Return a managed table whose keys are strings; without a location it goes to its default place."""
    key_records = [{"1": {"str": key}, "2": {"str": "string"}} for key in keys]
    tree = {
        "1": {"str": name},
        "2": {"str": database},
        "3": {"str": "anna"},
        "7": {"rec": a_storage_descriptor()},
        "8": {"lst": ["rec", len(key_records), *key_records]},
        "12": {"str": "MANAGED_TABLE"},
    }
    if changes.get("table_type") == "EXTERNAL_TABLE":
        changes = {"parameters": {"EXTERNAL": "TRUE"}, **changes}
    return replace(read_table(tree), **changes)


def records(structs: Iterable[Tree]) -> Tree:
    """Return a list of structs as a field."""
    there = list(structs)
    return {"lst": ["rec", len(there), *there]}


def skewed(sd: Tree, columns: Sequence[str], places: Mapping[tuple[str, ...], str]) -> Tree:
    """Return a storage descriptor with a directory for each of some lists of values."""
    lists = [["str", len(values), *values] for values in places]
    info = {
        "1": {"lst": ["str", len(columns), *columns]},
        "2": {"lst": ["lst", len(lists), *lists]},
        "3": {"map": ["lst", "str", len(lists), {json.dumps(one): places[tuple(one[2:])] for one in lists}]},
    }
    return {**sd, "11": {"rec": info}, "12": {"tf": 1}}


def a_spark_table(
    database: str, name: str, path: str | None, provider: str | None = "csv", location: str | None = None
) -> Table:
    """Return an external table as Spark writes it for a source without a SerDe: its location is a placeholder."""
    tree = from_text(a_table(database, name).thrift)
    options = {"header": "true"} | ({"path": path} if path else {})
    said = {"EXTERNAL": "TRUE"} | ({PROVIDER: provider} if provider else {})
    tree["7"]["rec"]["7"] = {"rec": {"3": {"map": ["str", "str", len(options), options]}}}
    tree["7"]["rec"]["2"] = {"str": location or f"hdfs://east/w/{database}.db/{name}-__PLACEHOLDER__"}
    tree |= {"9": {"map": ["str", "str", len(said), said]}, "12": {"str": "EXTERNAL_TABLE"}}
    return read_table(tree)


def as_said(table: Table, said: str | None, external: str | None, owner_type: int | None = None) -> Table:
    """Return a table as a client may say it: with any type, EXTERNAL and kind of owner, or without them."""
    tree = {key: value for key, value in from_text(table.thrift).items() if key not in ("12", "18")}
    tree |= {} if said is None else {"12": {"str": said}}
    tree |= {} if owner_type is None else {"18": {"i32": owner_type}}
    parameters = {key: value for key, value in table.parameters.items() if key != "EXTERNAL"}
    parameters |= {} if external is None else {"EXTERNAL": external}
    return replace(table, table_type=said or "", parameters=parameters, thrift=to_text(tree))


def owned(database: Database, owner: str, owner_type: int | None) -> Database:
    """Return a database as a client may say it: with any kind of owner, or without one."""
    tree = {key: value for key, value in from_text(database.thrift).items() if key != "7"}
    return replace(database, owner=owner, owner_type=owner_type, thrift=to_text(tree))


def a_view(database: str, name: str, keys: tuple[str, ...] = ()) -> Table:
    """Return a view, a partitioned one when it has keys."""
    tree = from_text(a_table(database, name, keys).thrift)
    tree |= {"10": {"str": "select 'é' from t"}, "11": {"str": f"select 'é' from `{database}`.`t`"}}
    return replace(read_table(tree), table_type="VIRTUAL_VIEW")


def a_partition(table: Table, *values: str, **changes: Any) -> Partition:
    """Return a partition; without a location it goes to its default place."""
    tree = {"6": {"rec": a_storage_descriptor()}}
    return Partition(
        **{"location": None, "parameters": {}, **changes}, table=table.name, values=values, thrift=to_text(tree)
    )


def a_function(database: str, name: str, *resources: str) -> Function:
    """Return a permanent function whose resources are jars."""
    return Function(database, name, "org.example.Upper", resources, to_text({"4": {"str": "anna"}, "5": {"i32": 1}}))


# The field ids of database, table, column and name in the struct of each kind; what else it must have.
_CONSTRAINTS: dict[str, tuple[str, str, str, str, Tree]] = {
    "primary_key": ("1", "2", "3", "5", {"4": {"i32": 1}}),
    "foreign_key": ("4", "5", "6", "10", {"7": {"i32": 1}, "8": {"i32": 0}, "9": {"i32": 0}}),
    "unique": ("2", "3", "4", "6", {"5": {"i32": 1}}),
    "not_null": ("2", "3", "4", "5", {}),
    "default": ("2", "3", "4", "6", {"5": {"str": "7"}}),
    "check": ("2", "3", "4", "6", {"5": {"str": "id > 7"}}),
}
_FLAGS = {"primary_key": ("6", "7", "8"), "foreign_key": ("12", "13", "14"), "unique": ("7", "8", "9")}
_OTHER_FLAGS = {"not_null": ("6", "7", "8"), "default": ("7", "8", "9"), "check": ("7", "8", "9")}
CONSTRAINT_KINDS = tuple(_CONSTRAINTS)


def a_constraint(table: Table, kind: str, name: str, parent: Table | None = None, parent_key: str = "pk") -> str:
    """Return a constraint on a table's first column, in TJSON; a foreign key needs the table it refers to."""
    database_id, table_id, column_id, name_id, rest = _CONSTRAINTS[kind]
    column = {"str": table.columns[0][0]}
    enabled, validated, relied = (_FLAGS | _OTHER_FLAGS)[kind]
    tree: Tree = {
        database_id: {"str": table.name.database},
        table_id: {"str": table.name.table},
        column_id: column,
        name_id: {"str": name},
        enabled: {"tf": 0},
        validated: {"tf": 0},
        relied: {"tf": 1},
        **rest,
    }
    if parent:
        tree |= {"1": {"str": parent.name.database}, "2": {"str": parent.name.table}, "3": column}
        tree |= {"11": {"str": parent_key}}
    return to_text(tree)


def constraint_names(metastore: MetastoreReader, table: TableName) -> set[str]:
    """Return the names of a table's constraints."""
    return {one.name for one in metastore.constraints(table)}


def constraints_in_words(metastore: MetastoreReader, table: TableName) -> list[str]:
    """Return a table's constraints in words that are the same in another database."""
    return [
        f"{one.kind} {one.name} of {', '.join(one.columns)}" + (f" in {one.parent.table}" if one.parent else "")
        for one in metastore.constraints(table)
    ]


def statistics_of(table: Table, column: str, partition: str | None = None) -> str:
    """Return statistics of an int column of a table, or of one of its partitions, in TJSON."""
    description: Tree = {"1": {"tf": int(partition is None)}, "2": {"str": table.name.database}}
    description |= {"3": {"str": table.name.table}, "5": {"i64": 1_700_000_000}}
    if partition is not None:
        description["4"] = {"str": partition}
    numbers = {"1": {"i64": 1}, "2": {"i64": 9}, "3": {"i64": 0}, "4": {"i64": 5}}
    data = {"2": {"rec": numbers}}
    record = {"1": {"str": column}, "2": {"str": "int"}, "3": {"rec": data}}
    return to_text({"1": {"rec": description}, "2": {"lst": ["rec", 1, record]}, "4": {"str": "hive"}})
