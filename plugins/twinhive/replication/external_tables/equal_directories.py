"""Find out which directories of a task are equal on both sides already."""

from collections.abc import Iterator, Sequence

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.ports import TreePorts
from twinhive.core.threads.parallel_map import in_threads
from twinhive.replication.external_tables.sync_directory import DirectorySync
from twinhive.replication.replica.sync_records import SyncedEntry
from twinhive.transfer.tree.listing.sibling_statuses import SiblingStatuses
from twinhive.transfer.tree.listing.unchanged_trees import UnchangedTree, look_at
from twinhive.transfer.tree.listing.unfinished_files import finished_only
from twinhive.transfer.tree.path_rule import Layout, Statuses

TREES_TOGETHER = 200
_SMALL_DIRECTORIES = 5_000
"""Up to so many directories a tree is listed together with others; a larger one keeps a listing busy by itself."""

LookedDirectory = SyncedEntry | TwinhiveError | None


def look_at_all(syncs: Sequence[DirectorySync], trees: TreePorts, threads: int) -> Iterator[LookedDirectory]:
    """Yield for each the new record when both sides are equal, None when there is something to do, or what failed."""
    known = [sync for sync in syncs if sync.record is not None]
    statuses = (
        SiblingStatuses.of(trees.source, (sync.entry.location for sync in known), threads),
        SiblingStatuses.of(trees.replica, (sync.target for sync in known), threads),
    )
    for start in range(0, len(syncs), TREES_TOGETHER):
        yield from _look_at_some(syncs[start : start + TREES_TOGETHER], trees, statuses, threads)


def _look_at_some(
    syncs: Sequence[DirectorySync], trees: TreePorts, statuses: tuple[Statuses, Statuses], threads: int
) -> list[LookedDirectory]:
    begun = in_threads(lambda sync: _begin(sync, trees, statuses), syncs, threads)
    small = [each for each in begun if isinstance(each, UnchangedTree)]
    try:
        look_at(small, finished_only(trees.source, syncs[0].options_to_look), trees.replica, threads)
    except TwinhiveError as error:
        return [error if isinstance(each, UnchangedTree) else each for each in begun]
    finally:
        for tree in small:
            tree.close()
    return [
        (sync.seen(each.sign) if each.is_equal else None) if isinstance(each, UnchangedTree) else each
        for sync, each in zip(syncs, begun, strict=True)
    ]


def _begin(
    sync: DirectorySync, trees: TreePorts, statuses: tuple[Statuses, Statuses]
) -> UnchangedTree | LookedDirectory:
    """Look at one directory as far as that is best done alone."""
    try:
        known = sync.look(statuses)
        if not isinstance(known, Layout):
            return known
        if sync.record is not None and sync.record.directories > _SMALL_DIRECTORIES:
            return sync.compared(known)
        return UnchangedTree(known, sync.options_to_look, trees.source, trees.replica, sync.sign)
    except TwinhiveError as error:
        return error
