"""Say of databases, tables, partitions, functions and constraints what both clusters must have equal, in one form.

The form is plain values by the names of Hive's Thrift fields, made of what the metastore gave: also fields that nobody
here understands are in it. Left out is what each side has of its own:

  names       of the databases
  places      locations, and the path that Spark keeps beside them; of those of skewed values what comes below; of
              functions all of a resource but its file's name
  times, ids  creation, last access, last change of the parameters; catalog, table, write and transaction
  rights      privileges
  marks       what replication writes into parameters, and the mark of tables that Hive's metastore made external
  statistics  in `statistics`: the replica's metastore counts by itself where the source says nothing

A field that is not set equals one that is empty, and an owner of no type is a user, as in Hive's own classes.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from twinhive.core.model.constraints import Constraint
from twinhive.core.model.files import base_name, is_below
from twinhive.core.model.marks import without_marks
from twinhive.core.model.objects import USER, Database, Function, Parameters, Partition, Table
from twinhive.core.model.table_formats import PATH
from twinhive.core.model.thrift_objects import (
    fresh_database,
    fresh_function,
    fresh_partition,
    fresh_table,
    skewed_places,
)
from twinhive.core.model.tjson import Tree, from_text
from twinhive.replication.replica.replica_locations import TRANSLATED, without_statistics_claim

Plain = dict[str, Any]
"""Plain values, by the names of fields."""

_NATIVE = 1
"""The number of the kind of database that Hive takes where none is given."""
_SKEWED_PLACES = "skewedColValueLocationMaps"
_CLAIM = "COLUMN_STATS_ACCURATE"
_STATISTICS = frozenset({"numFiles", "totalSize", "numRows", "rawDataSize", "numFilesErasureCoded", _CLAIM})
_OF_ONE_SIDE = frozenset({"transient_lastDdlTime", TRANSLATED})


@dataclass(frozen=True)
class _Struct:
    """The fields of a Thrift struct: `names` in the order of their numbers from 1 on, `-` for one that is left out."""

    names: str
    inner: Mapping[str, "_Struct"] = field(default_factory=dict)

    def field(self, number: str) -> str:
        """Return a field's name; one that this version does not know is called by its number."""
        names = self.names.split()
        at = int(number) - 1
        return names[at] if at < len(names) else f"field {number}"


_UNKNOWN = _Struct("")
_COLUMN = _Struct("name type comment")
_STORAGE = _Struct(
    "cols - inputFormat outputFormat compressed numBuckets serdeInfo bucketCols sortCols parameters skewedInfo "
    "storedAsSubDirectories",
    {
        "cols": _COLUMN,
        "serdeInfo": _Struct(
            "name serializationLib parameters description serializerClass deserializerClass serdeType"
        ),
        "sortCols": _Struct("col order"),
        "skewedInfo": _Struct("skewedColNames skewedColValues skewedColValueLocationMaps"),
    },
)
_DATABASE = _Struct("- description - parameters - ownerName ownerType - - - type connector_name remote_dbname")
_TABLE = _Struct(
    "tableName - owner - - retention sd partitionKeys parameters viewOriginalText viewExpandedText tableType - - "
    "rewriteEnabled - - ownerType",
    {"sd": _STORAGE, "partitionKeys": _COLUMN},
)
_PARTITION = _Struct("values - - - - sd parameters", {"sd": _STORAGE})
_FUNCTION = _Struct(
    "functionName - className ownerName ownerType - functionType resourceUris -",
    {"resourceUris": _Struct("resourceType uri")},
)
_STATE = "enable_cstr validate_cstr rely_cstr"
_CONSTRAINTS = {
    "primary_key": _Struct(f"- table_name column_name key_seq pk_name {_STATE} -"),
    "foreign_key": _Struct(
        "- pktable_name pkcolumn_name - fktable_name fkcolumn_name key_seq update_rule delete_rule fk_name pk_name "
        f"{_STATE} -"
    ),
    "unique": _Struct(f"- - table_name column_name key_seq uk_name {_STATE}"),
    "not_null": _Struct(f"- - table_name column_name nn_name {_STATE}"),
    "default": _Struct(f"- - table_name column_name default_value dc_name {_STATE}"),
    "check": _Struct(f"- - table_name column_name check_expression dc_name {_STATE}"),
}


