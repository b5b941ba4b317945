"""Make the plan of a copy from the difference of two snapshots: it costs what was changed, not what there is."""

from dataclasses import replace

from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import FileStatus, join
from twinhive.core.ports import TreeReader
from twinhive.transfer.tree.listing.unfinished_files import left_out
from twinhive.transfer.tree.listing.waiting_directories import WaitingDirectory
from twinhive.transfer.tree.path_rule import Layout, Root
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.planning.planner import Planner, above_of
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.snapshots.snapshot_diff import NoDifference, SnapshotDifference, read_difference
from twinhive.transfer.tree.snapshots.snapshot_sync import SnapshotChoice, from_snapshot
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction
from twinhive.transfer.tree.verified_pairs import VerifiedPairs
from twinhive.transfer.tree.work_directories import has_only_ours


def plan_difference(
    layout: Layout,
    choice: SnapshotChoice,
    options: SyncOptions,
    source: TreeReader,
    target: TreeReader,
    memory: VerifiedPairs | None = None,
) -> Plan:
    """Return what has to be done after the run that made the snapshot `choice.since`.

    The source must have the snapshot `choice.name`. Raises NoDifference when everything has to be listed.
    """
    if choice.since is None:
        raise NoDifference(choice.reason)
    path = layout.roots[0].source.path
    try:
        changes = source.snapshot_changes(path, choice.since, choice.name)
        difference = read_difference(changes, left_out(options))
    except ActNow as error:
        raise NoDifference(
            f"the source does not say what was changed since {choice.since}: {error.words.what}"
        ) from error
    plan = Plan()
    try:
        (root,) = from_snapshot(layout, choice.name).roots
        _DifferencePlanner(plan, layout, root, difference, options, source, target, memory).run()
    except BaseException:
        plan.close()
        raise
    return plan


class _DifferencePlanner:
    """Look at what was changed, and only at that."""

    def __init__(
        self,
        plan: Plan,
        layout: Layout,
        root: Root,
        difference: SnapshotDifference,
        options: SyncOptions,
        source: TreeReader,
        target: TreeReader,
        memory: VerifiedPairs | None,
    ) -> None:
        self._plan = plan
        self._places = layout.places
        self._root = root
        self._difference = difference
        self._deletes = options.deletes
        self._keeps_times = "t" in options.preserve
        self._source = source
        self._target = target
        arriving = frozenset(difference.renamed.values()) if options.deletes else frozenset()
        self._planner = Planner(plan, layout.places, options, source, target, memory, arriving)

    def run(self) -> None:
        """Add everything to the plan. Raises NoDifference."""
        for now in self._difference.renamed.values():
            self._there(now)
        self._plan_modified()
        if self._deletes:
            self._plan_replaced()
            self._plan.moves = self._difference.moves()
            self._plan_deletes()
            self._note_emptied()
            for now in sorted(self._difference.created):
                self._plan_pair(now, None)
        else:
            # Renamed paths stay at the target under their old names; under the new ones they are as good as created.
            arrived = self._difference.created | set(self._difference.renamed.values())
            for now in sorted(arrived):
                if not any(above in arrived for above in above_of(now)):
                    self._plan_pair(now, self._target.status(self._places.final(now)))
        self._planner.run()

    def _plan_modified(self) -> None:
        """Compare what was modified in its place; directories with the topmost first."""
        directories = {"": ""} if self._keeps_times else {}
        files = {}
        for before, now in self._difference.modified.items():
            if before != now and not self._deletes:
                continue  # it comes with what it was renamed with
            if self._there(now).is_directory:
                directories[now] = before
                continue
            files[now] = before
            if self._keeps_times:
                above = before.rpartition("/")[0]
                directories[self._difference.now(above)] = above
        for now, before in sorted(directories.items()):
            self._planner.align(now, self._there(now), self._here(before, now), changed=True)
        for now, before in files.items():
            self._plan_pair(now, self._here(before, now))

    def _plan_replaced(self) -> None:
        """Have what is new replace what was deleted of that name, so that the name is never without rows.

        A file does as any other that differs; what is new of a directory is built beside, and changes place with it.
        """
        renamed = {above for pair in self._difference.renamed.items() for path in pair for above in above_of(path)}
        for before in sorted(self._difference.deleted):
            now = self._difference.beside(before)
            if now not in self._difference.created:
                continue
            found, there = self._here(before, now), self._there(now)
            if not found.is_directory and not there.is_directory:
                # That it was made anew is known: a time that is not newer says nothing.
                self._plan_pair(now, found, is_anew=True)
            elif found.is_directory and there.is_directory and before == now and now not in renamed:
                self._plan.add_replaced(FileAction(ActionKind.DELETE, now, None, None, found))
                self._plan_pair(now, None)
            else:
                continue  # it makes way before
            self._difference.deleted.remove(before)
            self._difference.created.remove(now)

    def _plan_deletes(self) -> None:
        """Have deleted last, where they are then, those whose names nothing takes; what is gone already is fine."""
        for before, now in self._difference.given_up().items():
            found = self._target.status(self._places.final(before))
            if found is not None:
                found = replace(found, path=self._places.final(now))
                self._plan.add_delete(FileAction(ActionKind.DELETE, now, None, None, found))

    def _plan_pair(self, now: str, found: FileStatus | None, *, is_anew: bool = False) -> None:
        above, _, name = now.rpartition("/")
        directory = WaitingDirectory(above, self._root.source, None, None, is_planned=True)
        self._planner.add_pair(directory, name, self._there(now), found, is_anew=is_anew)

    def _note_emptied(self) -> None:
        if (self._plan.totals.deletes or self._plan.clears_names) and all(
            has_only_ours(page or ()) for _, page in self._source.list_pages([self._root.source.path])
        ):
            self._plan.emptied.append(self._root.source.path)

    def _there(self, now: str) -> FileStatus:
        """Return what the later snapshot of the source has. Raises NoDifference."""
        found = self._source.status(join(self._root.source.path, now))
        if found is None:
            raise NoDifference(f"the difference names {now!r}, which the snapshot does not have")
        return found

    def _here(self, before: str, now: str) -> FileStatus:
        """Return what the target has of it, as it will be after the moves. Raises NoDifference."""
        found = self._target.status(self._places.final(before))
        if found is None:
            raise NoDifference(f"the target does not have {before!r}, which the earlier snapshot has")
        return replace(found, path=self._places.final(now))
