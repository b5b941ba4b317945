"""Remove the files of a replica that is given up: what no table uses any more, its dumps, its staging.

Unused content must not stay. Where it lies at the default place of a partition, whoever drops that partition and adds
it again, as one does with a database of his own, would have rows back that the source has removed long ago.
"""

import sys
from collections.abc import Iterator

from twinhive.core.directory_marks.directories import MARKER, Owned, table_of
from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.model.errors import Refused, TwinhiveError, together
from twinhive.core.model.files import base_name, parent
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.marks import STAMP
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import Lease, WritePorts, children
from twinhive.operations.failover.fence.note import note_path
from twinhive.operations.failover.unreachable_source import SILENT, Left
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.dump.dump_ownership import discard_dump, own_dumps_of
from twinhive.replication.replica.source_scope import tables_in_bulk
from twinhive.replication.scan.default_locations import lies_in_default_places
from twinhive.replication.scan.sweep import unused_directories

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
    lines = []
    for look in (_dumps, _staging):
        try:
            found = look(ports, policy)
        except SILENT as error:
            lines.append(f"would stay: {_without_answer(policy, error)}")
            continue
        lines += [
            f"would be removed, {_WHERE}: {directory}" if owned else f"would stay: {_unproven(directory)}"
            for directory, owned in found
        ]
    return lines


def remove_own_directories(ports: WritePorts, policy: Policy, *, keeps_note: bool = False) -> Left:
    """Take dumps away, then staging; of a directory that holds something else, only the dumps.

    `keeps_note`: of staging what is written down of a fence stays, and what proves that it is ours.
    """
    try:
        dumps = Left(tuple(_remove_dumps(ports, policy)))
    except SILENT as error:  # they lie at the source, unless the policy says otherwise
        dumps = Left((f"left in place: {_without_answer(policy, error)}",), is_all=False)
    return dumps.and_then(Left(tuple(_remove_staging(ports, policy, keeps_note=keeps_note))))


def _remove_dumps(ports: WritePorts, policy: Policy) -> Iterator[str]:
    for directory, owned in _dumps(ports, policy):
        if owned is not None:
            yield f"{owned.take_away()}: {directory}"
            continue
        for child in children(ports.dump_files, directory):
            if discard_dump(ports.dump_files, child.path):
                yield f"removed: {child.path}"
        yield f"left in place: {_unproven(directory)}"


def _remove_staging(ports: WritePorts, policy: Policy, *, keeps_note: bool) -> Iterator[str]:
    for directory, owned in _staging(ports, policy):
        if owned is None:
            yield f"left in place: {_unproven(directory)}"
        elif not keeps_note:
            yield f"{owned.take_away()}: {directory}"
        else:
            for child in children(ports.replica_files, directory):
                if base_name(child.path) not in (base_name(parent(note_path(policy))), MARKER):
                    yield f"{owned.take_away(child.path)}: {child.path}"


def _dumps(ports: WritePorts, policy: Policy) -> list[tuple[str, Owned | None]]:
    """Return the directory of dumps, if it is there, with the proof that all that is in it is ours."""
    there = ports.dump_files.status(policy.dumps) is not None
    return [(policy.dumps, own_dumps_of(ports.dump_files, policy))] if there else []


def _staging(ports: WritePorts, policy: Policy) -> list[tuple[str, Owned | None]]:
    """Return staging, if it is there, with that proof."""
    there = ports.replica_files.status(policy.staging) is not None
    return [(policy.staging, own_staging(ports.replica_files, policy))] if there else []


def _without_answer(policy: Policy, error: TwinhiveError) -> str:
    return f"{policy.dumps}: {render(error.words.what)}; should its cluster come back: twinhive forget {policy.name}"


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
