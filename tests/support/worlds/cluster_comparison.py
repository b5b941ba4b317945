"""Compare a real twin with its source, field by field and file by file.

What may differ, `twinhive.replication.comparison.canonical_form` says, and besides: basic statistics that the source
lacks, because the metastore counts them itself for a directory that it finds.
"""

from typing import Any

from tests.support.users.warehouse import Warehouse
from twinhive.core.model.files import ChecksumForm
from twinhive.core.model.objects import Parameters, Table
from twinhive.hive.adapters.hive.hive_reader import ThriftMetastoreReader
from twinhive.replication.comparison import canonical_form
from twinhive.replication.comparison.canonical_form import Plain
from twinhive.transfer.staged.listing import list_files

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
    cluster = warehouse.cluster
    metastore = ThriftMetastoreReader([(cluster.metastore_host, cluster.metastore_port)], user=cluster.user)
    try:
        found = metastore.database(database)
        assert found is not None, f"there is no database {database}"
        tables = metastore.tables(database, metastore.table_names(database))
        return {
            **_described(canonical_form.canonical_database(found), found.parameters),
            "tables": {
                table.name.table: _describe_table(warehouse, metastore, table)
                for table in tables
                if not table.is_external
            },
        }
    finally:
        metastore.close()


def _describe_table(warehouse: Warehouse, metastore: ThriftMetastoreReader, table: Table) -> dict[str, Any]:
    described = {**_described(canonical_form.canonical_table(table), table.parameters), "partitions": {}}
    described["constraints"] = canonical_form.canonical_constraints(metastore.constraints(table.name))
    if table.partition_keys:
        for partition in metastore.partitions(table.name, metastore.partition_names(table.name)):
            described["partitions"][partition.name(table.partition_keys)] = {
                **_described(canonical_form.canonical_partition(partition), partition.parameters),
                "files": _files(warehouse, partition.location),
            }
    elif table.has_files:
        described["files"] = _files(warehouse, table.location)
    return described


def _described(form: Plain, parameters: Parameters) -> dict[str, Any]:
    """Keep parameters apart, and never without an entry: none at all would differ from some that were counted."""
    fields = {name: value for name, value in form.items() if name != "parameters"}
    said = {"": "", **form.get("parameters", {}), **canonical_form.statistics(parameters)}
    return {"fields": fields, "parameters": said}


def _files(warehouse: Warehouse, location: str) -> dict[str, Any]:
    return {
        relative: (status.length, warehouse.files.checksum(status.path, ChecksumForm.COMPARISON))
        for _, relative, status in list_files(warehouse.files, [("", location)])
    }
