"""Write the pipeline once: a phase is a literal tuple of stages.

The DAG factory and the command line both interpret these tuples, so a phase cannot be one thing
in Airflow and another in a terminal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from twinhive.steps.apply import Apply
from twinhive.steps.copy_batch import CopyBatch
from twinhive.steps.gate import Gate
from twinhive.steps.list_files import ListFiles
from twinhive.steps.list_objects import ListObjects
from twinhive.steps.load import Load
from twinhive.steps.preflight import Preflight
from twinhive.steps.round import Round
from twinhive.steps.scan import Scan
from twinhive.steps.window import Window

Step = Preflight | ListObjects | ListFiles | CopyBatch | Round | Gate | Load | Window | Apply | Scan


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
    step: type[Step]
    after: tuple[str, ...] = ()
    mapped_over: str | None = None
    runs_on: RunsOn = RunsOn.TASK


@dataclass(frozen=True)
class HandOver:
    """What a run starts when its stage `after` is through: a run of `phase` for the dump that `dump_of` wrote.

    With `another_round_only` it does so only if the stage asks for another round, and the stages after
    that one are passed over then.
    """

    name: str
    phase: str
    after: str
    dump_of: str
    another_round_only: bool = False


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

PHASES: Mapping[str, tuple[Stage, ...]] = {
    "bootstrap": BOOTSTRAP,
    "consolidate": CONSOLIDATE,
    "incremental": INCREMENTAL,
    "scan": SCAN,
}

PUBLISHING = ("load", "apply")
"""The stages that bring the replica to another event."""

HAND_OVERS: Mapping[str, HandOver] = {
    "bootstrap": HandOver("consolidate", "consolidate", after="copy", dump_of="list_objects"),
    "consolidate": HandOver("next_round", "consolidate", after="gate", dump_of="round", another_round_only=True),
}
"""How phases follow each other in Airflow; in one process `phase_run` runs them in a loop."""


def stage_of(phase: str, name: str) -> Stage:
    """Return a stage by its name."""
    return next(stage for stage in PHASES[phase] if stage.name == name)
