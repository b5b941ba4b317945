"""Read databases, tables, partitions and functions out of Thrift trees, and put their fields back.

Works on TJSON alone, so it serves what the metastore returns and what its event messages
hold. The numbers are the field ids of Hive's `hive_metastore.thrift`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from twinhive.core.model.files import authority, is_below, join, qualified, relative_to
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Database, Function, Parameters, Partition, Table, stored_type
from twinhive.core.model.table_formats import PATH, place_of_rows, spark_path
from twinhive.core.model.tjson import Tree, from_text, to_text

# Database
_DB_NAME, _DB_COMMENT, _DB_LOCATION, _DB_PARAMETERS, _DB_OWNER, _DB_MANAGED_LOCATION = "1", "2", "3", "4", "6", "10"
_DB_OWNER_TYPE = "7"
# Privileges, catalog and creation time: the receiving metastore has its own.
_DB_CONNECTOR = "12"
_DB_OF_ITS_METASTORE = ("5", "8", "9")

# Table
_VIEW_ORIGINAL, _VIEW_EXPANDED = "10", "11"
_TABLE, _TABLE_DB, _TABLE_SD, _TABLE_KEYS, _TABLE_PARAMETERS, _TABLE_TYPE = "1", "2", "7", "8", "9", "12"
# Privileges, `temporary`, creation metadata of materialized views (transactions of the source),
# catalog, write id, statistics with their state, access type, capabilities, id, file metadata,
# dictionary, transaction id.
_TABLE_OF_ITS_METASTORE = ("13", "14", "16", "17", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28")

# Partition
_VALUES, _PARTITION_DB, _PARTITION_TABLE, _PARTITION_SD, _PARTITION_PARAMETERS = "1", "2", "3", "6", "7"
# Privileges, catalog, write id, statistics with their state, file metadata.
_PARTITION_OF_ITS_METASTORE = ("8", "9", "10", "11", "12", "13")

# Function, ResourceUri
_FUNCTION, _FUNCTION_DB, _FUNCTION_CLASS, _FUNCTION_TYPE, _FUNCTION_RESOURCES = "1", "2", "3", "7", "8"
# Creation time and catalog.
_FUNCTION_OF_ITS_METASTORE = ("6", "9")
_RESOURCE_TYPE, _RESOURCE_URI = "1", "2"
_JAVA, _JAR = 1, 1

# StorageDescriptor, SerDeInfo, FieldSchema
_COLUMNS, _LOCATION, _INPUT_FORMAT, _OUTPUT_FORMAT, _SERDE = "1", "2", "3", "4", "7"
_SERDE_LIBRARY, _SERDE_PARAMETERS = "2", "3"
_BUCKET_COLUMNS = "8"
_COLUMN_NAME, _COLUMN_TYPE = "1", "2"
_SKEWED, _SKEWED_COLUMNS, _SKEWED_PLACES = "11", "1", "3"

_TABLE_ID, _CREATED = "25", "4"
_OWNER = "3"
_TEXT_FORMAT: Tree = {
    "3": {"str": "org.apache.hadoop.mapred.TextInputFormat"},
    "4": {"str": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"},
    "5": {"tf": 0},
    "6": {"i32": -1},
    "7": {"rec": {"2": {"str": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"}}},
    "8": {"lst": ["str", 0]},
    "9": {"lst": ["rec", 0]},
    "10": {"map": ["str", "str", 0, {}]},
}

_VIEW = "VIRTUAL_VIEW"


def read_database(tree: Tree, text: str | None = None) -> Database:
    """Read a database; `text` is the TJSON that the tree was parsed from, if it was."""
    return Database(
        name=_text(tree, _DB_NAME) or "",
        location=_location(tree, _DB_LOCATION),
        managed_location=_location(tree, _DB_MANAGED_LOCATION),
        parameters=_mapping(tree, _DB_PARAMETERS),
        thrift=to_text(tree) if text is None else text,
        comment=_text(tree, _DB_COMMENT),
        owner=_text(tree, _DB_OWNER),
        owner_type=tree.get(_DB_OWNER_TYPE, {}).get("i32"),
        connector=_text(tree, _DB_CONNECTOR) or None,
    )


def read_table(tree: Tree, text: str | None = None) -> Table:
    """Read a table or view; `text` is the TJSON that the tree was parsed from, if it was."""
    sd = _record(tree, _TABLE_SD)
    table_type, parameters = _text(tree, _TABLE_TYPE) or "", _mapping(tree, _TABLE_PARAMETERS)
    return Table(
        name=TableName((_text(tree, _TABLE_DB) or "").lower(), (_text(tree, _TABLE) or "").lower()),
        table_type=table_type,
        location=None if table_type == _VIEW else _place(sd, parameters),
        partition_keys=tuple(_text(key, _COLUMN_NAME) or "" for key in _items(tree, _TABLE_KEYS)),
        columns=tuple(
            (_text(column, _COLUMN_NAME) or "", _text(column, _COLUMN_TYPE) or "") for column in _items(sd, _COLUMNS)
        ),
        parameters=parameters,
        thrift=to_text(tree) if text is None else text,
    )


def as_stored(tree: Tree) -> Tree:
    """Return a table as the metastore gives it again whose struct is as a client said it: with its true type.

    Of a view whose type nobody said, the metastore does not give the text again.
    """
    said = _text(tree, _TABLE_TYPE)
    stored = stored_type(said, _mapping(tree, _TABLE_PARAMETERS), is_query=_text(tree, _VIEW_ORIGINAL) is not None)
    if stored == said:
        return tree
    kept = _without(tree, (_VIEW_ORIGINAL, _VIEW_EXPANDED)) if said is None else tree
    return {**kept, _TABLE_TYPE: {"str": stored}}


def read_partition(tree: Tree, text: str | None = None) -> Partition:
    """Read a partition; `text` is the TJSON that the tree was parsed from, if it was."""
    return Partition(
        table=TableName((_text(tree, _PARTITION_DB) or "").lower(), (_text(tree, _PARTITION_TABLE) or "").lower()),
        values=tuple(_items(tree, _VALUES)),
        location=_location(_record(tree, _PARTITION_SD), _LOCATION),
        parameters=_mapping(tree, _PARTITION_PARAMETERS),
        thrift=to_text(tree) if text is None else text,
    )


def read_function(tree: Tree, text: str | None = None) -> Function:
    """Read a permanent function; `text` is the TJSON that the tree was parsed from, if it was."""
    return Function(
        database=(_text(tree, _FUNCTION_DB) or "").lower(),
        name=(_text(tree, _FUNCTION) or "").lower(),
        class_name=_text(tree, _FUNCTION_CLASS) or "",
        resources=tuple(_text(resource, _RESOURCE_URI) or "" for resource in _items(tree, _FUNCTION_RESOURCES)),
        thrift=to_text(tree) if text is None else text,
    )


@dataclass(frozen=True)
class TableIdentity:
    """What tells a table from another one; None where the metastore does not say it."""

    table_id: int | None
    created: int | None

    @classmethod
    def of(cls, table: Table) -> "TableIdentity":
        """Return what a metastore says of a table."""
        return cls(table_id(table), created_at(table))

    def is_another(self, other: "TableIdentity | None") -> bool:
        """True when something that both say differs: old metastores give tables no id. None: there is no table."""
        if other is None:
            return True
        pairs = ((self.table_id, other.table_id), (self.created, other.created))
        return any(one != another for one, another in pairs if None not in (one, another))

    def fields(self) -> list[int | None]:
        """Return it as the mark of a copy holds it."""
        return [self.table_id, self.created]

    @classmethod
    def parse(cls, fields: Any) -> "TableIdentity":
        """Read what `fields` returned. Raises ValueError, TypeError."""
        number, created = fields
        if not all(one is None or type(one) is int for one in (number, created)):
            raise ValueError(f"no identity of a table: {fields}")
        return cls(number, created)

    def encode(self) -> bytes:
        """Return the content of a file."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, content: bytes) -> "TableIdentity":
        """Read what `encode` has written."""
        found = json.loads(content)
        return cls(found.get("table_id"), found.get("created"))


