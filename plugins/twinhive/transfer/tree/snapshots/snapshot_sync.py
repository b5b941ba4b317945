"""Decide whether the difference of two snapshots of the source is all that has to be copied.

It is when both sides have the snapshot of the last successful run, and the target is still what it was then. The
name of a snapshot says which pair it is of, how the pair was copied, and by which run: with other options, the last
run has left something else.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import SnapshotChange, join, short_hash
from twinhive.core.ports import SnapshotReader, TreeReader
from twinhive.transfer.tree.path_rule import Layout
from twinhive.transfer.tree.request import Mode, SyncOptions
from twinhive.transfer.tree.work_directories import is_ours

SNAPSHOT_PREFIX = "twinhive-"
"""What the names of all snapshots begin with that copies make."""


@dataclass(frozen=True)
class SnapshotChoice:
    """What a run does with snapshots.

    name      the snapshot to be made of the source now, and of the target after success
    since     the one whose difference is to be copied, None: everything has to be listed
    reason    why everything has to be listed, '' when it has not
    prefix    what the names of all snapshots of this pair begin with; older ones are of no use after success
    """

    name: str
    since: str | None
    reason: str
    prefix: str


def choose(layout: Layout, options: SyncOptions, source: TreeReader, target: TreeReader) -> SnapshotChoice:
    """Look at the snapshots of both sides. The source must be one that can have snapshots."""
    (root,) = layout.roots
    base = layout.places.base
    prefix = _prefix(root.source.path, base)
    series = f"{prefix}{short_hash(_how(options), 8)}-"
    theirs = source.snapshots(root.source.path) or []
    ours = target.snapshots(base) if root.target is not None else []
    newest = max((_number(name) for name in [*theirs, *(ours or ())] if name.startswith(prefix)), default=0)
    name = f"{series}{newest + 1}"
    common = [each for each in theirs if each.startswith(series) and each in (ours or ())]
    since = max(common, key=_number, default=None)
    reason = _against(options) or _without(since, layout, ours) or _changed(target, base, since or "")
    return SnapshotChoice(name, None if reason else since, reason, prefix)


def newest_snapshot(source: str, base: str, target: SnapshotReader) -> str | None:
    """Return the snapshot that the last copy of `source` has left at the target, None without one. Raises Missing."""
    prefix = _prefix(source, base)
    return max((name for name in target.snapshots(base) or () if name.startswith(prefix)), key=_number, default=None)


def nothing_changed_since(
    snapshot: str, source: tuple[SnapshotReader, str], target: tuple[SnapshotReader, str]
) -> bool:
    """True when neither side says that anything was changed since a snapshot that both had; one call each."""
    (reader, path), (there, base) = source, target
    try:
        at_source = any(not is_of_ours(change) for change in reader.snapshot_changes(path, snapshot, ""))
        return not at_source and not _first_change(there.snapshot_changes(base, snapshot, ""), snapshot)
    except ActNow:
        return False


def from_snapshot(layout: Layout, name: str) -> Layout:
    """Return the layout with its source read from a snapshot."""
    (root,) = layout.roots
    return replace(layout, roots=(root.read_from(join(root.source.path, ".snapshot", name)),))


def is_of_ours(change: SnapshotChange) -> bool:
    """True for a change within a directory that a copy works in."""
    return _is_ours(change.path) and (change.target is None or _is_ours(change.target))


def _prefix(source: str, base: str) -> str:
    return f"{SNAPSHOT_PREFIX}{short_hash(f'{source} {base}', 8)}-"


def _is_ours(path: str) -> bool:
    return any(map(is_ours, path.split("/")))


def _how(options: SyncOptions) -> str:
    """Return what decides what a run leaves at the target."""
    letters = "".join(sorted(options.preserve))
    unfinished = ("finished only",) if options.skip_unfinished else ()
    return repr((options.deletes, letters, options.compare.value, options.include, options.exclude, *unfinished))


def _number(name: str) -> int:
    digits = name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def _against(options: SyncOptions) -> str:
    if options.mode is Mode.OVERWRITE:
        return "everything is copied again (mode=overwrite)"
    if options.recheck:
        return "everything is compared again (recheck)"
    if options.include or options.exclude:
        return "a difference does not say what a filter leaves out below a renamed directory"
    return ""


def _without(since: str | None, layout: Layout, ours: Sequence[str] | None) -> str:
    if layout.places.is_new:
        return "the target is new"
    if ours is None:
        return "the target cannot have snapshots"
    return "" if since else "the two sides have no snapshot of a run with these options in common"


def _changed(target: TreeReader, base: str, since: str) -> str:
    """Say what was changed at the target since a snapshot, '' for nothing that counts."""
    try:
        return _first_change(target.snapshot_changes(base, since, ""), since)
    except ActNow as error:
        return f"the target does not say what was changed since {since}: {error.words.what}"


def _first_change(changes: Iterable[SnapshotChange], since: str) -> str:
    for change in changes:
        # The base itself is another as soon as our directory comes or goes.
        if change.path and not is_of_ours(change):
            return f"the target was changed since {since}: {change.path!r} was {change.kind.value}"
    return ""
