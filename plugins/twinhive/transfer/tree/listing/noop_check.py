"""Find out at the cost of a listing that a copy has nothing to do, without a lease and without a write."""

from twinhive.core.model.errors import ActNow
from twinhive.core.ports import TreeReader
from twinhive.transfer.engine.attributes import AttributeComparison
from twinhive.transfer.tree.listing.pair_fingerprint import AskedPairs
from twinhive.transfer.tree.listing.unfinished_files import finished_only
from twinhive.transfer.tree.listing.walk import Pushed
from twinhive.transfer.tree.path_rule import Layout
from twinhive.transfer.tree.planning.plan import Conflict, Plan
from twinhive.transfer.tree.planning.planner import Planner
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction
from twinhive.transfer.tree.verified_pairs import VerifiedPairs


def nothing_to_do(
    layout: Layout, options: SyncOptions, source: TreeReader, target: TreeReader, pairs: AskedPairs | None = None
) -> bool:
    """True when a run would change nothing; False as soon as that is certain.

    False also where something cannot be read, or has to be compared by its content: a run says what it is. Raises
    TryAgain.
    """
    if layout.places.is_new:
        return False
    source = finished_only(source, options)
    plan = NothingToDo(source, target, options, pairs or asked_pairs(layout, target))
    try:
        with plan:
            planner_of(plan, layout, options, source, target).run()
    except (SomethingToDoError, ActNow):
        return False
    return plan.pairs.are_equal()


def asked_pairs(layout: Layout, target: TreeReader, sign: str = "") -> AskedPairs:
    """Return what takes the pairs of a layout; `sign` is that of the last look at it."""
    return AskedPairs(lambda: VerifiedPairs.load(target, layout.memory), sign)


def planner_of(
    plan: "NothingToDo",
    layout: Layout,
    options: SyncOptions,
    source: TreeReader,
    target: TreeReader,
    walk: Pushed | None = None,
) -> Planner:
    """Return what finds the first thing to do, its roots pushed. Raises SomethingToDoError, and ActNow likewise."""
    planner = Planner(plan, layout.places, options, source, target, plan.pairs, walk=walk)
    for root in layout.roots:
        planner.add_root(root)
    return planner


class SomethingToDoError(Exception):
    """The two sides are not equal."""


class NothingToDo(Plan):
    """A plan that ends with the first thing to do; what listings cannot tell of attributes is looked at.

    Nothing is to be done when it has not ended so, and the `pairs` are equal.
    """

    def __init__(self, source: TreeReader, target: TreeReader, options: SyncOptions, pairs: AskedPairs) -> None:
        super().__init__()
        self.pairs = pairs
        self._looked_at = AttributeComparison(source, target, options.preserve)

    def add_file(self, action: FileAction) -> None:
        """Count a file whose attributes turn out to be equal."""
        if action.kind is not ActionKind.ATTRIBUTES or self._differ(action):
            raise SomethingToDoError
        self.totals.files[ActionKind.SKIP].add(action.length)

    def add_attributes(self, action: FileAction) -> None:
        """Accept a directory whose attributes turn out to be equal."""
        if self._differ(action):
            raise SomethingToDoError

    def add_directory(self, action: FileAction) -> None:
        """Refuse a directory to be made."""
        raise SomethingToDoError

    def add_delete(self, action: FileAction) -> None:
        """Refuse a path to be deleted."""
        raise SomethingToDoError

    def add_conflict(self, conflict: Conflict) -> None:
        """Refuse a path that cannot be made equal."""
        raise SomethingToDoError

    def add_unreadable(self, path: str, reason: str, *, is_root: bool = False) -> None:
        """Refuse a directory that cannot be listed."""
        raise SomethingToDoError

    def _differ(self, action: FileAction) -> bool:
        original, there = action.source, action.target
        return original is None or there is None or self._looked_at.differ(original, there)
