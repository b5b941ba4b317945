"""Run all stages of a phase one after the other in this process."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from twinhive.domain.policy import Policy
from twinhive.ports import WritePorts
from twinhive.steps.base import Work
from twinhive.steps.list_objects import ObjectsListed
from twinhive.steps.phases import Stage


def run_phase(
    stages: tuple[Stage, ...],
    policy: Policy,
    ports: WritePorts,
    holder: dict[str, str],
    report: Callable[[str], None],
    earlier: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Run the stages in order, mapped ones batch by batch; return the results of the unmapped ones.

    `earlier` are results of stages that ran before and are not among `stages`.
    """
    results: dict[str, Any] = dict(earlier)
    for number, stage in enumerate(stages, start=1):
        report(f"step {number}/{len(stages)}: {stage.name}")
        if stage.mapped_over is None:
            results[stage.name] = stage.step(Work(policy, holder=holder, report=report)).run(ports)
            continue
        listed = results[stage.mapped_over]
        assert isinstance(listed, ObjectsListed)
        for batch in listed.batches:
            report(f"{stage.name} {batch.label}")
            stage.step(Work(policy, batch.name, listed.dump, holder, report)).run(ports)
    return results
