"""Rehearse a scan: look for writes without an event as it does, and bring nothing over."""

from dataclasses import replace

from twinhive.apply.places import managed_root
from twinhive.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.dry_run.rehearsing import Rehearsing
from twinhive.scan.scan import Scan

_FOLLOW = "follow"
_REPORT = "report"


def rehearse_scan(rehearsing: Rehearsing) -> PhasePlan:
    """Let a scan that would bring differences over only report them; one that would fail at them fails."""
    options = rehearsing.policy.options
    follows = options.silent_writes == _FOLLOW
    looking = replace(options, silent_writes=_REPORT) if follows else options
    policy = replace(rehearsing.policy, options=looking)
    scanned = Scan(rehearsing.work(policy=policy), deep=rehearsing.deep).run(rehearsing.ports)
    if scanned.already:
        return rehearsing.plan(nothing=rehearsing.said[-1])
    root = managed_root(rehearsing.ports.replica, policy)
    found = PlanSection.of(
        "copy" if follows else "report",
        "tables and partitions changed without an event",
        scanned.reported,
        files=scanned.files if follows else 0,
        length=scanned.bytes if follows else 0,
    )
    waiting = PlanSection.of("wait for", "tables and partitions that are being written", scanned.waiting)
    swept = PlanSection.of("remove", "directories that nobody uses any more", rehearsing.removed_below(root))
    sections = [section for section in (found, waiting, swept) if section.count]
    nothing = None if sections else f"{scanned.leaves:,} directories looked at, and nothing differs"
    return rehearsing.plan(nothing=nothing, files=found.files, bytes=found.bytes, sections=sections)
