"""Read the difference of two snapshots as what has to be done at the target.

HDFS names what was changed by its path in the earlier snapshot, below a directory that was renamed since as well; of
something new it is the directory's path. Only where a renamed path is now is said by its path in the later snapshot.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from twinhive.core.model.files import ChangeKind, SnapshotChange
from twinhive.transfer.tree.planning.plan import Move
from twinhive.transfer.tree.planning.planner import above_of
from twinhive.transfer.tree.snapshots.snapshot_sync import is_of_ours

_MOST_CHANGES = 100_000


class NoDifference(Exception):
    """A difference cannot be used, for the reason that is said: everything has to be listed."""


@dataclass
class SnapshotDifference:
    """What is not the same in two snapshots. Paths are relative to the directory, as they were before and are now.

    renamed    path before: path now
    deleted    paths before, each with all below it
    created    paths now, each with all below it
    modified   path before: path now
    """

    renamed: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    created: set[str] = field(default_factory=set)
    modified: dict[str, str] = field(default_factory=dict)

    def now(self, before: str) -> str:
        """Return where something is now that was not deleted."""
        end = len(before)
        while end > 0:
            renamed = self.renamed.get(before[:end])
            if renamed is not None:
                return renamed + before[end:]
            end = before.rfind("/", 0, end)
        return before

    def beside(self, before: str) -> str:
        """Return where a path of that name is now that is in the same directory, whatever became of the path itself."""
        above, separator, name = before.rpartition("/")
        return f"{self.now(above)}{separator}{name}"

    def given_up(self) -> dict[str, str]:
        """Return the deleted paths whose names nothing has now, as they were before and are after the moves."""
        arrived = self.created | set(self.renamed.values())
        places = {before: self.beside(before) for before in sorted(self.deleted)}
        return {before: now for before, now in places.items() if now not in arrived}

    def moves(self) -> tuple[Move, ...]:
        """Return the renames, and the deletions that make way for another of their name, what lies deeper first."""
        in_the_way = self.deleted - self.given_up().keys()
        changes: list[tuple[str, str | None]] = [*self.renamed.items(), *((path, None) for path in in_the_way)]
        ordered = sorted(changes, key=lambda change: change[0], reverse=True)
        return tuple(Move(number, before, now) for number, (before, now) in enumerate(ordered))


def read_difference(
    changes: Iterable[SnapshotChange], left_out: Callable[[str], bool] = lambda path: False
) -> SnapshotDifference:
    """Sort changes by what they mean; those in our own directories do not count. Raises NoDifference.

    Nor do paths that are left out: what was renamed from one of them is new, and to one of them is gone.
    """
    taken = _Changes()
    for number, change in enumerate(changes):
        if number == _MOST_CHANGES:
            raise NoDifference(f"the difference has more than {_MOST_CHANGES:,} changes: listing is as fast")
        if change.kind is ChangeKind.RENAMED:
            taken.add_rename(change, left_out)
        elif not is_of_ours(change) and not left_out(change.path):
            taken.add(change)
    return taken.difference()


@dataclass
class _Changes:
    """Changes by what HDFS calls them.

    finished     paths now of what was renamed from a path that is left out
    unfinished   paths before of what was renamed to one
    """

    renamed: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    fresh: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    unfinished: set[str] = field(default_factory=set)
    changed: list[str] = field(default_factory=list)

    def add(self, change: SnapshotChange) -> None:
        """Take a change that is no rename."""
        if change.kind is ChangeKind.DELETED:
            self.gone.add(change.path)
        else:
            (self.fresh if change.kind is ChangeKind.CREATED else self.changed).append(change.path)

    def add_rename(self, change: SnapshotChange, left_out: Callable[[str], bool]) -> None:
        """Take a rename. Raises NoDifference for one between our own directories and others."""
        target = change.target
        if is_of_ours(change):
            return
        if target is None or is_of_ours(SnapshotChange(ChangeKind.CREATED, change.path)):
            raise NoDifference(f"{change.path!r} was renamed out of one of our own directories")
        if is_of_ours(SnapshotChange(ChangeKind.CREATED, target)):
            raise NoDifference(f"{change.path!r} was renamed into one of our own directories")
        before, now = left_out(change.path), left_out(target)
        if not before and not now:
            self.renamed[change.path] = target
        elif not before:
            self.unfinished.add(change.path)
        elif not now:
            self.finished.append(target)

    def difference(self) -> SnapshotDifference:
        """Return what the changes come to together."""
        found = SnapshotDifference(self.renamed)
        gone = self.gone | self.unfinished
        found.deleted = {path for path in gone if not _goes_with_another(found, gone, path)}
        found.created = {found.beside(path) for path in self.fresh if self._is_looked_at(found, path)}
        for path in sorted(self.finished):
            if not any(above in found.created for above in above_of(path)):
                found.created.add(path)
        changed = (path for path in self.changed if path not in self.unfinished and self._is_looked_at(found, path))
        found.modified = {path: found.now(path) for path in changed}
        return found

    def _is_looked_at(self, found: SnapshotDifference, path: str) -> bool:
        return not _goes_with_another(found, self.unfinished, path)


def _goes_with_another(found: SnapshotDifference, gone: set[str], path: str) -> bool:
    """True for what was deleted from a directory that was deleted, too, and not renamed before."""
    above = path.rpartition("/")[0]
    while above and above not in found.renamed:
        if above in gone:
            return True
        above = above.rpartition("/")[0]
    return False
