"""Make the snapshots that a copy reads from, and after success leave exactly one pair of equal ones on both sides."""

from contextlib import suppress
from functools import partial

from twinhive.core.model.errors import AlreadyThere, Refused, TwinhiveError
from twinhive.core.ports import SnapshotWriter, TreeSource, TreeWriter
from twinhive.transfer.tree.path_rule import Layout
from twinhive.transfer.tree.planning.make_plan import make_plan
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.snapshots.difference_plan import plan_difference
from twinhive.transfer.tree.snapshots.snapshot_diff import NoDifference
from twinhive.transfer.tree.snapshots.snapshot_sync import SNAPSHOT_PREFIX, SnapshotChoice, choose, from_snapshot
from twinhive.transfer.tree.verified_pairs import VerifiedPairs


class Snapshots:
    """The snapshots of one run: none where they are not wanted or cannot be had.

    `note` says what came of the request, `is_difference` that the plan knows only what changed since the last run.
    """

    def __init__(self, layout: Layout, options: SyncOptions, source: TreeSource, target: TreeWriter) -> None:
        self._layout = layout
        self._options = options
        self._source = source
        self._target = target
        self._choice: SnapshotChoice | None = None
        self._root = layout.roots[0].source.path
        self._base = layout.places.base
        self.note = ""
        self.is_difference = False

    def begin(self) -> None:
        """Make the source's snapshot, and delete those that runs without success have left."""
        if not self._options.snapshots:
            return
        roots = self._layout.roots
        if len(roots) != 1 or not roots[0].source.is_directory:
            self.note = "snapshots: not used, they are for a copy of one directory"
            return
        why_not = _why_not(self._source, self._root)
        if why_not:
            self.note = f"snapshots: not used, the source cannot have them: {why_not}"
            return
        choice = choose(self._layout, self._options, self._source, self._target)
        _delete_all_but(self._source, self._root, choice.prefix, choice.since)
        _create(self._source, self._root, choice.name)
        self._choice = choice

    def plan(self, memory: VerifiedPairs) -> Plan:
        """Plan from the source's difference where there is one to use, else from a walk."""
        choice = self._choice
        if choice is None:
            return self._plan_twice(memory)
        reason = choice.reason
        if choice.since is not None:
            try:
                plan = plan_difference(self._layout, choice, self._options, self._source, self._target, memory)
            except NoDifference as error:
                reason = str(error)
            else:
                self.is_difference = True
                self.note = f"snapshots: copied what changed since {choice.since}"
                return plan
        self.note = f"snapshots: everything was compared: {reason}"
        layout = from_snapshot(self._layout, choice.name)
        return make_plan(layout, self._options, self._source, self._target, memory)

    def _plan_twice(self, memory: VerifiedPairs) -> Plan:
        """Plan from a walk; where a log has something new, from a second one, with what the first has seen of the log.

        So whatever the log names was listed after the log.
        """
        plan = partial(make_plan, self._layout, self._options, self._source, self._target, memory)
        first = plan()
        if not first.seen:
            return first
        first.close()
        return plan(frozenset(first.seen))

    def rotate(self) -> None:
        """Make the target's snapshot, equal to the source's, and delete all older ones of this pair on both sides."""
        choice = self._choice
        if choice is None:
            return
        why_not = _why_not(self._target, self._base)
        if why_not:
            self.note += f"; the next run compares everything again, the target cannot have snapshots: {why_not}"
            _delete_all_but(self._source, self._root, choice.prefix, None)
            return
        _create(self._target, self._base, choice.name)
        _delete_all_but(self._target, self._base, choice.prefix, choice.name)
        _delete_all_but(self._source, self._root, choice.prefix, choice.name)

    def abandon(self) -> None:
        """Delete the source's snapshot after a run that is not complete; where that fails, the next run does it."""
        if self._choice is not None:
            self.note += "; the next run begins where this one began, because not everything was copied"
            with suppress(TwinhiveError):
                self._source.delete_snapshot(self._root, self._choice.name)


def _why_not(files: SnapshotWriter, path: str) -> str:
    """Have a directory allowed to have snapshots; say why it cannot, '' when it can."""
    if files.snapshots(path) is not None:
        return ""
    try:
        files.allow_snapshots(path)
    except Refused as error:
        return error.words.what
    return ""


def _create(files: SnapshotWriter, path: str, name: str) -> None:
    with suppress(AlreadyThere):  # a call whose answer was lost: nobody else makes snapshots of this name
        files.create_snapshot(path, name)


def _delete_all_but(files: SnapshotWriter, path: str, prefix: str, kept: str | None) -> None:
    for name in files.snapshots(path) or ():
        if name.startswith(prefix) and name != kept:
            files.delete_snapshot(path, name)


def delete_snapshots(files: SnapshotWriter, path: str) -> None:
    """Delete all snapshots that copies have made of a directory, which cannot be deleted itself while it has any."""
    _delete_all_but(files, path, SNAPSHOT_PREFIX, None)
