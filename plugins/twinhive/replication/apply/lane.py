"""Apply events in one ordered lane, under the lease, each so that a rerun finds what it has done.

What shapes an object leaves a stamp on it, in the same call; a rerun skips what is stamped, and with it
what earlier events have hung on it (constraints, statistics). What removes a name leaves no stamp: before
it, the position is written, so that a replay begins with it. So a replay holds at most one removal, at its
start: a name that is absent was removed, and one with a newer stamp is a later incarnation.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import assert_never

from twinhive.core.model.changes.affected_objects import table_structs, tables_of
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    CreateTable,
    DatabaseChange,
    DetailChange,
    DropPartitions,
    DropTable,
    Event,
    FunctionChange,
    Insert,
    NotReplicated,
    RenamePartition,
)
from twinhive.core.model.errors import ActNow, LostFile, TwinhiveError, UnreadableObject
from twinhive.core.model.next_steps import resync
from twinhive.core.model.policy import EVERY_EVENT, WINDOW_END, Policy
from twinhive.core.model.text import Text
from twinhive.replication.apply.actions import Action, Add, Drop, EditPartitions, EditTable, Single, actions
from twinhive.replication.apply.apply_failures import ObjectTrouble, Quarantine, tables_touched, trouble_table
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.database_changes import DatabaseChanges
from twinhive.replication.apply.detail_changes import DetailChanges
from twinhive.replication.apply.early_file_moves import Ahead
from twinhive.replication.apply.event_coalescing import segments
from twinhive.replication.apply.external.external_changes import ExternalChanges
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.partition_changes import PartitionChanges
from twinhive.replication.apply.table_changes import TableChanges
from twinhive.replication.apply.target import Target

_LOOK_AHEAD = 500


class ActionOutcome(Enum):
    """What becomes of an action."""

    DONE = "done"
    ALREADY = "already"
    """It was done before."""
    HELD_BACK = "held back"
    """Its table is frozen, or has become so by it."""


WatchActions = Callable[[Action, ActionOutcome], None]
"""Is told what became of each action, in their order."""


def unwatched(action: Action, outcome: ActionOutcome) -> None:
    """Tell nobody."""


@dataclass
class Applied:
    """What came of a range of events: how many were applied, were so before, or are not replicated."""

    events: int = 0
    actions: int = 0
    already: int = 0
    not_replicated: Counter[str] = field(default_factory=Counter)
    quarantined: Counter[str] = field(default_factory=Counter)


class Lane:
    """Apply the events of one window; `lost` are those whose files nobody has any more, with what was found."""

    def __init__(
        self,
        target: Target,
        progress: Progress,
        quarantine: Quarantine,
        external: ExternalTarget,
        lost: Mapping[int, Text] | None = None,
        watch: WatchActions = unwatched,
    ) -> None:
        self._target = target
        self._watch = watch
        self._progress = progress
        self._quarantine = quarantine
        self._lost = lost or {}
        self._tables = TableChanges(target)
        self._partitions = PartitionChanges(target)
        self._external = ExternalChanges(external)
        self.applied = Applied()
        self._database = DatabaseChanges(target, self.applied.not_replicated, quarantine.is_final)
        self._details = DetailChanges(target, self.applied.not_replicated, quarantine.is_final)

    def apply(
        self,
        events: Iterable[Event],
        cascades: frozenset[int],
        skipped: frozenset[int],
        consistency: str = EVERY_EVENT,
    ) -> Applied:
        """Apply the events that come after the replica's position. Raises the first trouble, or quarantines it."""
        after = self._progress.position.event_id
        wanted = self._replicated((event for event in events if event.event_id > after), skipped)
        if consistency == WINDOW_END:
            self._progress.in_order = False
            for left, end in segments(wanted):
                self._run(actions(left, cascades))
                self._progress.write(end)
        else:
            self._run(actions(wanted, cascades))
        return self.applied

    def _run(self, lane: Iterator[Action]) -> None:
        while some := list(islice(lane, _LOOK_AHEAD)):
            with suppress(UnreadableObject):  # it is read again, and told, by its action
                self._target.twin.look_ahead(some)
            self._place_ahead(some)
            for action in some:
                self._apply(action)

    def _place_ahead(self, some: list[Action]) -> None:
        """Fill directories that nobody sees yet; what is refused here is refused again, and told, by its action."""
        contents = list(Ahead(self._target).contents(action for action in some if not self._is_passed_over(action)))
        self._target.lease.confirm()
        with suppress(ActNow):
            self._target.placing.place_ahead(contents, self._target.own_table)

    def _is_passed_over(self, action: Action) -> bool:
        lost = any(event.event_id in self._lost for event in action.events)
        return lost or self._quarantine.frozen(self._names(action)) is not None

    def _names(self, action: Action) -> set[str]:
        return tables_touched(self._target.policy, action)

    def _replicated(self, events: Iterable[Event], skipped: frozenset[int]) -> Iterator[Event]:
        for event in events:
            reason = why_not_replicated(self._target.policy, event, skipped)
            if reason is None:
                yield event
            else:
                self.applied.not_replicated[reason] += 1

    def _apply(self, action: Action) -> None:
        names = self._names(action)
        if frozen := self._quarantine.frozen(names):
            self._quarantine.spread(names, frozen, action)
            self._hold_back(action, frozen)
            return
        try:
            self._refuse_lost(action)
            changed = self._change(action)
        except ActNow as error:
            self._trouble(action, error)
            return
        except TwinhiveError:
            for name in names:
                self._target.twin.forget_table(self._target.on_replica(name))
            raise
        self.applied.events += len(action.events)
        self.applied.actions += changed
        self.applied.already += len(action.events) if not changed else 0
        self._watch(action, ActionOutcome.DONE if changed else ActionOutcome.ALREADY)
        self._progress.passed(action.last)

    def _refuse_lost(self, action: Action) -> None:
        for event in action.events:
            if event.event_id in self._lost:
                raise LostFile(
                    "files of this event are lost",
                    found=self._lost[event.event_id],
                    expected="each file at its path, or in the source's change manager",
                    next_step="bring the table over as it is now: "
                    + resync(self._target.policy.name, trouble_table(self._target.policy, action)),
                )

    def _trouble(self, action: Action, error: ActNow) -> None:
        """Freeze the table that an event cannot be applied to, if the policy says so; else raise."""
        table = trouble_table(self._target.policy, action)
        trouble = ObjectTrouble.of(error, action)
        if table is None or not self._quarantine.accepts(error):
            raise trouble from error
        self._quarantine.freeze(table, trouble)
        self._target.twin.forget_table(self._target.on_replica(table))
        self._hold_back(action, table)

    def _hold_back(self, action: Action, table: str) -> None:
        self.applied.quarantined[table] += len(action.events)
        self._watch(action, ActionOutcome.HELD_BACK)
        self._progress.passed(action.last)

    def _change(self, action: Action) -> bool:
        if self._external.takes(action.what):
            return self._external.change(action.what, self._progress)
        match action.what:
            case EditTable() as what:
                return self._tables.edit(what)
            case EditPartitions() as what:
                return self._partitions.edit(what)
            case Add() as what:
                return self._partitions.add(what)
            case Drop() as what:
                return self._partitions.drop(what, self._progress)
            case Single(event=event):
                return self._single(event)

    def _single(self, event: Event) -> bool:
        """Apply an event that nothing is joined with."""
        self._external.make_way(event)
        match change := event.change:
            case CreateTable():
                return self._tables.create(change, event, self._progress)
            case DropTable():
                return self._tables.drop(change, event, self._progress)
            case AlterTable():
                return self._tables.rename_table(change, event, self._progress)
            case RenamePartition():
                return self._partitions.rename_partition(change, event, self._progress)
            case DatabaseChange() | FunctionChange():
                return self._database.change(change, event, self._progress)
            case DetailChange():
                return self._details.change(change, event, self._progress)
            case Insert() | AddPartitions() | DropPartitions() | AlterPartitions() | NotReplicated():
                raise AssertionError(f"{event} is joined with others, or passed over, before it is applied")
            case _:
                assert_never(change)


def why_not_replicated(policy: Policy, event: Event, skipped: Collection[int]) -> str | None:
    """Say why an event is passed over, None for one that is applied."""
    if event.event_id in skipped:
        return f"{event}: skipped by a person"
    if isinstance(event.change, NotReplicated):
        return f"{event.event_type}: {event.change.reason}"
    names = tables_of(event.change)
    if names and not policy.followed(names):
        return f"{event.event_type}: of a table that the policy does not select"
    reasons = [policy.left_out(table) for table in table_structs(event.change)]
    return reasons[0] if reasons and None not in reasons else None
