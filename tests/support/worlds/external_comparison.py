"""Compare the external tables of a twin with their source: places, objects, and every file with its content."""

from collections.abc import Iterable, Iterator
from typing import Any

from twinhive.core.model.files import base_name, relative_to
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters, Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, ReadPorts
from twinhive.replication.comparison.canonical_form import spoken, statistics

_COUNTED = {"numFiles", "totalSize", "numFilesErasureCoded"}
_HIDDEN = ".twinhive"


def assert_external_twin(ports: ReadPorts, policy: Policy, *, data: bool = True) -> None:
    """Assert that the replica has the source's external tables, at base directory + source path, with equal files."""
    source = policy.source.database
    for table in _tables(ports.source, source):
        twin = ports.replica.table(policy.on_replica(table.name))
        assert twin is not None, f"{table.name} is not on the replica"
        assert _described(table) == _described(twin)
        assert twin.location == policy.external.place(table.location or "", str(table.name))
        places = [table.location]
        ours, theirs = (_partitions(*side) for side in ((ports.source, table.name), (ports.replica, twin.name)))
        assert sorted(ours) == sorted(theirs), table.name
        for name, partition in ours.items():
            assert _spoken(partition.parameters) == _spoken(theirs[name].parameters), name
            assert theirs[name].location == policy.external.place(partition.location or "", name)
            places.append(partition.location)
        for place in places if data else ():
            if policy.external.is_copied(place):
                assert_equal_files(ports, place, policy.external.place(place, place))
    assert external_names(ports.replica, policy.replica.database) == external_names(ports.source, source)


def assert_equal_files(ports: ReadPorts, source: str, target: str) -> None:
    """Assert that two directories hold the same names, contents, owners, groups and permissions."""
    assert ports.replica_files.status(target) is not None, f"{target} does not exist"
    assert contents(ports.source_files, source) == contents(ports.replica_files, target)


def contents(files: FileReader, directory: str) -> dict[str, Any]:
    """Return what is in a directory, by relative path; our own directory in it is left out."""
    top = files.status(directory)
    assert top is not None, f"{directory} does not exist"
    found = {"": (top.owner, top.group, top.permission)}
    for status in _below(files, directory):
        content = None if status.is_directory else files.read(status.path)
        found[relative_to(status.path, directory)] = (status.owner, status.group, status.permission, content)
    return found


def _below(files: FileReader, directory: str) -> Iterator[Any]:
    ((_, children),) = files.list_directories([directory])
    for child in children or ():
        if not base_name(child.path).startswith(_HIDDEN):
            yield child
            if child.is_directory:
                yield from _below(files, child.path)


def external_names(metastore: Any, database: str) -> list[str]:
    """Return the names of a database's external tables."""
    return [table.name.table for table in _tables(metastore, database)]


def _tables(metastore: Any, database: str) -> Iterable[Table]:
    return [table for table in metastore.tables(database, metastore.table_names(database)) if table.is_external]


def _partitions(metastore: Any, name: TableName) -> dict[str, Partition]:
    table = metastore.table(name)
    if not table.partition_keys:
        return {}
    found = metastore.partitions(name, metastore.partition_names(name))
    return {partition.name(table.partition_keys): partition for partition in found}


def _described(table: Table) -> tuple[Any, ...]:
    return table.table_type, table.partition_keys, table.columns, _spoken(table.parameters)


def _spoken(parameters: Parameters) -> dict[str, str]:
    counted = {key: value for key, value in statistics(parameters).items() if key not in _COUNTED}
    return {**spoken(parameters), **counted}