@dataclass(frozen=True)
class Storage:
    """How the files of a table are written: Hive's classes for rows and files, and the columns that choose a bucket."""

    serde: str
    bucket_columns: tuple[str, ...]
    input_format: str
    output_format: str


def storage_of(table: Table) -> Storage:
    """Return how the files of a table are written."""
    sd = _record(from_text(table.thrift), _TABLE_SD)
    return Storage(
        serde=_text(_record(sd, _SERDE), _SERDE_LIBRARY) or "",
        bucket_columns=tuple(_items(sd, _BUCKET_COLUMNS)),
        input_format=_text(sd, _INPUT_FORMAT) or "",
        output_format=_text(sd, _OUTPUT_FORMAT) or "",
    )


def partition_key_types(table: Table) -> tuple[tuple[str, str], ...]:
    """Return the partition keys of a table as (name, Hive's type)."""
    keys = _items(from_text(table.thrift), _TABLE_KEYS)
    return tuple((_text(key, _COLUMN_NAME) or "", _text(key, _COLUMN_TYPE) or "") for key in keys)


def view_text(table: Table) -> str:
    """Return the query of a view, with the names as Hive has expanded them where it has; '' for a table."""
    tree = from_text(table.thrift)
    return _text(tree, _VIEW_EXPANDED) or _text(tree, _VIEW_ORIGINAL) or ""


