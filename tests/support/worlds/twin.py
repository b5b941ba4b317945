"""Compare a real twin with its source, field by field and file by file.

What may differ, and why:
  database      name, location, managedLocationUri (each cluster has its own warehouse); createTime;
                replication marks (each side speaks of its own); repl.target.last.id (Hive's)
  table         dbName, sd.location; createTime, id, writeId (the metastore gives them); privileges (not
                replicated yet); fields that Hive fills in by itself when it returns an object
  partition     the same
  constraints   the databases' names
  parameters    replication marks, transient_lastDdlTime (the metastore writes the time of the call); basic
                statistics that the source lacks (the metastore counts them itself for a directory it finds);
                the claim that column statistics are accurate, which is never carried over
"""

from typing import Any

from hive_metastore.ttypes import AllTableConstraintsRequest

from tests.support.users.warehouse import Warehouse
from twinhive.model.files import ChecksumForm
from twinhive.model.marks import without_marks
from twinhive.model.names import partition_name
from twinhive.model.placement import without_statistics_claim
from twinhive.transfer.staged.listing import list_files

_DATABASE = {"name", "locationUri", "managedLocationUri", "createTime", "parameters", "privileges"}
_TABLE = {"dbName", "createTime", "id", "writeId", "privileges", "parameters", "txnId"}
_PARTITION = {"dbName", "createTime", "writeId", "privileges", "parameters"}
_DATABASES_OF_CONSTRAINT = {"table_db", "fktable_db", "pktable_db"}
_OWN_PARAMETERS = {"transient_lastDdlTime"}
_COUNTED = {"numFiles", "numFilesErasureCoded", "totalSize"}


def assert_equal_twin(source: Warehouse, database: str, replica: Warehouse, twin: str | None = None) -> None:
    """Assert that everything but the listed fields is equal; external tables are not compared."""
    twin = twin or database
    ours, theirs = _leaves(describe(source, database)), _leaves(describe(replica, twin))
    differences = [
        f"{path}: source {ours.get(path, '(absent)')!r}, replica {theirs.get(path, '(absent)')!r}"
        for path in sorted(ours.keys() | theirs.keys())
        if ours.get(path) != theirs.get(path) and not (path.rpartition("/")[2] in _COUNTED and path not in ours)
    ]
    assert not differences, "\n".join(differences)
    assert ours, f"nothing to compare in {database}"


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Flatten nested dictionaries; an empty one is a leaf, so that its presence counts."""
    if isinstance(value, dict) and value:
        return {key: leaf for name, entry in value.items() for key, leaf in _leaves(entry, f"{path}/{name}").items()}
    return {path: value}


def describe(warehouse: Warehouse, database: str) -> dict[str, Any]:
    """Return everything of a database that must be equal on both sides."""
    tables = {}
    for name in warehouse.client.get_all_tables(database):
        table = _table(warehouse, database, name)
        if table.tableType != "EXTERNAL_TABLE":
            tables[name] = _describe_table(warehouse, table)
    found = warehouse.client.get_database(database)
    return {"database": _plain(found, _DATABASE), "parameters": _spoken(found.parameters), "tables": tables}


def _table(warehouse: Warehouse, database: str, name: str) -> Any:
    from hive_metastore.ttypes import GetTableRequest

    return warehouse.client.get_table_req(GetTableRequest(dbName=database, tblName=name)).table


def _describe_table(warehouse: Warehouse, table: Any) -> dict[str, Any]:
    described = {"fields": _plain(table, _TABLE), "parameters": _spoken(table.parameters), "partitions": {}}
    asked = AllTableConstraintsRequest(table.dbName, table.tableName, "hive")
    constraints = warehouse.client.get_all_table_constraints(asked).allTableConstraints
    described["constraints"] = {
        kind: sorted((_plain(one, _DATABASES_OF_CONSTRAINT) for one in some), key=str)
        for kind, some in vars(constraints).items()
        if some
    }
    keys = tuple(key.name for key in table.partitionKeys or ())
    if keys:
        for partition in warehouse.client.get_partitions(table.dbName, table.tableName, -1):
            described["partitions"][partition_name(keys, tuple(partition.values))] = {
                "fields": _plain(partition, _PARTITION),
                "parameters": _spoken(partition.parameters),
                "files": _files(warehouse, partition.sd.location),
            }
    elif table.tableType != "VIRTUAL_VIEW":
        described["files"] = _files(warehouse, table.sd.location)
    return described


def _files(warehouse: Warehouse, location: str) -> dict[str, Any]:
    return {
        relative: (status.length, warehouse.files.checksum(status.path, ChecksumForm.COMPARISON))
        for _, relative, status in list_files(warehouse.files, [("", location)])
    }


def _plain(value: Any, left_out: set[str] = frozenset()) -> Any:
    """Turn a Thrift struct into plain values, without the fields that may differ."""
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if not hasattr(value, "thrift_spec"):
        return value
    left_out = left_out | {"location"}
    return {name: _plain(entry) for name, entry in vars(value).items() if name not in left_out}


def _spoken(parameters: dict[str, str] | None) -> dict[str, str]:
    said = without_statistics_claim(without_marks(parameters or {}))
    # Never without an entry: an empty mapping would differ from one that the metastore has counted into.
    return {"": "", **{key: value for key, value in said.items() if key not in _OWN_PARAMETERS and value != "{}"}}
