"""Write the pipeline once: a phase is a literal tuple of stages.

The DAG factory and the command line both interpret these tuples, so a phase cannot be one thing
in Airflow and another in a terminal.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from twinhive.bootstrap.copy_batch import CopyBatch
from twinhive.bootstrap.gate import Gate
from twinhive.bootstrap.list_objects import ListObjects
from twinhive.bootstrap.load import Load
from twinhive.bootstrap.preflight import Preflight
from twinhive.bootstrap.round import Round
from twinhive.external.gate import CheckBase
from twinhive.external.pass_ import ListExternal
from twinhive.external.sync_external import SyncExternal
from twinhive.incremental.apply import Apply
from twinhive.incremental.window import Window
from twinhive.log.list_files import ListFiles
from twinhive.scan.scan import Scan
from twinhive.step.base import Work

Step = (
    Preflight
    | ListObjects
    | ListFiles
    | CopyBatch
    | Round
    | Gate
    | Load
    | Window
    | Apply
    | Scan
    | CheckBase
    | ListExternal
    | SyncExternal
)


class RunsOn(Enum):
    """Where a stage does its work."""

    TASK = "task"
    """In the Airflow task's own process."""
    SPARK = "spark"
    """As a Spark job that the task submits."""


@dataclass(frozen=True)
class Stage:
    """One stage of a phase.

    after        the stages that must have succeeded
    mapped_over  the stage whose batches this one is run for, one by one; stages mapped over the
                 same stage follow each other batch by batch, not stage by stage
    """

    name: str
    step: Callable[[Work], Step]
    after: tuple[str, ...] = ()
    mapped_over: str | None = None
    runs_on: RunsOn = RunsOn.TASK


Planned = Mapping[str, Any]
"""What the result of a planning step says besides its batches."""


def _already(planned: Planned) -> str | None:
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
    why_not   says why there is nothing to hand over, None when there is, by what `dump_of` said
    """

    name: str
    phase: str
    after: str
    dump_of: str
    only_for: OnlyFor | None = None
    why_not: Callable[[Planned], str | None] = _already


BOOTSTRAP: tuple[Stage, ...] = (
    Stage("preflight", Preflight),
    Stage("list_objects", ListObjects, after=("preflight",)),
    Stage("list_files", ListFiles, after=("list_objects",), mapped_over="list_objects"),
    Stage("copy", CopyBatch, after=("list_files",), mapped_over="list_objects", runs_on=RunsOn.SPARK),
)
"""Copy while the source goes on; consolidate takes over from there."""

CONSOLIDATE: tuple[Stage, ...] = (
    Stage("round", Round),
    Stage("copy", CopyBatch, after=("round",), mapped_over="round", runs_on=RunsOn.SPARK),
    Stage("gate", Gate, after=("copy",)),
    Stage("load", Load, after=("gate",)),
)
"""One round: fold what happened meanwhile into the dump, copy what is new; then load, or another round."""

INCREMENTAL: tuple[Stage, ...] = (
    Stage("window", Window),
    Stage("copy", CopyBatch, after=("window",), mapped_over="window", runs_on=RunsOn.SPARK),
    Stage("apply", Apply, after=("copy",)),
)
"""Cut a window of the log, copy its files, apply its events."""

SCAN: tuple[Stage, ...] = (Stage("scan", Scan),)
"""Look for writes that left no event; sweep what nobody uses."""

EXTERNAL: tuple[Stage, ...] = (
    Stage("check_base", CheckBase),
    Stage("list_external", ListExternal, after=("check_base",)),
    Stage("sync", SyncExternal, after=("list_external",), mapped_over="list_external"),
)
"""One pass over the external tables: bring their data, of which no event tells, beside the lane of events.

A copy decides for itself whether it is worth a Spark job: what it has to move is known only when both sides are listed.
"""

PHASES: Mapping[str, tuple[Stage, ...]] = {
    "bootstrap": BOOTSTRAP,
    "consolidate": CONSOLIDATE,
    "incremental": INCREMENTAL,
    "scan": SCAN,
    "external": EXTERNAL,
}


class Start(Enum):
    """What starts a run of a phase in Airflow."""

    PERSON = "a person, in the trigger form"
    RUN = "a run of another phase, or of the same"
    LOG = "news in the source's log, and a clock"
    DATA = "tables that wait for their data, and a clock"
    CLOCK = "a clock"


class RunOption(Enum):
    """What a run of some phase can be told, in the form and on the command line."""

    AGAIN = "again"
    """Build a published replica another time."""
    DEEP = "deep"
    """Compare every file."""


@dataclass(frozen=True)
class PhaseFacts:
    """What is to be known of a phase beside its stages."""

    start: Start
    option: RunOption | None = None
    copies: bool = True
    """Its runs copy files of tables, with as many threads as they are told."""


FACTS: Mapping[str, PhaseFacts] = {
    "bootstrap": PhaseFacts(Start.PERSON, RunOption.AGAIN),
    "consolidate": PhaseFacts(Start.RUN),
    "incremental": PhaseFacts(Start.LOG),
    "scan": PhaseFacts(Start.CLOCK, RunOption.DEEP, copies=False),
    "external": PhaseFacts(Start.DATA),
}
"""No other module tells phases apart by their names."""


def started_by(start: Start) -> str:
    """Return the phase that is started so."""
    return next(phase for phase, facts in FACTS.items() if facts.start is start)


def phase_of(option: RunOption) -> str:
    """Return the phase that has an option."""
    return next(phase for phase, facts in FACTS.items() if facts.option is option)


PUBLISHING = ("load", "apply")
"""The stages that bring the replica to another event."""

BRINGING_DATA = ("sync",)
"""The stages after which tables may have the data that they have waited for."""

HAND_OVERS: Mapping[str, tuple[HandOver, ...]] = {
    "bootstrap": (
        HandOver("external", "external", after="list_objects", dump_of="list_objects", only_for=OnlyFor.BRINGING_DATA),
        HandOver("consolidate", "consolidate", after="copy", dump_of="list_objects"),
    ),
    "consolidate": (HandOver("next_round", "consolidate", after="gate", dump_of="round"),),
    "external": (
        HandOver("next_pass", "external", "sync", "list_external", OnlyFor.BOUNDED_PASSES, why_not=_nothing_remains),
    ),
}
"""How phases follow each other in Airflow; in one process `phase_run` runs them in a loop."""


def stage_of(phase: str, name: str) -> Stage:
    """Return a stage by its name."""
    return next(stage for stage in PHASES[phase] if stage.name == name)
