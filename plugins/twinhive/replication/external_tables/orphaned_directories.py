"""Take away what copies kept for themselves in directories that no external table uses any more.

Their rows stay, as at the source, unless they were dropped with it (`external_purge`). But nobody would ever empty the
trash in `.twinhive`, or go on with what was begun there.
"""

import time
from collections.abc import Iterable, Iterator

from twinhive.core.directory_marks.directories import Owned
from twinhive.core.model.errors import Foreign, Refused
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts, if_there
from twinhive.replication.dump.dump_store import ExternalPass
from twinhive.replication.dump.passes.external_entries import Entry, topmost
from twinhive.replication.dump.passes.external_passes import locations_of_pass
from twinhive.replication.external_tables.copy_permission import CopyPermission
from twinhive.replication.replica.base_claim import own_base
from twinhive.replication.replica.pending_files import purge_path
from twinhive.replication.replica.sync_records import Synced, SyncedEntry, forget_synced, left_since
from twinhive.transfer.tree.snapshots.snapshot_sync import SNAPSHOT_PREFIX
from twinhive.transfer.tree.work_directories import Places

_DAY = 86_400


def clear_left(
    ports: WritePorts,
    permission: CopyPermission,
    synced: Synced,
    copies: Iterable[Entry],
    event_id: int,
    position: int,
) -> Iterator[str]:
    """Clear the directories that were copied and are none of the `copies` now, as of `event_id`; yield a line for each.

    Not before the replica has followed what took them off the list: an event of it may ask for the data to be deleted,
    which only the record of the copy allows. Not while there is trash that is kept for some days yet. Raises Promoted.
    """
    policy = permission.policy
    base = own_base(ports, policy)
    if base is None:
        return
    for record in synced.records_but({entry.location for entry in copies}):
        if left_since(ports.replica_files, policy, record, event_id) > position or _is_kept(ports, policy, record):
            continue
        permission.confirm()
        try:
            if _clear(ports, base, record):
                yield f"{record.source}: no table uses it; what copies kept in {record.target} is removed"
        except (Refused, Foreign) as error:
            yield f"{record.source}: no table uses it; what copies kept in {record.target} is still there: {error}"
            continue
        forget_synced(ports.replica_files, policy, record.source)


def clear_unfinished(
    ports: WritePorts, policy: Policy, synced: Synced, before: ExternalPass | None, copies: Iterable[Entry]
) -> None:
    """Remove what was begun beside directories of the pass before that have left the list without a complete copy."""
    base = own_base(ports, policy)
    if base is None or before is None:
        return
    wanted = {entry.location for entry in copies}
    for entry in topmost(if_there(locations_of_pass, ports.dump_files, policy, before.name) or ()):
        if (
            entry.location in wanted
            or synced.record_of(entry.location)
            or not policy.external.is_copied(entry.location)
        ):
            continue
        places = Places(policy.external.place(entry.location, entry.key), is_new=True)
        if ports.replica_files.status(places.work) and not ports.trees.lease.is_held(places.lease):
            base.discard(places.work)


def _is_kept(ports: WritePorts, policy: Policy, record: SyncedEntry) -> bool:
    trash_until = record.trashed_at + policy.external.trash_days * _DAY if record.trashed_at else 0.0
    if time.time() < trash_until or ports.trees.lease.is_held(_places(record).lease):
        return True
    return ports.replica_files.status(purge_path(policy, record.source)) is not None


def _clear(ports: WritePorts, base: Owned, record: SyncedEntry) -> bool:
    """Remove all that is ours in and beside a directory, and its snapshot; False when there was nothing in it."""
    if record.snapshot.startswith(SNAPSHOT_PREFIX):
        # By its name: copies to other replicas have snapshots of the source's directory too.
        ports.trees.source.delete_snapshot(record.source, record.snapshot)
        ports.trees.replica.delete_snapshot(record.target, record.snapshot)
    places = _places(record)
    for work in places.works:
        if ports.replica_files.status(work) is not None:
            base.discard(work)
    return base.discard(places.hidden)


def _places(record: SyncedEntry) -> Places:
    return Places(record.target, is_new=False)
