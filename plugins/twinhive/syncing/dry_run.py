"""Find out what a copy would do, and change nothing: nothing is written, no lease taken, no snapshot made."""

from collections.abc import Iterator
from functools import partial

from twinhive.domain.errors import TwinhiveError
from twinhive.ports import TreeReader
from twinhive.syncing.actions import Action, Kind
from twinhive.syncing.contents import are_equal, is_not_older
from twinhive.syncing.path_rule import lay_out
from twinhive.syncing.plan import Plan
from twinhive.syncing.planning import make_plan
from twinhive.syncing.report import PlanRow
from twinhive.syncing.request import SyncRequest
from twinhive.syncing.tally import Tally
from twinhive.syncing.verified import VerifiedPairs
from twinhive.syncing.workers import Patience, in_parallel, twice

_SAYS = {
    Kind.MAKE_DIRECTORY: "new directories",
    Kind.COPY: "copy, new",
    Kind.REPLACE: "copy, other content",
    Kind.APPEND: "append",
    Kind.ATTRIBUTES: "set attributes",
    Kind.SKIP: "skip, equal",
    Kind.DELETE: "delete",
}
_CONFLICT = "conflict"
_UNREADABLE = "unreadable"

Rows = dict[str, PlanRow]


def dry_run(request: SyncRequest, source: TreeReader, target: TreeReader) -> list[PlanRow]:
    """Return a row for each kind of action, conflicts and unreadable directories included; empty kinds are left out.

    What can only be told by comparing contents is compared. Raises what a run would raise before it plans.
    """
    layout = lay_out(request, source, target)
    memory = VerifiedPairs.load(target, layout.memory)
    with make_plan(layout, request.options, source, target, memory) as plan:
        rows = _on_files(plan, source, target, request.options.threads)
        _add_the_others(plan, rows)
        skipped = plan.totals.files[Kind.SKIP]
        rows[_SAYS[Kind.SKIP]].merge(PlanRow("", Tally(skipped.files, bytes=skipped.bytes)))
    return [row for row in rows.values() if row.tally != Tally()]


def _empty_rows() -> Rows:
    return {what: PlanRow(what) for what in (*_SAYS.values(), _CONFLICT, _UNREADABLE)}


def _add_the_others(plan: Plan, rows: Rows) -> None:
    for action in plan.directories():
        rows[_SAYS[Kind.MAKE_DIRECTORY]].add(action.relative or ".", is_directory=True)
    for action in plan.attributes():
        if action.new_root is None:
            rows[_SAYS[Kind.ATTRIBUTES]].add(action.relative or ".", is_directory=True)
    for action in plan.deletes():
        there = action.target
        is_directory = there is not None and there.is_directory
        rows[_SAYS[Kind.DELETE]].add(action.relative, there.length if there else 0, is_directory=is_directory)
    for conflict in plan.conflicts:
        rows[_CONFLICT].add(f"{conflict.path} ({conflict.source} against {conflict.target})")
    rows[_CONFLICT].tally.files = plan.totals.conflicts
    for unreadable in plan.unreadable:
        rows[_UNREADABLE].add(unreadable.path, is_directory=True)
    rows[_UNREADABLE].tally.directories = plan.totals.unreadable


def _on_files(plan: Plan, source: TreeReader, target: TreeReader, threads: int) -> Rows:
    """Count the actions on files, with contents compared by several threads."""
    patience = Patience()

    def work(lines: Iterator[str]) -> Rows:
        rows = _empty_rows()
        for line in lines:
            action = Action.from_line(line)
            try:
                kind = patience.run(partial(twice, partial(_resolved, action, source, target)))
            except TwinhiveError:
                rows[_UNREADABLE].add(action.relative, action.length)
            else:
                rows[_SAYS[kind]].add(action.relative, action.length)
        return rows

    total = _empty_rows()
    for rows in in_parallel(plan.copies(), threads, work, "compare"):
        for what, row in rows.items():
            total[what].merge(row)
    return total


def _resolved(action: Action, source: TreeReader, target: TreeReader) -> Kind:
    """Return what an action comes to when the contents are compared."""
    original, there = action.source, action.target
    if action.kind not in (Kind.CHECK, Kind.APPEND) or original is None or there is None:
        return action.kind
    if action.kind is Kind.APPEND:
        grew = are_equal(source, original, target, there, length=there.length)
        return Kind.APPEND if grew else Kind.REPLACE
    equal = are_equal(source, original, target, there)
    if equal is None:
        equal = is_not_older(there, original)
    if not equal:
        return Kind.REPLACE
    return Kind.ATTRIBUTES if action.attributes else Kind.SKIP
