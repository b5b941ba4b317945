"""Rehearse the stages of the event lane: plan a window, and apply it, to a replica that is only pretended."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, assert_never

from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.change_descriptions import effects_of
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.policy import Policy
from twinhive.core.step.step_parts import Parts, ResultT, RunT
from twinhive.publishing.set_visibility import shown_set_parts as shown
from twinhive.replication.apply.actions import Action
from twinhive.replication.apply.lane import ActionOutcome
from twinhive.replication.dump.dump_store import dump_of_key
from twinhive.replication.external_tables.publish_pending import ready_tables
from twinhive.replication.incremental import apply_stage, window
from twinhive.replication.incremental.apply_stage import ApplyStage, WindowApplied
from twinhive.replication.incremental.window_apply import Applying
from twinhive.replication.incremental.window_stage import WindowStage
from twinhive.replication.notification_log.window_events import told_events
from twinhive.runtime.dry_run.phase_plan import PlanSection
from twinhive.runtime.dry_run.pretended_target import pretended_target
from twinhive.runtime.dry_run.rehearsing import Rehearsing
from twinhive.runtime.pipeline.phases import APPLY, WINDOW

_FROZEN = ("hold back", "events of quarantined tables")
_PASSED = ("pass over", "events")


def plan_window(rehearsing: Rehearsing, _: object) -> object:
    """Plan the next window, or take up the one that was begun; while the replica is loaded, see what would be saved."""

    def describe_waiting(run: WindowStage) -> WindowStage:
        return run if run.dump is not None else _described(rehearsing, run)

    def describe_sets(run: WindowStage) -> WindowStage:
        return run if run.dump is not None else _described_sets(rehearsing, run, "hold back")

    instead = {
        window.publish_waiting_tables: describe_waiting,
        shown.show_sets_between_windows: describe_sets,
        window.keep_for_salvage: _as_it_is,
    }
    parts = _with(WINDOW, instead)
    cut = parts(rehearsing.work(policy=rehearsing.copying_nothing)).run(rehearsing.ports)
    if cut.idle:
        return rehearsing.ends(None if any(one.count for one in rehearsing.sections) else cut.already)
    return cut


def apply_window(rehearsing: Rehearsing, planned: Any) -> None:
    """Let the window be applied to a replica that is only pretended; its files are taken to be copied."""
    changes = _Changes(rehearsing.policy)

    def open_pretended(run: ApplyStage) -> ApplyStage:
        target = pretended_target(run.ports, run.policy, run.log_id, run.lease)
        return replace(run, opened=Applying(run.work, run.ports, run.dump, target, changes.watch))

    def describe_whole(run: ApplyStage) -> ApplyStage:
        changes.tables |= set(run.dump.manifest.window.snapshots)
        changes.found[_PASSED] += run.applied.not_replicated.elements()
        _count_events(rehearsing, run)
        return apply_stage.replace_whole_tables(run)

    def describe_waiting(run: ApplyStage) -> ApplyStage:
        return apply_stage.publish_waiting_tables(_described(rehearsing, run))

    def describe_sets(run: ApplyStage) -> ApplyStage:
        # Nothing was copied that they could be compared with.
        return _described_sets(rehearsing, run, "show or hold back, by their data,")

    instead = {
        apply_stage.check_copied: _as_it_is,
        apply_stage.keep_for_salvage: _as_it_is,
        shown.hide_sets_before_window: _as_it_is,
        apply_stage.open_replica: open_pretended,
        apply_stage.replace_whole_tables: describe_whole,
        apply_stage.publish_waiting_tables: describe_waiting,
        shown.show_sets_after_window: describe_sets,
        apply_stage.clean_staging: _done,
    }
    whole = dump_of_key(rehearsing.ports.dump_files, rehearsing.policy, planned.dump).manifest.window.snapshots
    try:
        _with(APPLY, instead)(rehearsing.work()).run(rehearsing.ports)
    finally:
        rehearsing.totals.tables += len(changes.tables)
        rehearsing.totals.partitions += sum(
            len(names) for (_, what), names in changes.found.items() if what == "partitions"
        )
        rehearsing.add(PlanSection.of(*key, names) for key, names in changes.found.items())
        rehearsing.add([PlanSection.of("replace", "tables as a whole", whole)])


def _with(parts: Parts[RunT, ResultT], instead: Mapping[Any, Any]) -> Parts[RunT, ResultT]:
    """Return the parts of a stage with others in the place of some."""
    assert instead.keys() <= set(parts.parts), "a part that is replaced is one of the stage"
    return replace(parts, parts=tuple(instead.get(part, part) for part in parts.parts))


@dataclass
class _Changes:
    """What is changed, held back and passed over: names by verb and kind of object."""

    policy: Policy
    found: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    tables: set[str] = field(default_factory=set)

    def watch(self, action: Action, outcome: ActionOutcome) -> None:
        """Note what becomes of an action."""
        for event in action.events:
            self.tables |= self.policy.followed(tables_of(event.change))
            match outcome:
                case ActionOutcome.DONE:
                    for verb, what, name in effects_of(self.policy, event):
                        self.found[verb, what].append(name)
                case ActionOutcome.HELD_BACK:
                    self.found[_FROZEN].append(str(event))
                case ActionOutcome.ALREADY:
                    continue
                case _:
                    assert_never(outcome)


Run = TypeVar("Run", WindowStage, ApplyStage)


def _described(rehearsing: Rehearsing, run: Run) -> Run:
    ready = ready_tables(rehearsing.ports, rehearsing.policy)
    rehearsing.add([PlanSection.of("publish", "external tables whose data has come", ready)])
    return run


def _described_sets(rehearsing: Rehearsing, run: Run, held: str) -> Run:
    try:
        plan = shown.sets_of(run.work, run.ports, run.ports.source.log_id()).plan()
    except TwinhiveError as error:
        run.work.report("sets would not be shown: " + error.text)
        return run
    found = {"show": plan.show, "hide": plan.hide, held: tuple(one.mark for one in plan.held)}
    sections = ((verb, [f"{mark.table.table} {mark.spec}" for mark in marks]) for verb, marks in found.items())
    rehearsing.add(PlanSection.of(verb, "sets", names) for verb, names in sections)
    return run


def _as_it_is(run: Run) -> Run:
    return run


def _done(run: ApplyStage) -> ApplyStage:
    return replace(run, result=WindowApplied(run.dump.manifest.end.event_id))


def _count_events(rehearsing: Rehearsing, run: ApplyStage) -> None:
    assert run.found is not None, "a window is found before it is applied"
    dump, state = run.found
    told = told_events(rehearsing.ports.dump_files, dump.layout)
    rehearsing.totals.events += sum(event.event_id > state.position.event_id for event in told)