def serde_of(partition: Partition) -> str:
    """Return Hive's class for the rows of a partition, which may be another than the table's."""
    sd = _record(from_text(partition.thrift), _PARTITION_SD)
    return _text(_record(sd, _SERDE), _SERDE_LIBRARY) or ""


def named_locations(one: Table | Partition) -> tuple[str | None, str | None]:
    """Return the two places that the struct of an object names: its location, and its SerDe's path for Spark."""
    sd = _record(from_text(one.thrift), _TABLE_SD if isinstance(one, Table) else _PARTITION_SD)
    return _location(sd, _LOCATION), spark_path(_options(sd))


def partition_like(
    table: Table, values: Sequence[str], location: str, parameters: Parameters, before: Partition | None = None
) -> Partition:
    """Return a partition whose files are written as the table says; of one `before` the rest is kept."""
    tree = from_text(before.thrift) if before else {}
    tree[_PARTITION_SD] = {"rec": _record(from_text(table.thrift), _TABLE_SD)}
    return Partition(table.name, tuple(values), location, parameters, to_text(tree))


def fresh_database(database: Database) -> Tree:
    """Return the tree to create a database with: its own, with the fields put back."""
    tree = _without(from_text(database.thrift), _DB_OF_ITS_METASTORE)
    _put(tree, _DB_NAME, database.name)
    _put(tree, _DB_COMMENT, database.comment)
    _put(tree, _DB_OWNER, database.owner)
    if database.owner_type is not None:
        tree[_DB_OWNER_TYPE] = {"i32": database.owner_type}
    _put(tree, _DB_LOCATION, database.location)
    _put(tree, _DB_MANAGED_LOCATION, database.managed_location)
    _put_mapping(tree, _DB_PARAMETERS, database.parameters)
    return tree


def fresh_table(table: Table, *, is_new: bool = False) -> Tree:
    """Return the tree to create a table with, or to alter it: its own, with the fields put back.

    One that is new, or moved, has one place: Spark's name for a directory that is not there stays at its source.
    """
    tree = _without(from_text(table.thrift), _TABLE_OF_ITS_METASTORE)
    _put(tree, _TABLE, table.name.table)
    _put(tree, _TABLE_DB, table.name.database)
    if table.table_type:  # a struct without a type says something else than an empty one
        _put(tree, _TABLE_TYPE, table.table_type)
    place = _place(_record(tree, _TABLE_SD), _mapping(tree, _TABLE_PARAMETERS))
    _put_mapping(tree, _TABLE_PARAMETERS, table.parameters)
    if table.partition_keys:
        keys = [(key, "") for key in table.partition_keys]
        tree[_TABLE_KEYS] = _records(_with_columns(_items(tree, _TABLE_KEYS), keys))
    sd = _record(tree, _TABLE_SD)
    sd = dict(sd) if place == table.location and not is_new else _placed(sd, place, table.location)
    if table.columns or _COLUMNS in sd:
        sd[_COLUMNS] = _records(_with_columns(_items(sd, _COLUMNS), table.columns))
    tree[_TABLE_SD] = {"rec": sd}
    return tree


def fresh_partition(partition: Partition) -> Tree:
    """Return the tree to add a partition with: its own, with the fields put back."""
    tree = _without(from_text(partition.thrift), _PARTITION_OF_ITS_METASTORE)
    _put(tree, _PARTITION_DB, partition.table.database)
    _put(tree, _PARTITION_TABLE, partition.table.table)
    tree[_VALUES] = {"lst": ["str", len(partition.values), *partition.values]}
    _put_mapping(tree, _PARTITION_PARAMETERS, _with_whole_statistics(partition.parameters))
    sd = _record(tree, _PARTITION_SD)
    tree[_PARTITION_SD] = {"rec": _placed(sd, _location(sd, _LOCATION), partition.location)}
    return tree


