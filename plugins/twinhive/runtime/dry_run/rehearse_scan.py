"""Rehearse a scan: look for writes without an event as it does, and bring nothing over."""

from dataclasses import replace
from typing import Final

from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.scan.scan import Scan
from twinhive.runtime.dry_run.phase_plan import PlanSection
from twinhive.runtime.dry_run.rehearsing import Rehearsing

_FOLLOW: Final = "follow"
_REPORT: Final = "report"


def scan(rehearsing: Rehearsing, _: object) -> object:
    """Let a scan that would bring differences over only report them; one that would fail at them fails."""
    options = rehearsing.policy.options
    follows = options.silent_writes == _FOLLOW
    looking = replace(options, silent_writes=_REPORT) if follows else options
    policy = replace(rehearsing.policy, options=looking)
    scanned = Scan(rehearsing.work(policy=policy), deep=rehearsing.options.deep).run(rehearsing.ports)
    if scanned.already:
        return rehearsing.ends(scanned.already)
    root = managed_root(rehearsing.ports.replica, policy)
    found = PlanSection.of(
        "copy" if follows else "report",
        "tables and partitions changed without an event",
        scanned.reported,
        files=scanned.files if follows else 0,
        length=scanned.bytes if follows else 0,
    )
    rehearsing.copies(found)
    rehearsing.add(
        [
            PlanSection.of("wait for", "tables and partitions that are being written", scanned.waiting),
            PlanSection.of("remove", "directories that nobody uses any more", rehearsing.removed_below(root)),
        ]
    )
    if not any(section.count for section in rehearsing.sections):
        rehearsing.nothing.append(f"{scanned.leaves:,} directories looked at, and nothing differs")
    return scanned
