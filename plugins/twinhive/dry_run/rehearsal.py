"""Find out what a run of a phase would do, and change nothing: neither cluster, dump, staging, lease nor mark.

The steps themselves decide, with ports that only pretend to write. What copies and publishes is not run: what it
would do is read from what the planning steps before it have made.
"""

from collections.abc import Callable, Mapping

from twinhive.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.dry_run.pretended_ports import pretended
from twinhive.dry_run.rehearse_dump import rehearse_bootstrap, rehearse_consolidate
from twinhive.dry_run.rehearse_external import rehearse_external
from twinhive.dry_run.rehearse_scan import rehearse_scan
from twinhive.dry_run.rehearse_window import rehearse_incremental
from twinhive.dry_run.rehearsing import Rehearsing
from twinhive.model.errors import ActNow
from twinhive.model.policy import Policy
from twinhive.ports import WritePorts
from twinhive.step.base import Report

__all__ = ["PhasePlan", "PlanSection", "rehearse"]

_PHASES: Mapping[str, Callable[[Rehearsing], PhasePlan]] = {
    "bootstrap": rehearse_bootstrap,
    "consolidate": rehearse_consolidate,
    "incremental": rehearse_incremental,
    "external": rehearse_external,
    "scan": rehearse_scan,
}


def _silent(line: str) -> None:
    """Report to nobody."""


def rehearse(
    phase: str, ports: WritePorts, policy: Policy, report: Report = _silent, *, again: bool = False, deep: bool = False
) -> PhasePlan:
    """Return what a run of `phase` would do now; `again` and `deep` are those of bootstrap and scan.

    What a person has to mend first is a refusal of the plan. Raises TryAgain when a server cannot be asked.
    `report` takes the lines of the steps while they come.
    """
    rehearsing = Rehearsing(phase, pretended(ports), policy, report, again=again, deep=deep)
    try:
        return _PHASES[phase](rehearsing)
    except ActNow as error:
        return rehearsing.plan(refusals=(error,))