def fresh_function(function: Function) -> Tree:
    """Return the tree to create a function with: its own, with the fields put back.

    Resources keep their types by position; one that was not there is a jar.
    """
    tree = _without(from_text(function.thrift), _FUNCTION_OF_ITS_METASTORE)
    _put(tree, _FUNCTION, function.name)
    _put(tree, _FUNCTION_DB, function.database)
    _put(tree, _FUNCTION_CLASS, function.class_name)
    tree.setdefault(_FUNCTION_TYPE, {"i32": _JAVA})
    there = dict(enumerate(_items(tree, _FUNCTION_RESOURCES)))
    tree[_FUNCTION_RESOURCES] = _records(
        [
            {_RESOURCE_TYPE: {"i32": _JAR}, **there.get(number, {}), _RESOURCE_URI: {"str": uri}}
            for number, uri in enumerate(function.resources)
        ]
    )
    return tree


def _with_whole_statistics(parameters: Parameters) -> Parameters:
    """Complete file statistics, so that the server keeps them and what rests on them.

    When one of the three is missing and the directory exists, the server lists it, replaces
    them and drops `COLUMN_STATS_ACCURATE`. Writers other than Hive 4 leave out the third.
    """
    if "numFiles" in parameters and "totalSize" in parameters:
        return {"numFilesErasureCoded": "0", **parameters}
    return parameters


def _without(tree: Tree, field_ids: Sequence[str]) -> Tree:
    return {field_id: value for field_id, value in tree.items() if field_id not in field_ids}


def _text(tree: Tree, field_id: str) -> str | None:
    value: str | None = tree.get(field_id, {}).get("str")
    return value


def _location(tree: Tree, field_id: str) -> str | None:
    return (_text(tree, field_id) or "").rstrip("/") or None


def _record(tree: Tree, field_id: str) -> Tree:
    record: Tree = tree.get(field_id, {}).get("rec", {})
    return record


def _items(tree: Tree, field_id: str) -> list[Any]:
    encoded: list[Any] = tree.get(field_id, {}).get("lst", [])
    return encoded[2:]


def _mapping(tree: Tree, field_id: str) -> dict[str, str]:
    encoded = tree.get(field_id, {}).get("map")
    return dict(encoded[3]) if encoded else {}


def _put(tree: Tree, field_id: str, value: str | None) -> None:
    if value is None:
        tree.pop(field_id, None)
    else:
        tree[field_id] = {"str": value}


def _put_mapping(tree: Tree, field_id: str, mapping: Mapping[str, str]) -> None:
    tree[field_id] = {"map": ["str", "str", len(mapping), dict(mapping)]}


def _records(records: list[Tree]) -> dict[str, Any]:
    return {"lst": ["rec", len(records), *records]}


def _options(sd: Tree) -> dict[str, str]:
    return _mapping(_record(sd, _SERDE), _SERDE_PARAMETERS)


def _place(sd: Tree, parameters: Parameters) -> str | None:
    return place_of_rows(_location(sd, _LOCATION), parameters, _options(sd))


def _placed(sd: Tree, old: str | None, location: str | None) -> Tree:
    """Return a descriptor of rows that lay at `old` and lie at `location`, where Spark looks for them too."""
    placed = dict(sd)
    _put(placed, _LOCATION, location)
    options = _options(sd)
    path = spark_path(options)
    if old and location and path is not None:
        others = {key: value for key, value in options.items() if key.lower() != PATH}
        moved = dict(_record(sd, _SERDE))
        _put_mapping(moved, _SERDE_PARAMETERS, {**others, PATH: _moved(path, old, location)})
        placed[_SERDE] = {"rec": moved}
    skewed = _record(sd, _SKEWED)
    if old != location and (places := _mapping(skewed, _SKEWED_PLACES)):
        below = skewed_places(_items(skewed, _SKEWED_COLUMNS), places, old)
        moved = {key: join(location, place) for key, place in below.items()} if location else {}
        placed[_SKEWED] = {"rec": {**skewed, _SKEWED_PLACES: {"map": ["lst", "str", len(moved), moved]}}}
    return placed


def skewed_places(columns: Sequence[str], places: Mapping[str, str], location: str | None) -> dict[str, str]:
    """Return where below an object's location the rows of its skewed values lie, by key as TJSON has it.

    What does not lie there, as after a rename of which Hive told the table alone, lies where Hive itself would put it:
    whatever else a twin said would lead its readers to the source.
    """
    return {
        key: _relative(place.rstrip("/"), location) or _skewed_default(columns, key) for key, place in places.items()
    }


