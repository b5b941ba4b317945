"""Delete on the replica the data of external tables that were dropped at the source with their data."""

import json
from collections.abc import Iterable, Iterator, Sequence

from twinhive.core.model.errors import Foreign, Missing, Refused
from twinhive.core.model.files import authority, is_below
from twinhive.core.model.policy import Policy
from twinhive.core.model.untrusted_paths import is_collapsed
from twinhive.core.ports import TreeWriter, WritePorts
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.external_tables.copy_permission import CopyPermission
from twinhive.replication.replica.base_claim import own_base
from twinhive.replication.replica.pending_files import purge_paths
from twinhive.replication.replica.pending_tables import PurgeNote
from twinhive.replication.replica.sync_records import Synced, forget_synced
from twinhive.transfer.tree.snapshots.snapshot_rotation import delete_snapshots


def obey_purges(
    ports: WritePorts, permission: CopyPermission, synced: Synced, entries: Sequence[Entry], position: int
) -> Iterator[str]:
    """Delete what the notes up to the replica's position ask for, and yield a line for each. Raises Promoted.

    Only what this policy has copied, and nobody uses: a note for a directory that an entry lies in waits; one for a
    directory that is in use again, or lies in one that is, is void, because that copy says what is to be there.
    """
    policy, live = permission.policy, {entry.location for entry in entries}
    for path, note in _notes(ports.trees.replica, policy):
        if note.event_id > position:
            continue
        if any(is_below(location, note.location) for location in live):
            yield f"{note.table}: {note.location} was dropped with its data; it waits, because another table is in it"
            continue
        if not any(note.location == location or is_below(note.location, location) for location in live):
            try:
                yield _purge(ports, permission, synced, note)
            except (Refused, Foreign) as error:
                yield f"{note.table}: {note.location} was dropped with its data, which is still there: {error}"
                continue
        ports.replica_files.delete_file(path)


def _purge(ports: WritePorts, permission: CopyPermission, synced: Synced, note: PurgeNote) -> str:
    policy = permission.policy
    external, files = policy.external, ports.trees.replica
    is_ours = external.is_copied(note.location) and authority(note.location) == external.source_root
    is_ours = is_ours and not is_collapsed(note.location)
    if not is_ours or not synced.covers(note.location, 0):
        return f"{note.table}: {note.location} was dropped with its data, of which nothing was copied"
    target, how = external.place(note.location, note.table), "gone"
    if files.status(target) is not None:
        base = own_base(ports, policy)
        if base is None:
            raise Foreign(
                f"the base directory around {target} is not claimed by policy {policy.name}",
                found="no claim of this policy",
                expected=f"the claim that {policy.name} wrote when it first used the directory",
                next_step=f"look whose {target} is, and remove it yourself if nobody needs it",
            )
        permission.confirm()
        delete_snapshots(files, target)
        permission.confirm()
        how = base.take_away(target)
    forget_synced(files, policy, note.location)
    return f"{note.table}: {target} is {how}, because {note.location} was dropped with its data"


def _notes(files: TreeWriter, policy: Policy) -> Iterable[tuple[str, PurgeNote]]:
    for path in purge_paths(files, policy):
        try:
            yield path, PurgeNote(**json.loads(files.read(path)))
        except Missing:
            continue
