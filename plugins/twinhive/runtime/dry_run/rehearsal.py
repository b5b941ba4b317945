"""Find out what a run of a phase would do, and change nothing: neither cluster, dump, staging, lease nor mark.

The stages of the pipeline are interpreted as in a run, with ports that only pretend to write. Of a stage that copies
or publishes it is read what it would do, from what the stages before it have made; `_DESCRIBED` names them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from twinhive.core.model.errors import ActNow, about
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Report
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.replication.bootstrap.gate import Gate
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.replication.external_tables.list_external import ListExternal
from twinhive.replication.external_tables.sync_external import SyncExternal
from twinhive.replication.notification_log.list_files import ListFiles
from twinhive.replication.scan.scan import Scan
from twinhive.replication.verify.recheck import LookAgain
from twinhive.replication.verify.verify import Verify
from twinhive.runtime.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.runtime.dry_run.pretended_ports import pretended
from twinhive.runtime.dry_run.rehearse_copies import list_copies, mark_copies
from twinhive.runtime.dry_run.rehearse_copy import describe_copy
from twinhive.runtime.dry_run.rehearse_dump import check_clusters, describe_load, fold_log, list_objects
from twinhive.runtime.dry_run.rehearse_external import compare_directories, list_external
from twinhive.runtime.dry_run.rehearse_scan import scan
from twinhive.runtime.dry_run.rehearse_verify import reads_only
from twinhive.runtime.dry_run.rehearse_window import apply_window, plan_window
from twinhive.runtime.dry_run.rehearsing import Rehearsing
from twinhive.runtime.pipeline.phases import (
    APPLY,
    LIST_OBJECTS,
    LOAD,
    PHASES,
    ROUND,
    WINDOW,
    Effect,
    Stage,
    hand_overs,
    stages_of,
)
from twinhive.runtime.pipeline.runner import RunOptions, interpret, step_of

__all__ = ["PhasePlan", "PlanSection", "rehearse"]

Describe = Callable[[Rehearsing, Any], Any]
"""Says what a stage would do, given the last result that was planned; returns what it hands on."""


def _left_to_the_run(rehearsing: Rehearsing, planned: Any) -> None:
    """Say nothing of what only a run can know, and what changes nothing."""


_DESCRIBED: Mapping[Any, Describe] = {
    Preflight: check_clusters,
    LIST_OBJECTS: list_objects,
    ListFiles: _left_to_the_run,
    CopyBatch: describe_copy,
    ROUND: fold_log,
    Gate: _left_to_the_run,
    LOAD: describe_load,
    WINDOW: plan_window,
    APPLY: apply_window,
    Scan: scan,
    ListExternal: list_external,
    SyncExternal: compare_directories,
    ListCopies: list_copies,
    CopyObjects: _left_to_the_run,
    PublishCopies: mark_copies,
    Verify: reads_only,
    LookAgain: _left_to_the_run,
}


def _silent(line: Text) -> None:
    """Report to nobody."""


def rehearse(
    phase: str, ports: WritePorts, policy: Policy, report: Report = _silent, *, again: bool = False, deep: bool = False
) -> PhasePlan:
    """Return what a run of `phase` would do now; `again` and `deep` are those of bootstrap and scan.

    What a person has to mend first is a refusal of the plan. Raises TryAgain when a server cannot be asked.
    `report` takes the lines of the steps while they come.
    """
    return rehearsed(Rehearsing(phase, pretended(ports), policy, report, RunOptions(again, deep)))


def rehearsed(rehearsing: Rehearsing) -> PhasePlan:
    """Interpret the stages of its phase, and return the plan."""

    def act(stage: Stage, results: Mapping[str, Any]) -> Any:
        describe = _DESCRIBED.get(stage.step)
        if describe is None:
            return step_of(stage, rehearsing.work(), rehearsing.options).run(rehearsing.ports)
        return describe(rehearsing, _last_planned(results))

    try:
        with about(rehearsing.policy.name):
            interpret([*stages_of(rehearsing.phase), *_publishing_after(rehearsing.phase)], act)
    except ActNow as error:
        rehearsing.refusals.append(error)
    return rehearsing.plan()


def _publishing_after(phase: str) -> Iterator[Stage]:
    """Yield the stages that publish what a run of the phase hands over: people want to see the end of it."""
    for hand_over in hand_overs(phase):
        if hand_over.phase != phase:
            yield from (stage for stage in PHASES[hand_over.phase] if Effect.PUBLISHES in stage.effects)


def _last_planned(results: Mapping[str, Any]) -> Any:
    """Return the last result that batches came of."""
    return next((one for one in reversed([*results.values()]) if hasattr(one, "batches")), None)