def canonical_database(database: Database) -> Plain:
    """Return what both sides must have equal of a database."""
    form = _with_spoken(_fields(fresh_database(database), _DATABASE), database.parameters)
    return {name: value for name, value in form.items() if (name, value) != ("type", _NATIVE)}


def canonical_table(table: Table) -> Plain:
    """Return what both sides must have equal of a table or view; its constraints are told apart."""
    form = _of_object(fresh_table(table), _TABLE, table)
    path = form.get("sd", {}).get("serdeInfo", {}).get("parameters", {}).get(PATH)
    is_own = path is not None and table.location is not None and _leads_to(path.rstrip("/"), table.location)
    return _without_path(form) if is_own else form


def canonical_partition(partition: Partition) -> Plain:
    """Return what both sides must have equal of a partition."""
    return _without_path(_of_object(fresh_partition(partition), _PARTITION, partition))


def canonical_function(function: Function) -> Plain:
    """Return what both sides must have equal of a function."""
    form = _fields(fresh_function(function), _FUNCTION)
    resources = [{**one, "uri": base_name(one.get("uri", ""))} for one in form.get("resourceUris", [])]
    return {**form, "resourceUris": resources} if resources else form


def canonical_constraints(constraints: Iterable[Constraint]) -> Plain:
    """Return what both sides must have equal of a table's constraints, by kind and name."""
    found: Plain = {}
    for one in constraints:
        columns = [_fields(from_text(text), _CONSTRAINTS[one.kind]) for text in one.structs]
        found.setdefault(one.kind, {})[one.name] = sorted(columns, key=canonical_text)
    return found


def spoken(parameters: Parameters) -> dict[str, str]:
    """Return the parameters that users and their engines have set."""
    said = without_marks(parameters)
    return {key: value for key, value in said.items() if key not in _STATISTICS and key not in _OF_ONE_SIDE}


def statistics(parameters: Parameters) -> dict[str, str]:
    """Return the basic statistics that an object says of itself, without the claim that those of columns hold."""
    said = without_statistics_claim(parameters)
    return {key: value for key, value in said.items() if key in _STATISTICS and (key, value) != (_CLAIM, "{}")}


def canonical_text(form: Any) -> bytes:
    """Return a form as text that is the same for equal forms."""
    return json.dumps(form, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _leads_to(path: str, location: str) -> bool:
    return path == location or is_below(location, path)


def _without_path(form: Plain) -> Plain:
    """Leave out where Spark believes a table to lie: the location, seen with other eyes."""
    serde = form.get("sd", {}).get("serdeInfo", {})
    if PATH not in serde.get("parameters", {}):
        return form
    said = {key: value for key, value in serde["parameters"].items() if key != PATH}
    left = {key: value for key, value in serde.items() if key != "parameters"}
    return {**form, "sd": {**form["sd"], "serdeInfo": {**left, "parameters": said} if said else left}}


def _of_object(tree: Tree, struct: _Struct, one: Table | Partition) -> Plain:
    form = _with_spoken(_fields(tree, struct), one.parameters)
    skewed = form.get("sd", {}).get("skewedInfo", {})
    if _SKEWED_PLACES not in skewed:
        return form
    below = skewed_places(skewed.get("skewedColNames", ()), skewed[_SKEWED_PLACES], one.location)
    return {**form, "sd": {**form["sd"], "skewedInfo": {**skewed, _SKEWED_PLACES: below}}}


def _with_spoken(form: Plain, parameters: Parameters) -> Plain:
    said = spoken(parameters)
    left = {name: value for name, value in form.items() if name != "parameters"}
    return {**left, "parameters": said} if said else left


def _fields(tree: Tree, struct: _Struct) -> Plain:
    named = ((struct.field(number), encoded) for number, encoded in tree.items())
    plain = {name: _value(encoded, struct.inner.get(name)) for name, encoded in named if name != "-"}
    return {name: value for name, value in plain.items() if value and (name, value) != ("ownerType", USER)}


def _value(encoded: Mapping[str, Any], struct: _Struct | None) -> Any:
    ((kind, value),) = encoded.items()
    return _plain(kind, value, struct or _UNKNOWN)


def _plain(kind: str, value: Any, struct: _Struct) -> Any:
    match kind:
        case "rec":
            return _fields(value, struct)
        case "lst" | "set":
            element, _, *items = value
            return [_plain(element, item, struct) for item in items]
        case "map":
            _, element, _, entries = value
            return {key: _plain(element, entry, struct) for key, entry in entries.items()}
        case _:
            return value
