"""Write the pipeline once: a phase is a literal tuple of stages.

The DAG factory and the command line both interpret these tuples, so a phase cannot be one thing
in Airflow and another in a terminal.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, assert_never

from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Then
from twinhive.core.step.step_parts import Parts
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.publishing.set_visibility import shown_set_parts
from twinhive.replication.bootstrap import consolidation_round as one_round
from twinhive.replication.bootstrap import list_objects, load
from twinhive.replication.bootstrap.consolidation_round import Folded, RoundStage
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.replication.bootstrap.gate import Gate
from twinhive.replication.bootstrap.list_objects import ListStage, ObjectsListed
from twinhive.replication.bootstrap.load import Loaded, LoadStage
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.replication.external_tables.check_base import CheckBase
from twinhive.replication.external_tables.list_external import ListExternal
from twinhive.replication.external_tables.sync_external import SyncExternal
from twinhive.replication.incremental import apply_stage, plan_window, window
from twinhive.replication.incremental.apply_stage import ApplyStage, WindowApplied
from twinhive.replication.incremental.window_stage import WindowCut, WindowStage
from twinhive.replication.notification_log.list_files import ListFiles
from twinhive.replication.scan.scan import Scan
from twinhive.replication.verify.recheck import LookAgain
from twinhive.replication.verify.verify import Verify


class Step(Protocol):
    """What a stage does with what it works on."""

    def run(self, ports: WritePorts) -> Any:
        """Do it, and return a small result that people can read."""
        ...


class RunsOn(Enum):
    """Where a stage does its work."""

    TASK = "task"
    """In the Airflow task's own process."""
    SPARK = "spark"
    """As a Spark job that the task submits."""


class Effect(Enum):
    """What a stage may bring about that others wait for, or that is worth a note."""

    PUBLISHES = "brings the replica to another event"
    PUBLISHES_WAITING = "publishes external tables whose data has come, without an event"
    BRINGS_DATA = "tables may have the data then that they have waited for"
    COPIES = "moves files of tables, which takes long"
    VERIFIES = "says whether the replica equals its source"


@dataclass(frozen=True)
class Stage:
    """One stage of a phase.

    after        the stages that must have succeeded
    mapped_over  the stage whose batches this one is run for, one by one; stages mapped over the
                 same stage follow each other batch by batch, not stage by stage
    told         what its step is told of the options of a run, by the names that `RunOptions` has for them
    """

    name: str
    step: Callable[..., Step]
    after: tuple[str, ...] = ()
    mapped_over: str | None = None
    runs_on: RunsOn = RunsOn.TASK
    effects: frozenset[Effect] = frozenset()
    told: tuple[str, ...] = ()


Planned = Mapping[str, Any]
"""What the result of a planning step says besides its batches."""


def already(planned: Planned) -> str | None:
    """Say that there is no dump to hand over, because all is done."""
    return planned.get("already")


def _nothing_remains(planned: Planned) -> str | None:
    return None if planned.get("remaining") else "this pass held all there was to copy"


class OnlyFor(Enum):
    """Which policies have a hand-over that not all have."""

    BRINGING_DATA = "those that copy data of external tables"
    BOUNDED_PASSES = "those whose passes may leave something for another one"


@dataclass(frozen=True)
class HandOver:
    """What a run starts when its stage `after` is through: a run of `phase` for the dump that `dump_of` wrote.

    only_for  the policies that have it, None: all
    on        what the result of `after` has to say of what follows
    why_not   says why there is nothing to hand over, None when there is, by what `dump_of` said
    """

    name: str
    phase: str
    after: str
    dump_of: str
    only_for: OnlyFor | None = None
    on: Then = Then.GO_ON
    why_not: Callable[[Planned], str | None] = already

    def is_for(self, *, brings_data: bool, bounds_passes: bool) -> bool:
        """True for a policy that has it: one that copies data of external tables, one whose passes are bounded."""
        match self.only_for:
            case None:
                return True
            case OnlyFor.BRINGING_DATA:
                return brings_data
            case OnlyFor.BOUNDED_PASSES:
                return bounds_passes
            case _:
                assert_never(self.only_for)


