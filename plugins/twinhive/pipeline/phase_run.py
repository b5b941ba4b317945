"""Run all stages of a phase one after the other in this process."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from twinhive.bootstrap.preflight import Preflight
from twinhive.external.sync_external import Execution, SyncExternal
from twinhive.model.policy import Policy
from twinhive.pipeline.phases import BOOTSTRAP, CONSOLIDATE, EXTERNAL, PHASES, Stage
from twinhive.ports import WritePorts
from twinhive.scan.scan import Scan
from twinhive.step.base import Work

Report = Callable[[str], None]
Watch = Callable[[str, Sequence[Any]], Iterable[Any]]
"""Is given a stage and its batches, and hands the batches out one by one: whoever counts them sees how far it is."""


def unwatched(stage: str, batches: Sequence[Any]) -> Iterable[Any]:
    """Hand batches out to nobody who counts."""
    return batches


def run_phase(
    stages: tuple[Stage, ...],
    policy: Policy,
    ports: WritePorts,
    holder: dict[str, str],
    report: Report,
    earlier: Mapping[str, Any] = MappingProxyType({}),
    watch: Watch = unwatched,
) -> dict[str, Any]:
    """Run the stages in order, mapped ones batch by batch; return the results of the unmapped ones.

    `earlier` are results of stages that ran before and are not among `stages`. An idle stage ends the run; so does a
    gate that asks for another round.
    """
    results: dict[str, Any] = dict(earlier)
    for number, stage in enumerate(stages, start=1):
        report(f"step {number}/{len(stages)}: {stage.name}")
        if stage.mapped_over is None:
            result = stage.step(Work(policy, holder=holder, report=report)).run(ports)
            results[stage.name] = result
            if getattr(result, "idle", False) or getattr(result, "another_round", False):
                break
            continue
        planned = results[stage.mapped_over]
        for batch in watch(stage.name, planned.batches):
            report(f"{stage.name} {batch.label}")
            stage.step(Work(policy, batch.name, planned.dump, holder, report)).run(ports)
    return results


def run_bootstrap(
    policy: Policy,
    ports: WritePorts,
    holder: dict[str, str],
    report: Report,
    *,
    again: bool = False,
    watch: Watch = unwatched,
) -> dict[str, Any]:
    """Run the bootstrap, bring the data of external tables, then consolidate until the replica is published.

    With `again` a published replica is built anew.
    """
    earlier: dict[str, Any] = {}
    stages = BOOTSTRAP
    if again:
        first, *others = BOOTSTRAP
        report(f"{first.name}, to build the replica anew")
        earlier = {first.name: Preflight(Work(policy, holder=holder, report=report), again=True).run(ports)}
        stages = tuple(others)
    results = run_phase(stages, policy, ports, holder, report, earlier, watch)
    if policy.external.brings_data:
        results |= run_passes(policy, ports, holder, report, watch)
    return results | run_rounds(policy, ports, holder, report, watch)


def run_rounds(
    policy: Policy, ports: WritePorts, holder: dict[str, str], report: Report, watch: Watch = unwatched
) -> dict[str, Any]:
    """Run rounds of consolidating until the replica is published."""
    while True:
        results = run_phase(CONSOLIDATE, policy, ports, holder, report, watch=watch)
        if not results["gate"].another_round:
            return results


def run_passes(
    policy: Policy,
    ports: WritePorts,
    holder: dict[str, str],
    report: Report,
    watch: Watch = unwatched,
    execute: Execution | None = None,
) -> dict[str, Any]:
    """Run passes over the external tables until each of them has been looked at.

    `execute` says where their plans are carried out; None: in this process.
    """
    stages = EXTERNAL
    if execute is not None:
        sync = partial(SyncExternal, execute=execute)
        stages = tuple(replace(stage, step=sync) if stage.step is SyncExternal else stage for stage in EXTERNAL)
    while True:
        results = run_phase(stages, policy, ports, holder, report, watch=watch)
        if not results["list_external"].remaining:
            return results


def run_whole(
    phase: str,
    policy: Policy,
    ports: WritePorts,
    holder: dict[str, str],
    report: Report,
    watch: Watch = unwatched,
    *,
    again: bool = False,
    deep: bool = False,
) -> dict[str, Any]:
    """Run a phase with all that follows from it in Airflow, in this process.

    A bootstrap goes on until the replica is published, with `again` of a published one too; incremental applies one
    window; external looks at every external table once; a scan that is `deep` compares every file.
    """
    stages = PHASES[phase]
    if stages is BOOTSTRAP:
        return run_bootstrap(policy, ports, holder, report, again=again, watch=watch)
    if stages is CONSOLIDATE:
        return run_rounds(policy, ports, holder, report, watch)
    if stages is EXTERNAL:
        return run_passes(policy, ports, holder, report, watch)
    if deep:
        stages = tuple(replace(stage, step=partial(Scan, deep=True)) for stage in stages)
    return run_phase(stages, policy, ports, holder, report, watch=watch)
