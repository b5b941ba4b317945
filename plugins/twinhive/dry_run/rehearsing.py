"""Hold one rehearsal: whose phase it is, the ports that pretend, and what the steps say meanwhile."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from twinhive.bootstrap.round import is_uncopied
from twinhive.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.dry_run.pretended_files import PretendedFiles
from twinhive.dump.batch_records import NOTHING_LISTED, listed_batch
from twinhive.dump.store import Dump
from twinhive.model.batches import Batch
from twinhive.model.files import is_below
from twinhive.model.policy import Policy
from twinhive.ports import WritePorts
from twinhive.step.base import Report, Work

_MOST_LINES = 50
_NEVER = -1


@dataclass(frozen=True)
class Rehearsing:
    """A rehearsal of `phase`; `again` and `deep` are what the trigger form says."""

    phase: str
    ports: WritePorts
    policy: Policy
    report: Report
    again: bool = False
    deep: bool = False
    said: list[str] = field(default_factory=list)

    def work(self, batch: str = "", dump: str = "", policy: Policy | None = None) -> Work:
        """Return what a step works on; its lines are kept for the plan."""
        return Work(policy or self.policy, batch, dump, {"run": "dry run"}, self._say)

    def _say(self, line: str) -> None:
        self.report(line)
        self.said.append(line)

    def removed_below(self, directory: str) -> list[str]:
        """Return what of a directory the steps have removed so far: it would be gone."""
        sides = (cast(PretendedFiles, files) for files in (self.ports.replica_files, self.ports.dump_files))
        return sorted({path for files in sides for path in files.deleted if is_below(path, directory)})

    @property
    def copying_nothing(self) -> Policy:
        """The policy with which planning steps leave all copies, also little ones, to tasks after them."""
        options = replace(self.policy.options, spark_above_files=_NEVER)
        return replace(self.policy, options=options)

    def plan(self, *, sections: Iterable[PlanSection] = (), **fields: Any) -> PhasePlan:
        """Return the plan, with the sections that come to something and what was said."""
        more = len(self.said) - _MOST_LINES
        reports = (*self.said[:_MOST_LINES], *([f"and {more:,} lines more"] if more > 0 else []))
        told = tuple(section for section in sections if section.count)
        return PhasePlan(self.policy.name, self.phase, sections=told, reports=reports, **fields)

    def copies(self, dump: Dump, batches: Iterable[Batch]) -> PlanSection:
        """Return what of a dump's batches is to be copied still."""
        ports, policy = self.ports, self.policy
        waiting = [batch for batch in batches if is_uncopied(ports, policy, dump, batch)]
        sizes = [listed_batch(ports.dump_files, dump.layout, batch.name) or NOTHING_LISTED for batch in waiting]
        return PlanSection.of(
            "copy",
            "batches",
            (batch.label for batch in waiting),
            files=sum(size.files for size in sizes),
            length=sum(size.bytes for size in sizes),
        )