_COPIES = frozenset({Effect.COPIES})
_PUBLISHES = frozenset({Effect.PUBLISHES})

LIST_OBJECTS: Parts[ListStage, ObjectsListed] = Parts(
    ListStage,
    (
        list_objects.refuse_taken_over,
        list_objects.stop_when_published,
        list_objects.write_new_dump,
        list_objects.remove_older_dumps,
        list_objects.say_what_is_listed,
    ),
)
"""What the task `list_objects` does, part by part."""

BOOTSTRAP: tuple[Stage, ...] = (
    Stage("preflight", Preflight, told=("again",)),
    Stage("list_objects", LIST_OBJECTS, after=("preflight",)),
    Stage("list_files", ListFiles, after=("list_objects",), mapped_over="list_objects"),
    Stage("copy", CopyBatch, after=("list_files",), mapped_over="list_objects", runs_on=RunsOn.SPARK, effects=_COPIES),
)
"""Copy while the source goes on; consolidate takes over from there."""

ROUND: Parts[RoundStage, Folded] = Parts(
    RoundStage,
    (
        one_round.stop_when_published,
        one_round.fold_log,
        one_round.remove_older_dumps,
        one_round.copy_small_batches,
    ),
)
"""What the task `round` does, part by part."""

LOAD: Parts[LoadStage, Loaded] = Parts(
    LoadStage,
    (
        load.refuse_taken_over,
        load.take_lease,
        load.stop_when_published,
        load.open_replica,
        load.place_files,
        load.register_tables,
        load.add_constraints,
        load.register_external_tables,
        load.add_foreign_keys,
        load.register_views,
        load.register_functions,
        load.publish,
        load.clean_staging,
    ),
)
"""What the task `load` does, part by part, and so does a REPL LOAD of a whole database."""

CONSOLIDATE: tuple[Stage, ...] = (
    Stage("round", ROUND),
    Stage("copy", CopyBatch, after=("round",), mapped_over="round", runs_on=RunsOn.SPARK, effects=_COPIES),
    Stage("gate", Gate, after=("copy",)),
    Stage("load", LOAD, after=("gate",), effects=_PUBLISHES),
)
"""One round: fold what happened meanwhile into the dump, copy what is new; then load, or another round."""

WINDOW: Parts[WindowStage, WindowCut] = Parts(
    WindowStage,
    (
        window.stop_when_paused,
        window.save_events_while_loading,
        window.remove_answered_requests,
        window.take_up_window,
        plan_window.read_log,
        plan_window.read_whole_tables,
        plan_window.freeze_requested_tables,
        plan_window.write_events,
        plan_window.list_window_files,
        plan_window.remove_old_windows,
        plan_window.publish_window,
        window.publish_waiting_tables,
        shown_set_parts.show_sets_between_windows,
        window.clean_up_between_windows,
        window.keep_for_salvage,
        window.copy_small_batches,
    ),
)
"""What the task `window` does, part by part; of a policy that is paused, or loaded, the first ones are the last."""

APPLY: Parts[ApplyStage, WindowApplied] = Parts(
    ApplyStage,
    (
        apply_stage.refuse_unpublished,
        apply_stage.take_lease,
        apply_stage.find_window,
        apply_stage.check_copied,
        apply_stage.keep_for_salvage,
        shown_set_parts.hide_sets_before_window,
        apply_stage.open_replica,
        apply_stage.drop_excluded_tables,
        apply_stage.record_skipped_events,
        apply_stage.apply_events,
        apply_stage.replace_whole_tables,
        apply_stage.finish_window,
        apply_stage.publish_waiting_tables,
        shown_set_parts.show_sets_after_window,
        apply_stage.clean_staging,
    ),
)
"""What the task `apply` does, part by part, and so does a REPL LOAD of events."""

