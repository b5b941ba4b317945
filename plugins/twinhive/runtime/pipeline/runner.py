"""Interpret the pipeline in this process: the stages of a phase one after the other, and the phases that follow."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from twinhive.core.model.errors import DumpReplaced, about
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Report, Then, Work
from twinhive.replication.dump.dump_store import planned_anew
from twinhive.replication.external_tables.sync_external import Execution, InThisProcess
from twinhive.runtime.pipeline.phases import HandOver, Stage, Step, already, hand_overs, stages_of

Watch = Callable[[str, Sequence[Any]], Iterable[Any]]
"""Is given a stage and its batches, and hands the batches out one by one: whoever counts them sees how far it is."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})
Act = Callable[[Stage, Mapping[str, Any]], Any]
"""Does what a stage says, with the results of the stages before it by their names."""


def unwatched(stage: str, batches: Sequence[Any]) -> Iterable[Any]:
    """Hand batches out to nobody who counts."""
    return batches


@dataclass(frozen=True)
class RunOptions:
    """What a run is told: `again` and `deep` are `RunOption`s, `execute` says where plans of copies are carried out."""

    again: bool = False
    deep: bool = False
    execute: Execution = field(default_factory=InThisProcess)


_USUAL = RunOptions()


def step_of(stage: Stage, work: Work, options: RunOptions) -> Step:
    """Return the step of a stage with what it works on, told what concerns it."""
    return stage.step(work, **{name: getattr(options, name) for name in stage.told})


def interpret(stages: Sequence[Stage], act: Act, earlier: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
    """Let every stage be acted in order, until a result says that it ends here; return the results by stage.

    `earlier` are results of stages that ran before and are not among `stages`.
    """
    results: dict[str, Any] = dict(earlier)
    for stage in stages:
        results[stage.name] = act(stage, results)
        if Then.of(results[stage.name]) is not Then.GO_ON:
            break
    return results


def run_phase(
    stages: tuple[Stage, ...],
    policy: Policy,
    ports: WritePorts,
    holder: dict[str, str],
    report: Report,
    earlier: Mapping[str, Any] = _NOTHING,
    watch: Watch = unwatched,
    options: RunOptions = _USUAL,
) -> dict[str, Any]:
    """Run the stages in order, mapped ones batch by batch; return the results of the unmapped ones."""
    numbers = {stage.name: number for number, stage in enumerate(stages, start=1)}

    def act(stage: Stage, results: Mapping[str, Any]) -> Any:
        report(f"step {numbers[stage.name]}/{len(stages)}: {stage.name}")
        if stage.mapped_over is None:
            return step_of(stage, Work(policy, holder=holder, report=report), options).run(ports)
        planned = results[stage.mapped_over]
        for batch in watch(stage.name, planned.batches):
            report(f"{stage.name} {batch.label}")
            step_of(stage, Work(policy, batch.name, planned.dump, holder, report), options).run(ports)
        return None

    with about(policy.name):
        try:
            results = interpret(stages, act, earlier)
        except DumpReplaced as error:
            raise planned_anew(policy, error) from error
    return {name: result for name, result in results.items() if result is not None}


def run_whole(
    phase: str,
    policy: Policy,
    ports: WritePorts,
    holder: dict[str, str],
    report: Report,
    watch: Watch = unwatched,
    **options: Any,
) -> dict[str, Any]:
    """Run a phase with all that follows from it in Airflow, in this process; return the last result of each stage.

    So a bootstrap brings the data of external tables and goes on until the replica is published, with `again` of a
    published one too; incremental applies one window; external looks at every external table once; a scan or a
    verification that is `deep` compares every file. `options` are those of `RunOptions`.
    """
    results: dict[str, Any] = {}
    waiting, said = [phase], RunOptions(**options)
    while waiting:
        phase = waiting.pop(0)
        found = run_phase(stages_of(phase), policy, ports, holder, report, watch=watch, options=said)
        results |= found
        waiting = [one.phase for one in hand_overs(phase) if _follows(one, policy, found)] + waiting
    return results


def _follows(hand_over: HandOver, policy: Policy, results: Mapping[str, Any]) -> bool:
    """True when a run that ended with these results starts another one.

    So it does also when all is done already: the last stage of the other one cleans up after a run that was killed.
    """
    bounds_passes = policy.options.approx_max_load_tasks is not None
    if not hand_over.is_for(brings_data=policy.external.brings_data, bounds_passes=bounds_passes):
        return False
    if Then.of(results.get(hand_over.after)) is not hand_over.on:
        return False
    return hand_over.why_not is already or hand_over.why_not(vars(results[hand_over.dump_of])) is None


def run_windows(policy: Policy, ports: WritePorts, holder: dict[str, str], report: Report) -> None:
    """Apply windows until nothing is left to do."""
    while not run_whole("incremental", policy, ports, holder, report)["window"].idle:
        pass


run_bootstrap = partial(run_whole, "bootstrap")
run_rounds = partial(run_whole, "consolidate")
run_passes = partial(run_whole, "external")
