"""Find out what a copy would do, and change nothing: nothing is written, no lease taken, no snapshot made."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import FileStatus
from twinhive.core.ports import TreeReader
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.transfer.engine.attributes import AttributeComparison
from twinhive.transfer.engine.copy_retries import Patience, twice
from twinhive.transfer.tree.equal_contents import are_equal, is_not_older
from twinhive.transfer.tree.listing.unfinished_files import finished_only
from twinhive.transfer.tree.path_rule import lay_out
from twinhive.transfer.tree.planning.make_plan import make_plan
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.report import PlanRow
from twinhive.transfer.tree.request import SyncRequest
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction
from twinhive.transfer.tree.verified_pairs import VerifiedPairs

_SAYS = {
    ActionKind.MAKE_DIRECTORY: "new directories",
    ActionKind.COPY: "copy, new",
    ActionKind.REPLACE: "copy, other content",
    ActionKind.APPEND: "append",
    ActionKind.ATTRIBUTES: "set attributes",
    ActionKind.SKIP: "skip, equal",
    ActionKind.DELETE: "delete",
}
BRINGS = tuple(_SAYS[kind] for kind in (ActionKind.COPY, ActionKind.REPLACE, ActionKind.APPEND))
"""What rows say whose bytes are copied."""
EQUAL = _SAYS[ActionKind.SKIP]
"""What the row says of which nothing is done."""
_CONFLICT = "conflict"
_UNREADABLE = "unreadable"

RowsByPath = dict[str, PlanRow]


@dataclass(frozen=True)
class _Looking:
    """Find out what actions come to when contents and attributes are compared; reads only."""

    source: TreeReader
    target: TreeReader
    attributes: AttributeComparison

    def kind_of(self, action: FileAction) -> ActionKind:
        """Return what an action on a file comes to."""
        original, there = action.source, action.target
        if original is None or there is None:
            return action.kind
        match action.kind:
            case ActionKind.APPEND:
                grew = are_equal(self.source, original, self.target, there, length=there.length)
                return ActionKind.APPEND if grew else ActionKind.REPLACE
            case ActionKind.CHECK if not self._same(original, there):
                return ActionKind.REPLACE
            case ActionKind.CHECK | ActionKind.ATTRIBUTES:
                return ActionKind.ATTRIBUTES if self.attributes.differ(original, there) else ActionKind.SKIP
        return action.kind

    def gets_attributes(self, action: FileAction) -> bool:
        """True for a directory that is there and carries something else."""
        original, there = action.source, action.target
        return original is not None and there is not None and self.attributes.differ(original, there)

    def _same(self, original: FileStatus, there: FileStatus) -> bool:
        equal = are_equal(self.source, original, self.target, there)
        return is_not_older(there, original) if equal is None else equal


def dry_run(request: SyncRequest, source: TreeReader, target: TreeReader) -> list[PlanRow]:
    """Return a row for each kind of action, conflicts and unreadable directories included; empty kinds are left out.

    What can only be told by comparing contents or attributes is compared. Both sides are listed in full, also where a
    run would copy the difference of two snapshots. Raises what a run would raise before it plans.
    """
    source = finished_only(source, request.options)
    layout = lay_out(request, source, target)
    memory = VerifiedPairs.load(target, layout.memory)
    with make_plan(layout, request.options, source, target, memory) as plan:
        attributes = AttributeComparison(source, target, request.options.preserve)
        looking = _Looking(source, target, attributes)
        rows = _on_files(plan, looking, request.options.threads)
        _add_the_others(plan, looking, rows)
        skipped = plan.totals.files[ActionKind.SKIP]
        rows[_SAYS[ActionKind.SKIP]].merge(PlanRow("", Tally(skipped.files, bytes=skipped.bytes)))
    return [row for row in rows.values() if row.tally != Tally()]


def _empty_rows() -> RowsByPath:
    return {what: PlanRow(what) for what in (*_SAYS.values(), _CONFLICT, _UNREADABLE)}


def _add_the_others(plan: Plan, looking: _Looking, rows: RowsByPath) -> None:
    for action in plan.directories():
        rows[_SAYS[ActionKind.MAKE_DIRECTORY]].add(action.relative or ".", is_directory=True)
    for action in plan.attributes():
        if action.new_root is None and looking.gets_attributes(action):
            rows[_SAYS[ActionKind.ATTRIBUTES]].add(action.relative or ".", is_directory=True)
    for action in plan.deletes():
        there = action.target
        is_directory = there is not None and there.is_directory
        rows[_SAYS[ActionKind.DELETE]].add(action.relative, there.length if there else 0, is_directory=is_directory)
    for conflict in plan.conflicts:
        rows[_CONFLICT].add(f"{conflict.path} ({conflict.source} against {conflict.target})")
    rows[_CONFLICT].tally.files = plan.totals.conflicts
    for unreadable in plan.unreadable:
        rows[_UNREADABLE].add(unreadable.path, is_directory=True)
    rows[_UNREADABLE].tally.directories = plan.totals.unreadable


def _on_files(plan: Plan, looking: _Looking, threads: int) -> RowsByPath:
    """Count the actions on files, with contents compared by several threads."""
    patience = Patience()

    def work(lines: Iterator[str]) -> RowsByPath:
        rows = _empty_rows()
        for line in lines:
            action = FileAction.from_line(line)
            try:
                kind = patience.run(partial(twice, partial(looking.kind_of, action)))
            except TwinhiveError:
                rows[_UNREADABLE].add(action.relative, action.length)
            else:
                rows[_SAYS[kind]].add(action.relative, action.length)
        return rows

    total = _empty_rows()
    for rows in in_parallel(chain(plan.copies(), plan.logs()), threads, work, "compare"):
        for what, row in rows.items():
            total[what].merge(row)
    return total
