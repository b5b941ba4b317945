"""Remove the files of a replica that is given up: what no table uses any more, its dumps, its staging.

Unused content must not stay. Where it lies at the default place of a partition, whoever drops that partition and adds
it again, as one does with a database of his own, would have rows back that the source has removed long ago.
"""

import sys
from collections.abc import Iterator

from twinhive.apply.places import managed_root
from twinhive.dump.claiming import discard_dump, own_dumps_of
from twinhive.model.errors import Refused, together
from twinhive.model.marks import STAMP
from twinhive.model.policy import Policy
from twinhive.model.spoken import first_of
from twinhive.owned.directories import Owned, table_of
from twinhive.owned.staging import own_staging
from twinhive.ports import Lease, WritePorts
from twinhive.replica.source_scope import tables_in_bulk
from twinhive.scan.default_places import lies_in_default_places
from twinhive.scan.sweep import unused_directories

_NAMED = 20
_WHERE = "to the trash, or for good where none is kept"


def plan_leftovers(ports: WritePorts, policy: Policy) -> list[str]:
    """Say which directories nothing uses any more."""
    found = list(_leftovers(ports, policy))
    lines = (f"would be removed, {_WHERE}: {one}, which no table uses any more" for one in found)
    return [*first_of(lines, _NAMED), *_not_looked_through(ports, policy)]


def remove_leftovers(ports: WritePorts, policy: Policy, lease: Lease, up_to: int = sys.maxsize) -> list[str]:
    """Take away what nothing uses any more, of events up to one. Raises Refused when some cannot be, after all others.

    Where no event comes any more, what was made for a later one is left over too.
    """
    root = managed_root(ports.replica, policy)
    lines = list(_not_looked_through(ports, policy))
    refused: list[Refused] = []
    for directory in list(_leftovers(ports, policy, up_to)):
        lease.confirm()
        owned = table_of(ports.replica_files, root, directory, policy.name)
        try:
            if owned is not None:
                lines.append(f"{owned.take_away(directory)}, no table uses it any more: {directory}")
        except Refused as error:
            refused.append(error)
    if refused:
        raise together(refused, f"{len(refused)} directories that no table uses any more cannot be removed")
    return lines


def remove_from_default_places(ports: WritePorts, policy: Policy, lease: Lease, up_to: int) -> list[str]:
    """Take away what nothing uses any more, if any of it may lie where Hive would put the next table or partition.

    Else nothing is looked for, so that this takes no longer for a million partitions: what bears an event in its name
    comes back with nothing. It stays until the policy is ended, or the replica follows again and sweeps.
    """
    database, root = policy.replica.database, managed_root(ports.replica, policy)
    tables = tables_in_bulk(ports.replica, database, ports.replica.table_names(database))
    if lies_in_default_places(ports.replica_files, policy.name, root, tables):
        return remove_leftovers(ports, policy, lease, up_to)
    return list(_not_looked_through(ports, policy))


def plan_own_directories(ports: WritePorts, policy: Policy) -> list[str]:
    """Say what becomes of dumps and staging."""
    return [
        f"would be removed, {_WHERE}: {directory}" if owned else f"would stay: {_unproven(directory)}"
        for directory, owned in _own_directories(ports, policy)
    ]


def remove_own_directories(ports: WritePorts, policy: Policy) -> list[str]:
    """Take dumps away, then staging; of a directory that holds something else, only the dumps."""
    lines: list[str] = []
    for directory, owned in _own_directories(ports, policy):
        if owned is not None:
            lines.append(f"{owned.take_away()}: {directory}")
            continue
        ((_, children),) = ports.dump_files.list_directories([policy.dumps])
        for child in children or () if directory == policy.dumps else ():
            if discard_dump(ports.dump_files, child.path):
                lines.append(f"removed: {child.path}")
        lines.append(f"left in place: {_unproven(directory)}")
    return lines


def _own_directories(ports: WritePorts, policy: Policy) -> Iterator[tuple[str, Owned | None]]:
    """Yield those that are there, each with the proof that all that is in it is ours."""
    if ports.dump_files.status(policy.dumps) is not None:
        yield policy.dumps, own_dumps_of(ports.dump_files, policy)
    if ports.replica_files.status(policy.staging) is not None:
        yield policy.staging, own_staging(ports.replica_files, policy)


def _leftovers(ports: WritePorts, policy: Policy, up_to: int = sys.maxsize) -> Iterator[str]:
    return unused_directories(ports.replica, ports.replica_files, policy, up_to, in_hives_places=True)


def _not_looked_through(ports: WritePorts, policy: Policy) -> Iterator[str]:
    """Name the tables in whose directories old content of partitions may lie that nothing proves to be ours."""
    database, root = policy.replica.database, managed_root(ports.replica, policy)
    for table in tables_in_bulk(ports.replica, database, ports.replica.table_names(database)):
        is_ours = STAMP in table.parameters and table.has_files and not table.is_external
        if not is_ours or not table.partition_keys or not table.location:
            continue
        if table_of(ports.replica_files, root, table.location, policy.name) is None:
            yield (
                f"not looked through: {table.location} of {table.name}, which bears no mark of ours; what partitions "
                f"have left there becomes rows when one is dropped and added again: hdfs dfs -ls '{table.location}'"
            )


def _unproven(directory: str) -> str:
    return f"{directory}, because nothing proves that all that is in it is of this policy"
