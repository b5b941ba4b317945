"""Keep what only an old primary has, before it is replaced: as tables of a database of its own, to be queried.

The files are copied there, within the old primary's file system. People drop that database when they have taken what
they need; nobody else does.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from twinhive.core.model.errors import Foreign
from twinhive.core.model.files import ChecksumForm, FileStatus, base_name, directory_around, join, parent, qualified
from twinhive.core.model.marks import without_marks
from twinhive.core.model.names import TableName, default_directory
from twinhive.core.model.objects import Database, Parameters, Partition
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, Lease, ReadPorts, WritePorts
from twinhive.operations.failover.divergence.diverged_tables import DivergedTable, diverged_tables
from twinhive.operations.failover.promotion import Promotion

KEPT_FOR = "twinhive.kept"
"""On a database that holds what an old primary had alone: the failover that parted the two."""
_COUNTED = ("numFiles", "numRows", "rawDataSize", "totalSize", "COLUMN_STATS_ACCURATE", "transactional")


def kept_database(policy: Policy, promotion: Promotion) -> str:
    """Return the name of the database that keeps what the policy's replica had alone."""
    return f"{policy.replica.database}__diverged_{promotion.position.event_id}"


def is_kept(files: FileReader, policy: Policy, promotion: Promotion) -> bool:
    """True once all that diverged is kept; from then on the old primary's log tells of our own changes too."""
    path = _record(policy)
    if files.status(path) is None:
        return False
    try:
        return bool(json.loads(files.read(path)).get("promotion") == str(promotion))
    except (ValueError, AttributeError):
        return False


def plan_kept(ports: ReadPorts, policy: Policy, promotion: Promotion) -> list[str]:
    """Say what the old primary has alone, and where it would be kept."""
    found = list(map(str, diverged_tables(ports, policy, promotion)))
    if not found:
        return [f"{policy.replica} has nothing that {policy.source} has not, or has changed itself"]
    return [f"only {policy.replica} has: {one}" for one in found] + [
        f"would be kept in the database {kept_database(policy, promotion)} of cluster {policy.replica.cluster}"
    ]


def keep_diverged(ports: WritePorts, policy: Policy, promotion: Promotion, lease: Lease) -> list[str]:
    """Copy it, make its tables, and note that it is done; killed anywhere, a second run ends in the same."""
    files = ports.replica_files
    if is_kept(files, policy, promotion):
        return []
    lines = []
    for one in diverged_tables(ports, policy, promotion):
        lease.confirm()
        database = _database(ports, policy, promotion)
        _keep_table(ports, policy, one, database, lease)
        lines.append(f"kept in database {database.name} of cluster {policy.replica.cluster}: {one}")
    lease.confirm()
    files.write(_record(policy), json.dumps({"promotion": str(promotion), "kept": lines}).encode())
    return lines


def _record(policy: Policy) -> str:
    return join(policy.staging, "control", "diverged.json")


def _database(ports: WritePorts, policy: Policy, promotion: Promotion) -> Database:
    name, metastore = kept_database(policy, promotion), ports.replica
    there = metastore.database(name)
    if there is None:
        old = metastore.database(policy.replica.database)
        assert old is not None and old.location is not None
        said = {KEPT_FOR: str(promotion)}
        place = join(parent(old.location), f"{name}.db")
        metastore.create_database(replace(old, name=name, location=place, managed_location=None, parameters=said))
        there = metastore.database(name)
    if there is None or there.parameters.get(KEPT_FOR) != str(promotion) or there.location is None:
        raise Foreign(
            f"what only {policy.replica} has cannot be kept: a database of that name is somebody else's",
            found=f"database {name} of cluster {policy.replica.cluster}",
            expected=f"none, or one with {KEPT_FOR} = {promotion}",
            next_step="give that database another name, or drop it if nobody needs it; then run this again",
        )
    return there


def _keep_table(ports: WritePorts, policy: Policy, one: DivergedTable, database: Database, lease: Lease) -> None:
    metastore, files = ports.replica, ports.replica_files
    name = TableName(database.name, one.table.name.table)
    place = join(qualified(database.location or "", files.root), default_directory(name.table))
    for leaf, found in one.leaves.items():
        _copy(files, found, join(place, leaf) if leaf else place, lease)
    lease.confirm()
    if metastore.table(name) is None:
        told = {**_plain(one.table.parameters), "EXTERNAL": "TRUE", "external.table.purge": "false"}
        typed = replace(one.table, table_type="EXTERNAL_TABLE", constraints=None)
        metastore.create_table(typed.at(name, place).with_parameters(told))
    if one.table.partition_keys:
        _add(ports, policy, one, name, place)


def _add(ports: WritePorts, policy: Policy, one: DivergedTable, name: TableName, place: str) -> None:
    names, most = sorted(one.leaves), policy.options.partitions_per_call
    there = set(ports.replica.partition_names(name))
    for start in range(0, len(names), most):
        wanted = [leaf for leaf in names[start : start + most] if leaf not in there]
        found = ports.replica.partitions(one.table.name, wanted) if wanted else []
        made: list[Partition] = [
            each.at(name, join(place, each.name(one.table.partition_keys))).with_parameters(_plain(each.parameters))
            for each in found
        ]
        if made:
            ports.replica.add_partitions(made)


def _copy(files: FileWriter, found: tuple[tuple[str, FileStatus], ...], directory: str, lease: Lease) -> None:
    for relative, status in found:
        target = join(directory, *relative.split("/"))
        there = files.status(target)
        if there is not None and _is_equal(files, status, there):
            continue
        lease.confirm()
        # What a killed try has left of a copy is replaced; readers see whole files only.
        temporary = join(directory_around(target), f".{base_name(target)}.copying")
        files.delete_file(temporary)
        files.create_from(files.open(status.path), temporary)
        files.replace(temporary, target)


def _is_equal(files: FileReader, one: FileStatus, other: FileStatus) -> bool:
    form = ChecksumForm.COMPARISON
    return one.length == other.length and files.checksum(one.path, form) == files.checksum(other.path, form)


def _plain(parameters: Parameters) -> dict[str, str]:
    plain: Mapping[str, str] = without_marks(parameters)
    return {key: value for key, value in plain.items() if key not in _COUNTED}