INCREMENTAL: tuple[Stage, ...] = (
    Stage("window", WINDOW, effects=frozenset({Effect.PUBLISHES_WAITING})),
    Stage("copy", CopyBatch, after=("window",), mapped_over="window", runs_on=RunsOn.SPARK, effects=_COPIES),
    Stage("apply", APPLY, after=("copy",), effects=_PUBLISHES),
)
"""Cut a window of the log, copy its files, apply its events."""

SCAN: tuple[Stage, ...] = (Stage("scan", Scan, told=("deep",)),)
"""Look for writes that left no event; sweep what nobody uses."""

VERIFY: tuple[Stage, ...] = (
    Stage("verify", Verify, told=("deep",)),
    Stage("look_again", LookAgain, after=("verify",), effects=frozenset({Effect.VERIFIES})),
)
"""Compare both sides at a common event; what differs is looked at again before it is called a finding."""

EXTERNAL: tuple[Stage, ...] = (
    Stage("check_base", CheckBase),
    Stage("list_external", ListExternal, after=("check_base",)),
    Stage(
        "sync",
        SyncExternal,
        after=("list_external",),
        mapped_over="list_external",
        effects=frozenset({Effect.COPIES, Effect.BRINGS_DATA}),
        told=("execute",),
    ),
)
"""One pass over the external tables: bring their data, of which no event tells, beside the lane of events.

A copy decides for itself whether it is worth a Spark job: what it has to move is known only when both sides are listed.
"""

PHASES: Mapping[str, tuple[Stage, ...]] = {
    "bootstrap": BOOTSTRAP,
    "consolidate": CONSOLIDATE,
    "incremental": INCREMENTAL,
    "scan": SCAN,
    "verify": VERIFY,
    "external": EXTERNAL,
}


COPIES: tuple[Stage, ...] = (
    Stage("list_copies", ListCopies),
    Stage(
        "copy", CopyObjects, after=("list_copies",), mapped_over="list_copies", runs_on=RunsOn.SPARK, effects=_COPIES
    ),
    Stage("publish", PublishCopies, after=("copy",)),
)
"""Bring the copies of a placement up to date: stale marks go first, what is missing is copied, marks come last."""

PLACEMENT_PHASES: Mapping[str, tuple[Stage, ...]] = {"copies": COPIES}
"""What placements have instead of the phases of a policy."""


HAND_OVERS: Mapping[str, tuple[HandOver, ...]] = {
    "bootstrap": (
        HandOver("external", "external", after="list_objects", dump_of="list_objects", only_for=OnlyFor.BRINGING_DATA),
        HandOver("consolidate", "consolidate", after="copy", dump_of="list_objects"),
    ),
    "consolidate": (HandOver("next_round", "consolidate", after="gate", dump_of="round", on=Then.AGAIN),),
    "external": (
        HandOver("next_pass", "external", "sync", "list_external", OnlyFor.BOUNDED_PASSES, why_not=_nothing_remains),
    ),
}
"""How phases follow each other: in Airflow each is a run of its own; in one process they come one after the other."""


def hand_overs(phase: str) -> tuple[HandOver, ...]:
    """Return what runs of a phase start."""
    return HAND_OVERS.get(phase, ())


def phases_before(phase: str) -> tuple[str, ...]:
    """Return the other phases whose runs start runs of this one: what they have made it goes on with."""
    starting = (other for other in HAND_OVERS if any(one.phase == phase for one in hand_overs(other)))
    return tuple(other for other in starting if other != phase)


def stages_of(phase: str) -> tuple[Stage, ...]:
    """Return the stages of a phase, of policies or of placements; none for what is no phase."""
    return PHASES.get(phase) or PLACEMENT_PHASES.get(phase, ())


def stage_of(phase: str, name: str) -> Stage:
    """Return a stage by its name."""
    return next(stage for stage in stages_of(phase) if stage.name == name)
