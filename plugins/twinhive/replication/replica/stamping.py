"""Stamp all of a database that replication did not make, so that it can be followed from one event on."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from twinhive.core.directory_marks.directories import mark_table, table_mark
from twinhive.core.model.errors import Missing, Refused
from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, WritePorts
from twinhive.replication.replica.source_scope import tables_in_bulk


def stamp_everything(
    ports: WritePorts,
    policy: Policy,
    lease: Lease,
    stamp: Stamp,
    is_kept: Callable[[str | None], bool],
    made_by: str = "",
) -> int:
    """Stamp tables and partitions of the replica's database, but those whose stamp is kept; return how many tables.

    A table comes after its partitions, so that a second try finds those that a first one has left. With `made_by` the
    directories of managed tables are marked as well: what nothing uses in these is ours to remove.
    """
    replica, database, tables = ports.replica, policy.replica.database, 0
    for table in tables_in_bulk(replica, database, replica.table_names(database)):
        _stamp_partitions(ports, policy, table, stamp, lease, is_kept)
        if made_by:
            _mark_directory(ports, f"{policy.name}:{made_by}", table, lease)
        if not is_kept(table.parameters.get(STAMP)):
            lease.confirm()
            replica.alter_table(table.name, table.with_parameters({**table.parameters, STAMP: str(stamp)}))
            tables += 1
    return tables


def _mark_directory(ports: WritePorts, mark: str, table: Table, lease: Lease) -> None:
    """Mark the directory of a managed table. Where another user does not let us, it has no mark, and is never moved."""
    files = ports.replica_files
    if table.is_external or not table.location or not table.location.startswith(f"{files.root}/"):
        return
    with suppress(Missing, Refused):
        if table_mark(files, table.location) is None:
            lease.confirm()
            mark_table(files, table.location, mark)


def _stamp_partitions(
    ports: WritePorts, policy: Policy, table: Table, stamp: Stamp, lease: Lease, is_kept: Callable[[str | None], bool]
) -> None:
    if not table.partition_keys:
        return
    for some in _chunks(ports.replica.partition_names(table.name), policy.options.partitions_per_call):
        bare = [one for one in ports.replica.partitions(table.name, some) if not is_kept(one.parameters.get(STAMP))]
        if bare:
            lease.confirm()
            ports.replica.alter_partitions([one.with_parameters({**one.parameters, STAMP: str(stamp)}) for one in bare])


def _chunks(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (names[start : start + size] for start in range(0, len(names), size))
