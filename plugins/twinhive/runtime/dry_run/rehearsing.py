"""One dry run under way: its phase, the ports that pretend, and what is known so far of what a run would do."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import cast

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import is_below
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text, render
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Report, Then, Work
from twinhive.replication.bootstrap.preflight import Checked
from twinhive.runtime.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.runtime.dry_run.pretended_files import PretendedFiles
from twinhive.runtime.pipeline.runner import RunOptions

_MOST_LINES = 50
_NEVER = -1


@dataclass(frozen=True)
class PlanEnded:
    """What is said of a stage after which there is nothing to do."""

    then: Then = Then.END


@dataclass
class PlanTotals:
    """What all stages together would bring over."""

    tables: int = 0
    partitions: int = 0
    files: int = 0
    bytes: int = 0
    events: int = 0


@dataclass
class Rehearsing:
    """A dry run of `phase`; what stages say of themselves is added to it.

    `measured` is what directories of the source hold whose files are not listed yet.
    """

    phase: str
    ports: WritePorts
    policy: Policy
    report: Report
    options: RunOptions
    said: list[str] = field(default_factory=list)
    sections: list[PlanSection] = field(default_factory=list)
    refusals: list[TwinhiveError] = field(default_factory=list)
    nothing: list[str] = field(default_factory=list)
    totals: PlanTotals = field(default_factory=PlanTotals)
    measured: Checked | None = None

    def work(self, batch: str = "", dump: str = "", policy: Policy | None = None) -> Work:
        """Return what a step works on; its lines are kept for the plan."""
        return Work(policy or self.policy, batch, dump, {"run": "dry run"}, self._say)

    def _say(self, line: Text) -> None:
        self.report(line)
        self.said.append(render(line))

    def ends(self, why: str | None = None) -> PlanEnded:
        """Say that a run would end here, and why it would do nothing; None where something else says it."""
        self.nothing.extend([why] if why else [])
        return PlanEnded()

    def copies(self, section: PlanSection) -> None:
        """Add what would be copied, also to the totals."""
        self.sections.append(section)
        self.totals.files += section.files
        self.totals.bytes += section.bytes

    def removed_below(self, directory: str) -> list[str]:
        """Return what of a directory the steps have removed so far: it would be gone."""
        sides = (cast(PretendedFiles, files) for files in (self.ports.replica_files, self.ports.dump_files))
        return sorted({path for files in sides for path in files.deleted if is_below(path, directory)})

    @property
    def copying_nothing(self) -> Policy:
        """The policy with which planning steps leave all copies, also little ones, to tasks after them."""
        options = replace(self.policy.options, spark_above_files=_NEVER)
        return replace(self.policy, options=options)

    def plan(self) -> PhasePlan:
        """Return the plan, with the sections that come to something and what was said."""
        more = len(self.said) - _MOST_LINES
        return PhasePlan(
            self.policy.name,
            self.phase,
            nothing=next(iter(self.nothing), None),
            sections=tuple(section for section in self.sections if section.count),
            refusals=tuple(self.refusals),
            reports=(*self.said[:_MOST_LINES], *([f"and {more:,} lines more"] if more > 0 else [])),
            **vars(self.totals),
        )

    def add(self, sections: Iterable[PlanSection]) -> None:
        """Add what would be done."""
        self.sections.extend(sections)