def _relative(place: str, location: str | None) -> str:
    """Return the path below a location, '' for what is not below it."""
    below = relative_to(place, location) if location and is_below(place, location) else ""
    return "" if ".." in below.split("/") else below


def _skewed_default(columns: Sequence[str], key: str) -> str:
    """Return the directory that Hive makes for a list of values, as it makes a partition's."""
    pairs = list(zip(columns, json.loads(key)[2:], strict=False))
    return partition_name(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))


def _moved(path: str, old: str, new: str) -> str:
    """Move the path that Spark keeps beside the location of its own tables, and believes before it.

    A table's is its place. A partition's may be its own or, at the partition's end cut off, its table's. One that
    points to a third place stays: nobody reads the rows there.
    """
    whole = qualified(path, authority(old)).rstrip("/")
    below = old.removeprefix(whole)
    if whole == old:
        return new
    return new.removesuffix(below) if below != old and below.startswith("/") and new.endswith(below) else path


def _with_columns(there: list[Tree], columns: Sequence[tuple[str, str]]) -> list[Tree]:
    """Return one record per (name, type); a record that is there keeps its comment, and its type for ''."""
    known = {_text(column, _COLUMN_NAME): column for column in there}
    return [
        {**(old := known.get(name, {})), _COLUMN_NAME: {"str": name}, _COLUMN_TYPE: {"str": _type(old, column_type)}}
        for name, column_type in columns
    ]


def _type(column: Tree, column_type: str) -> str:
    return column_type or _text(column, _COLUMN_TYPE) or "string"


def columns_of_partition(partition: Partition) -> tuple[tuple[str, str], ...]:
    """Return the columns that a partition itself has, as (name, type)."""
    sd = _record(from_text(partition.thrift), _PARTITION_SD)
    return tuple(
        (_text(column, _COLUMN_NAME) or "", _text(column, _COLUMN_TYPE) or "") for column in _items(sd, _COLUMNS)
    )


def with_columns_of(partition: Partition, table: Table) -> Partition:
    """Return a partition with its table's columns, as a change of columns with CASCADE leaves it."""
    tree = from_text(partition.thrift)
    there = _items(_record(from_text(table.thrift), _TABLE_SD), _COLUMNS)
    columns = _records(_with_columns(there, table.columns))
    tree[_PARTITION_SD] = {"rec": {**_record(tree, _PARTITION_SD), _COLUMNS: columns}}
    return replace(partition, thrift=to_text(tree))


def key_types(table: Table) -> dict[str, str]:
    """Return a table's partition keys in their order, with their types."""
    return {
        _text(key, _COLUMN_NAME) or "": _text(key, _COLUMN_TYPE) or "string"
        for key in _items(from_text(table.thrift), _TABLE_KEYS)
    }


def table_id(table: Table) -> int | None:
    """Return the metastore's own number of a table, which a rename keeps and no other table ever gets."""
    number: int | None = from_text(table.thrift).get(_TABLE_ID, {}).get("i64")
    return number


def created_at(table: Table) -> int | None:
    """Return when the metastore has made a table, Unix seconds of its clock; a rename and an alteration keep it."""
    seconds: int | None = from_text(table.thrift).get(_CREATED, {}).get("i32")
    return seconds or None


def text_table(
    name: TableName, columns: Sequence[tuple[str, str]], keys: Sequence[str], owner: str | None = None
) -> Table:
    """Return a new managed table of text files, at its default place, partitioned by texts."""
    sd = {**_TEXT_FORMAT, _COLUMNS: _records(_with_columns([], columns))}
    tree: Tree = {
        _TABLE: {"str": name.table},
        _TABLE_DB: {"str": name.database},
        _TABLE_SD: {"rec": sd},
        _TABLE_KEYS: _records(_with_columns([], [(key, "string") for key in keys])),
        _TABLE_TYPE: {"str": "MANAGED_TABLE"},
    }
    _put(tree, _OWNER, owner)
    return read_table(tree)


def new_partition(table: Table, values: Sequence[str], parameters: Parameters) -> Partition:
    """Return a partition to be added to a table at its default place, with the columns and format of the table."""
    sd = _record(from_text(table.thrift), _TABLE_SD)
    tree = {_PARTITION_SD: {"rec": {key: value for key, value in sd.items() if key != _LOCATION}}}
    return Partition(table.name, tuple(values), None, parameters, to_text(tree))
