"""Make the plan of a copy, and say when it must not be carried out."""

from twinhive.core.model.errors import ActNow, Refused
from twinhive.core.model.files import base_name
from twinhive.core.ports import FileReader
from twinhive.transfer.tree.path_rule import Layout
from twinhive.transfer.tree.planning.plan import LogFile, Plan, Unreadable
from twinhive.transfer.tree.planning.planner import Planner
from twinhive.transfer.tree.request import OnUnreadable, SyncOptions
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction
from twinhive.transfer.tree.verified_pairs import VerifiedPairs
from twinhive.transfer.tree.work_directories import is_ours

_SHOWN = 20


class Emptied(Refused):
    """A source has nothing, and what the target has would be deleted."""


def make_plan(
    layout: Layout,
    options: SyncOptions,
    source: FileReader,
    target: FileReader,
    memory: VerifiedPairs | None = None,
    known_logs: frozenset[LogFile] | None = None,
) -> Plan:
    """List both sides and return what has to be done. Nothing is changed; `refuse` says whether anything may be.

    `known_logs`: see `Plan`.
    Raises TryAgain, Unexplained, and Refused where the target cannot be listed.
    """
    plan = Plan(known_logs)
    try:
        planner = Planner(plan, layout.places, options, source, target, memory)
        if layout.places.is_new:
            plan.add_new_root("")
            _drop_what_is_no_root(plan, layout, target)
        for root in layout.roots:
            planner.add_root(root)
        planner.run()
    except BaseException:
        plan.close()
        raise
    return plan


def refuse(plan: Plan, options: SyncOptions) -> None:
    """Raise Refused when a plan must not be carried out as it is."""
    if plan.totals.conflicts:
        raise _conflicting(plan)
    if plan.unreadable_roots:
        raise _unreadable_root(plan.unreadable_roots)
    skips = options.on_unreadable is OnUnreadable.SKIP
    deletes_blindly = options.deletes and not options.force
    if plan.totals.unreadable and (not skips or deletes_blindly):
        raise _unreadable(plan, skips)
    if plan.emptied and deletes_blindly:
        raise Emptied(
            f"{plan.emptied[0]}: the source is empty, and what the target has would be deleted",
            found=f"{plan.totals.deletes:,} paths to delete",
            expected="a source that has something",
            next_step="look at the source; if it is right, run twinhive copy again with --force",
        )


def _drop_what_is_no_root(plan: Plan, layout: Layout, target: FileReader) -> None:
    """Have deleted what an earlier run with other sources has built below a base of several sources."""
    wanted = {root.relative for root in layout.roots}
    if "" in wanted:
        return
    for _, page in target.list_pages([layout.places.tree]):
        for found in page or ():
            name = base_name(found.path)
            if name not in wanted and not is_ours(name):
                plan.add_delete(FileAction(ActionKind.DELETE, name, None, "", found))


def _conflicting(plan: Plan) -> ActNow:
    shown = plan.conflicts[:_SHOWN]
    lines = [f"{each.path}: {each.source}; target: {each.target}. Next: {each.next_step}" for each in shown]
    return Refused(
        f"{plan.totals.conflicts:,} paths cannot be made equal; nothing was changed",
        found=_listed(lines, plan.totals.conflicts),
        expected="the same type on both sides, no symbolic links, names that the target allows",
        next_step="twinhive copy --dry-run shows them all" if plan.totals.conflicts > _SHOWN else shown[0].next_step,
    )


def _unreadable_root(roots: list[Unreadable]) -> ActNow:
    """Say that nothing is left to be copied of a source: leaving that out is asked for by leaving out the source."""
    lines = [f"{each.path}: {each.reason}" for each in roots[:_SHOWN]]
    return Refused(
        f"{roots[0].path}: the source itself cannot be listed; nothing was changed",
        found=_listed(lines, len(roots)),
        expected="a source that can be listed",
        next_step="grant the right to read it, or leave it out of the sources",
    )


def _unreadable(plan: Plan, skips: bool) -> ActNow:
    lines = [f"{each.path}: {each.reason}" for each in plan.unreadable[:_SHOWN]]
    what = f"{plan.totals.unreadable:,} directories of the source cannot be listed"
    return Refused(
        f"{what}, and deleting needs them all; nothing was changed" if skips else f"{what}; nothing was changed",
        found=_listed(lines, plan.totals.unreadable),
        expected="directories that can be listed",
        next_step="grant the right to read them; or let twinhive copy exclude them (--exclude), or "
        + ("run without --delete (--force deletes nevertheless)" if skips else "leave them out (--skip-unreadable)"),
    )


def _listed(lines: list[str], count: int) -> str:
    rest = count - len(lines)
    return "\n            ".join([*lines, f"and {rest:,} more"] if rest else lines)
