"""Run a case: both sides in turn, as often as asked, each copy checked, then the floor."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.copy.cases import Case
from benchmarks.copy.figures import Figures, measure, middle
from benchmarks.copy.floor import Floor
from benchmarks.copy.sides import Side, Stage
from benchmarks.copy.snapshots import remove_all, remove_tree
from benchmarks.copy.workloads import change, check_copy, written

_FLOOR = "/bench/copies/floor"


@dataclass(frozen=True)
class Result:
    """The medians of a case: of each side by its name, and of the floor by what it leaves out."""

    case: Case
    sides: dict[str, Figures]
    floors: dict[str, Figures]


def run_case(case: Case, stage: Stage, sides: Sequence[Side], runs: int) -> Result:
    """Measure a case. The source's files stay, and so do copies that are only brought up to date."""
    # Of an earlier run; what they hold would count as the source's files.
    remove_all(stage.source, case.workload.path)
    written(case.workload, stage.source)
    if case.is_update:
        _prepare(case, stage, sides)
    taken: dict[str, list[Figures]] = {side.name: [] for side in sides}
    for number in range(runs):
        if case.changes:
            change(case.workload, stage.source, case.changes, f"{time.time()}")
        # Turn about, as the second finds the caches and the servers warm.
        for side in sides if number % 2 == 0 else reversed(sides):
            taken[side.name].append(_update(case, side) if case.is_update else _copy(case, side))
    floors = _floors(case, stage, sides)
    return Result(case, {name: middle(figures) for name, figures in taken.items()}, floors)


def _prepare(case: Case, stage: Stage, sides: Sequence[Side]) -> None:
    """Make each side's copy equal to the source, in the way that it is then kept equal."""
    for side in sides:
        remove_all(stage.target, side.target(case))
        side.update(case)
        side.after_copy(case)


def _copy(case: Case, side: Side) -> Figures:
    target = side.target(case)
    remove_tree(side.stage.target, target)
    figures = measure(side.stage.box, lambda: side.copy(case))
    check_copy(case.workload, side.stage.target, target)
    remove_tree(side.stage.target, target)
    return figures


def _update(case: Case, side: Side) -> Figures:
    side.before_update(case)
    figures = measure(side.stage.box, lambda: side.update(case))
    side.after_copy(case)
    check_copy(case.workload, side.stage.target, side.target(case))
    return figures


def _floors(case: Case, stage: Stage, sides: Sequence[Side]) -> dict[str, Figures]:
    floor = Floor(stage)
    if case.is_update:
        return {"listing alone": floor.listing_alone(case.workload, sides[0].target(case))}
    remove_tree(stage.target, _FLOOR)
    found = {
        "calls alone": floor.calls_alone(case.workload, f"{_FLOOR}/calls"),
        "bytes alone": floor.bytes_alone(case.workload, f"{_FLOOR}/bytes"),
    }
    remove_tree(stage.target, _FLOOR)
    return found
