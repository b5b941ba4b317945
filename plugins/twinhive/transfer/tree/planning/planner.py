"""Turn the pairs of a walk into the actions of a plan."""

from collections.abc import Callable
from contextlib import closing

from twinhive.core.model.errors import SourceMoved
from twinhive.core.model.files import FileStatus, authority
from twinhive.core.ports import FileReader
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.transfer.tree import conflicts
from twinhive.transfer.tree.deletable import Deletable
from twinhive.transfer.tree.listing.compare import Comparison, unwritable
from twinhive.transfer.tree.listing.path_filters import Filter
from twinhive.transfer.tree.listing.waiting_directories import WaitingDirectory
from twinhive.transfer.tree.listing.walk import PairedDirectory, Pushed, Walk
from twinhive.transfer.tree.path_rule import Root
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction
from twinhive.transfer.tree.verified_pairs import KnowsPairs
from twinhive.transfer.tree.work_directories import Places, is_ours

_SKIP = ActionKind.SKIP


class Planner:
    """Add to a plan what has to be done; nothing is written.

    `arriving` are paths that come, with all below them, by a rename before anything is copied. `walk` takes the
    directories to be listed, where somebody else than `run` walks.
    """

    def __init__(
        self,
        plan: Plan,
        places: Places,
        options: SyncOptions,
        source: FileReader,
        target: FileReader,
        memory: KnowsPairs | None = None,
        arriving: frozenset[str] = frozenset(),
        walk: Pushed | None = None,
    ) -> None:
        self._plan = plan
        self._places = places
        self._target = target
        self._preserve = options.preserve
        self._filter = Filter.of(options.include, options.exclude)
        self._filters = not self._filter.takes_all
        self._deletable = Deletable(self._filter, target) if options.deletes else None
        self._comparison = Comparison(options, memory)
        self._scheme = authority(places.base).partition(":")[0]
        self._arriving = arriving
        self._around_arriving = frozenset(above for path in arriving for above in above_of(path))
        self._walk = walk or Walk(source, target, self.place)

    @lazy_property
    def _has_leftovers(self) -> bool:
        """What an earlier run has built of new directories is listed only where there is any: that is asked once."""
        return self._target.status(self._places.tree) is not None

    def add_root(self, root: Root) -> None:
        """Have one source planned: a file at once, a directory by `run`."""
        if root.source.is_directory:
            self.add_directory(root.relative, root.source, root.target, root=len(root.relative) + bool(root.relative))
            return
        base = WaitingDirectory("", root.source, None, "" if self._places.is_new else None, is_planned=True)
        target = root.target
        if self._places.is_new and self._has_leftovers:
            target = self._target.status(self._places.built(root.relative))
        self.add_pair(base, root.relative, root.source, target)

    def add_directory(self, relative: str, source: FileStatus, target: FileStatus | None, root: int = 0) -> None:
        """Have a directory planned by `run`, with all below it."""
        self._walk.push(
            WaitingDirectory(
                relative,
                source,
                target,
                "" if self._places.is_new else self._new_root(relative, target),
                root=root,
                included=not self._filter.include,
                is_planned=target is not None,
            )
        )

    def run(self) -> None:
        """Walk what was added. Raises Refused, TryAgain."""
        assert isinstance(self._walk, Walk), "somebody else walks"
        with closing(iter(self._walk)) as walked:
            for paired in walked:
                self.plan_directory(paired)

    def add_pair(
        self,
        directory: WaitingDirectory,
        name: str,
        source: FileStatus | None,
        target: FileStatus | None,
        *,
        is_anew: bool = False,
    ) -> bool:
        """Plan one name of a directory; True when the directory itself is changed by it.

        Of a file that was made anew times say nothing.
        """
        relative = directory.path_of(name)
        if is_ours(name) or (self._filters and self._is_left_out(directory, relative, source, target)):
            return False
        if source is None:
            return target is not None and self._plan_gone(directory, relative, target)
        if target is not None and target.is_directory != source.is_directory and directory.new_root is not None:
            self._drop_leftover(directory, relative, target)
            target = None
        if self._conflicts(relative, name, source, target):
            return False
        if target is None and relative in self._arriving:
            return True
        if source.is_directory:
            return self._plan_subdirectory(directory, relative, source, target)
        compare = self._comparison.built_files if is_anew else self._comparing(directory)
        kind = ActionKind.COPY if target is None else compare(source, target)
        return self._plan_file(directory, relative, kind, source, target)

    def align(self, relative: str, source: FileStatus, target: FileStatus, *, changed: bool) -> None:
        """Have attributes of a directory set where they differ or will; the base gets another time by our directory."""
        differ = self._comparison.directory_attributes_differ(source, target)
        if differ or ("t" in self._preserve and (changed or not relative)):
            self._plan.add_attributes(FileAction(ActionKind.ATTRIBUTES, relative, source, None, target, True))

    def plan_directory(self, paired: PairedDirectory) -> None:
        """Plan one directory that was listed; those in it are pushed."""
        directory = paired.directory
        equal, length, changed = 0, 0, False
        compare = self._comparing(directory)
        deletes, filters = self._plan.totals.deletes, self._filters
        for name, source, target in paired.pairs():
            # Most pairs of most runs are two plain files: little may be called for them.
            if (
                source is None
                or target is None
                or filters
                or source.is_directory
                or target.is_directory
                or source.is_link
                or target.is_link
            ):
                changed |= self.add_pair(directory, name, source, target)
            elif (kind := compare(source, target)) is _SKIP:
                equal += 1
                length += source.length
            else:
                changed |= self._plan_file(directory, directory.path_of(name), kind, source, target)
        self._plan.totals.files[_SKIP] += Tally(equal, bytes=length)
        self._finish(paired, changed)
        if directory.is_root and paired.was_empty and self._plan.totals.deletes > deletes:
            self._plan.emptied.append(directory.source.path)

    def _finish(self, paired: PairedDirectory, changed: bool) -> None:
        directory, totals = paired.directory, self._plan.totals
        path = directory.source.path
        totals.directories += 1
        if paired.vanished:
            if directory.is_root:
                raise SourceMoved(
                    f"{path}: the source is gone since it was looked at",
                    found="no such directory",
                    expected="the directory that was there",
                    next_step="run again when it is there",
                )
            totals.vanished += 1
        elif paired.unlisted is not None:
            self._plan.add_unreadable(path, paired.unlisted, is_root=directory.is_root)
        elif directory.target is None or directory.new_root is not None:
            if directory.included or directory.is_root:
                self._make(directory)
        elif directory.included or changed:
            self.align(directory.relative, directory.source, directory.target, changed=changed)

    def _comparing(self, directory: WaitingDirectory) -> Callable[[FileStatus, FileStatus], ActionKind]:
        """Return how the files of a directory are compared: those that were built are ours, whatever the mode."""
        return self._comparison.files if directory.new_root is None else self._comparison.built_files

    def _plan_file(
        self,
        directory: WaitingDirectory,
        relative: str,
        kind: ActionKind,
        source: FileStatus,
        target: FileStatus | None,
    ) -> bool:
        if kind is _SKIP:
            self._plan.totals.files[_SKIP].add(source.length)
            return False
        attributes = bool(self._preserve)
        if target is not None and kind in (ActionKind.CHECK, ActionKind.APPEND):
            attributes = self._comparison.file_attributes_differ(source, target)
        self._make(directory)
        self._plan.add_file(FileAction(kind, relative, source, directory.new_root, target, attributes))
        return kind is not ActionKind.ATTRIBUTES

    def _plan_subdirectory(
        self, directory: WaitingDirectory, relative: str, source: FileStatus, target: FileStatus | None
    ) -> bool:
        if directory.included:
            self._make(directory)
        new_root = directory.new_root if directory.new_root is not None else self._new_root(relative, target)
        self._walk.push(
            WaitingDirectory(
                relative,
                source,
                target,
                new_root,
                root=directory.root,
                included=directory.included or self._filter.includes(relative[directory.root :]),
                above=None if directory.is_planned else directory,
                is_planned=target is not None and new_root is None,
            )
        )
        return target is None

    def _plan_gone(self, directory: WaitingDirectory, relative: str, target: FileStatus) -> bool:
        if directory.new_root is not None:
            self._drop_leftover(directory, relative, target)
            return False
        if self._deletable is None:
            return False
        changed = False
        for found in self._deletable.topmost(target, relative[directory.root :], directory.included):
            path = relative + found.path[len(target.path) :]
            self._plan.add_delete(FileAction(ActionKind.DELETE, path, None, None, found))
            changed |= path == relative
        return changed

    def _is_left_out(
        self, directory: WaitingDirectory, relative: str, source: FileStatus | None, target: FileStatus | None
    ) -> bool:
        """True when a filter leaves a path out; of directories only those that an expression excludes."""
        path = relative[directory.root :]
        shown = source or target
        if not self._filter.excludes(path) and (
            directory.included or (shown is not None and shown.is_directory) or self._filter.includes(path)
        ):
            return False
        self._plan.totals.excluded += source is not None
        if target is not None and directory.new_root is not None:
            self._drop_leftover(directory, relative, target)
        return True

    def _conflicts(self, relative: str, name: str, source: FileStatus, target: FileStatus | None) -> bool:
        place = self._places.final(relative)
        if source.is_link or (target is not None and (target.is_link or target.is_directory != source.is_directory)):
            self._plan.add_conflict(conflicts.of_types(source, place, target))
            return True
        why = unwritable(name, self._scheme) if target is None else None
        if why is not None:
            self._plan.add_conflict(conflicts.of_name(source, place, why))
        return why is not None

    def _make(self, directory: WaitingDirectory) -> None:
        """Have a directory made, and those above it, unless that is planned."""
        missing: list[WaitingDirectory] = []
        above: WaitingDirectory | None = directory
        while above is not None and not above.is_planned:
            missing.append(above)
            above = above.above
        for each in reversed(missing):
            each.is_planned = True
            action = FileAction(
                ActionKind.MAKE_DIRECTORY, each.relative, each.source, each.new_root, None, bool(self._preserve)
            )
            self._plan.add_directory(action)
            if self._preserve:
                self._plan.add_attributes(action)

    def _drop_leftover(self, directory: WaitingDirectory, relative: str, found: FileStatus) -> None:
        self._plan.add_delete(FileAction(ActionKind.DELETE, relative, None, directory.new_root, found))

    def _new_root(self, relative: str, target: FileStatus | None) -> str | None:
        """Return the new root of a path whose directory exists: itself, unless something is renamed into it."""
        return None if target is not None or relative in self._around_arriving else relative

    def place(self, directory: WaitingDirectory) -> str | None:
        """Say where the target's side of a directory is to be listed."""
        if directory.new_root is None:
            return directory.target.path if directory.target else None
        may_be_built = directory.target is not None or directory.relative == directory.new_root or directory.is_root
        return self._places.built(directory.relative) if may_be_built and self._has_leftovers else None


def above_of(path: str) -> list[str]:
    """Return the directories that a path lies in."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
